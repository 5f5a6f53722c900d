// The view "Play": a game against an engine, of two people at one screen, or of two engines.

import { Board } from "./board.js";
import { penButton } from "./drawing.js";
import { centre, clearErrors, download, h, onKeys, reveal, toast } from "./dom.js";
import { GridBoard } from "./grid-board.js";
import * as handoff from "./handoff.js";
import * as i18n from "./i18n.js";
import { recall, recallJson, store } from "./memory.js";
import { LessonPanel } from "./play-lesson.js";
import { SetupForm } from "./play-setup.js";
import { anotherGame, bottomOf, clocksAfter, keptGame, shownAt } from "./play-state.js";
import { hintsView, movesView, playerView, reasonOf, statusOf, verdictOf } from "./play-view.js";
import { afterMove, START } from "./sfen.js";
import { clack } from "./sound.js";
import * as socket from "./socket.js";
import { button, compactSelect, html, iconButton, nothing, render } from "./template.js";

const { t } = i18n;

const SAVED = "goryu.play";
const TICK_MS = 100;
const SIDES = [["none", "second"], ["first", "both"]]; // Of the people: does one play Black, and does one play White?

let view = null;

/** Builds the view. */
export function mount(section) {
  view = new PlayView(section);
}

/** Takes the position that another view hands over. */
export function show(argument) {
  const given = argument === "position" && handoff.takenPosition();
  if (!given) return;
  history.replaceState(null, "", "#play"); // The next position comes by the same address.
  view.give(given);
}

class PlayView {
  constructor(section) {
    this.section = section;
    this.state = null;
    this.options = null;
    /** @type {any} */ // A Board or a GridBoard.
    this.board = null;
    this.given = null; // The position that another view has handed over, while the form is shown.
    this.at = null; // The move that is looked at; null: the current position.
    this.hints = null;
    this.isFlipped = this.isHinting = this.showsResult = false;
    this.showsSetup = true;
    this.chosenSide = /** @type {string | null} */ (null); // Perhaps "random".
    this.hasSound = recall("goryu.sound") === "on";
    this.notation = recall("goryu.notation");
    this.table = h("div", { class: "play-board" });
    this.columns = h("div", { class: "columns" }, this.table);
    this.bars = [h("div", { class: "player" }), h("div", { class: "player" })];
    this.pen = penButton(() => this.board);
    section.append(this.columns);
    this.form = new SetupForm(this);
    this.lesson = new LessonPanel(this);
    const step = (by) => () => this.look((this.at ?? this.state.moves.length) + by);
    onKeys(document, () => (section.hidden || !this.state ? {} : { ArrowLeft: step(-1), ArrowRight: step(1) }), ", .square-board, .grid, form");
    socket.on("play.state", (message) => this.update(message.state));
    socket.on("play.problem", (message) => toast(message.text, "error"));
    socket.onConnected((isNew) => this.connect(isNew));
    socket.onState((isConnected) => !isConnected && this.pause());
    addEventListener("pagehide", () => this.keep());
    i18n.onChange(() => this.draw());
    setInterval(() => this.state?.clock && this.drawPlayers(), TICK_MS);
    this.showSetup(true);
  }

  // Messages.

  async connect(isNew) {
    if (!this.options) {
      this.options = this.form.options = await socket.request("play.options");
      this.draw();
    }
    this.takeStrength("train.strength");
    socket.request("engines.list").then((engines) => {
      this.form.engines = engines;
      this.draw();
    });
    const kept = isNew ? recallJson(SAVED, true) : null; // Its engine may be no longer there.
    const state = kept ? await socket.request("play.new", kept).catch(complain) : await socket.request("play.state");
    if (state) this.update(state);
  }

  /** Asks how strong the user is, or says it; the form proposes a level for it. */
  async takeStrength(type, content = {}) {
    this.form.strength = await socket.request(type, content);
    this.draw();
  }

  /** Chooses the network of all searches; one that cannot be used is refused with a sentence. */
  async takeNetwork(name) {
    try {
      this.options = this.form.options = await socket.request("play.network", { name });
      toast(this.options.network[i18n.current()]);
    } finally {
      this.draw();
    }
  }

  async start(setup) {
    const state = await socket.request("play.new", setup).catch((error) => this.startAlone(setup, error));
    clearErrors();
    this.given = null;
    this.form.give(null);
    this.chosenSide = setup.side;
    this.kept = { ...setup, side: SIDES[Number(state.people[0])][Number(state.people[1])] };
    this.isFlipped = false;
    this.showSetup(false);
    this.update(state);
    if (matchMedia("(min-width: 901px)").matches) this.board.focus();
    reveal(this.columns.querySelector(".stage"), "start");
  }

  /** Answers the question of a teaching game; on a phone the board comes back. */
  async answer(type) {
    await this.send(type);
    reveal(this.columns.querySelector(".stage"), "start");
  }

  /** Begins another game like the one that is over. */
  async another() {
    this.showsResult = false;
    await this.start({ ...anotherGame(this.kept), side: this.chosenSide ?? this.kept.side });
  }

  /** Begins from a position without the moves that led to it, such as those after a fourth repetition. */
  async startAlone(setup, error) {
    if (!setup.moves?.length || error instanceof socket.ConnectionLost) throw error;
    setup.sfen = this.given.position;
    setup.moves = [];
    setup.before = 0;
    const state = await socket.request("play.new", setup);
    toast(t("play.alone"));
    return state;
  }

  /** Offers a position for a new game (see `handoff.playFrom`); null: the usual start again. */
  give(given) {
    this.given = given;
    this.hints = null;
    if (given) {
      given.position = given.moves.reduce(afterMove, given.sfen || START);
      given.side ??= given.position.split(" ")[1] === "w" ? "second" : "first";
    }
    this.form.give(given);
    this.showSetup(true);
  }

  /** Sends what the person did, and draws the state that results; after an error, the old one. */
  async send(type, content = {}) {
    try {
      this.update(await socket.request(type, { number: this.state.number, ...content }));
      clearErrors();
    } catch (error) {
      if (this.state) this.draw();
      throw error;
    }
  }

  update(state) {
    const before = this.state;
    const isOld = before?.number === state.number;
    if (isOld && state.moves.length > before.moves.length && this.hasSound) clack();
    if (!isOld || state.moves.length !== before.moves.length) {
      this.at = null;
      this.hints = null;
    }
    const ends = isOld && !before.over && state.over;
    if (isOld && state.kept !== before.kept && state.kept !== null) this.takeStrength("train.strength"); // The result counts.
    this.state = state;
    this.showsResult = Boolean(state.over) && (ends || this.showsResult);
    this.received = performance.now();
    const isAsking = this.lesson.take(state);
    if (!isOld && !before && !this.given) this.showSetup(false);
    this.keep();
    this.draw();
    if (isAsking) reveal(this.columns.querySelector(".lesson"));
  }

  /** Keeps the game in the tab, so that it survives a restart of the server. */
  keep() {
    if (!this.state) return;
    this.kept ??= recallJson(SAVED, true);
    if (!this.kept) return;
    const clocks = this.state.clock && this.clocksNow();
    store(SAVED, JSON.stringify(keptGame(this.kept, this.state, clocks)), true);
  }

  /** Stops the clocks while there is no connection: nobody can move then. */
  pause() {
    if (!this.state?.clock) return;
    this.state.clock = { ...this.state.clock, left: this.clocksNow(), running: null };
    this.keep();
    this.drawPlayers();
  }

  // Actions.

  async hint() {
    const hasFocus = document.activeElement?.matches(".hint-button"); // A disabled button loses it.
    this.isHinting = true;
    this.draw();
    try {
      this.hints = await socket.request("play.hint", { number: this.state.number });
    } finally {
      this.isHinting = false;
      this.draw();
      if (hasFocus && document.activeElement === document.body) this.columns.querySelector(".hint-button").focus();
    }
  }

  resign() {
    const dialog = this.columns.querySelector("dialog");
    dialog.returnValue = ""; // Escape leaves the answer as it is.
    dialog.showModal();
  }

  write(event) {
    event.preventDefault();
    const input = event.target.querySelector("input");
    const text = input.value.trim();
    if (!text) return;
    this.send("play.write", { text }).then(
      () => input.value.trim() === text && (input.value = ""), // The next move may be there already.
      complain,
    );
  }

  async save(form) {
    const { name, text } = await socket.request("play.save", { number: this.state.number, form });
    download(name, text);
  }

  /** Opens the review of the game: that of My games, or its record if it is not kept. */
  async review() {
    const { number, over } = this.state;
    const kept = over ? await socket.request("play.kept", { number }) : null;
    if (kept !== null) location.hash = `#review/${kept}`;
    else handoff.review(await socket.request("play.save", { number, form: "kif" }));
  }

  flip() {
    this.isFlipped = !this.isFlipped;
    this.draw();
  }

  toggleSound() {
    this.hasSound = !this.hasSound;
    store("goryu.sound", this.hasSound ? "on" : "off");
    if (this.hasSound) clack();
    this.draw();
  }

  toggleLetters() {
    const isOn = document.documentElement.toggleAttribute("data-letters");
    store("goryu.letters", isOn ? "on" : "off");
    this.draw();
  }

  chooseNotation(notation) {
    this.notation = notation;
    store("goryu.notation", this.notation);
    this.draw();
  }

  /** Shows the position after this many moves. */
  look(ply) {
    const count = this.state.moves.length;
    if (ply < 0 || ply > count) return;
    this.at = ply === count ? null : ply;
    this.draw();
  }

  showSetup(isShown) {
    if (!isShown) {
      this.given = null;
      this.form.give(null);
    }
    this.showsSetup = isShown;
    this.draw();
    this.columns.querySelector(".side").scrollTop = 0; // On a phone in landscape this part scrolls.
    if (isShown && this.state) this.columns.querySelector(".setup").scrollIntoView({ block: "nearest" });
  }

  // Drawing.

  makeBoard(kind) {
    if (this.kind === kind) return;
    this.board?.destroy();
    this.kind = kind;
    const onMove = (move) => {
      if (this.at === null) this.send("play.move", { move: String(move) }).catch(complain);
    };
    this.board = kind === "shogi" ? new Board(this.table, { onMove }) : new GridBoard(this.table, kind, { onMove });
    this.pen.setAttribute("aria-pressed", "false");
  }

  bottom() {
    return bottomOf(this.state, this.isFlipped);
  }

  /** The hints, if the board shows the position for which they are. */
  get hintsShown() {
    return this.at === null && !this.state.over ? this.hints : null;
  }

  /** Is a game on the board, and no position that another view has handed over? */
  get isPlaying() {
    return this.state !== null && !this.given;
  }

  draw() {
    this.makeBoard(this.isPlaying ? this.state.game : "shogi");
    this.pen.hidden = this.kind !== "shogi";
    render(this.view(), this.columns);
    this.columns.classList.toggle("choosing", this.showsSetup);
    this.drawPlayers();
    if (this.isPlaying) this.drawBoard();
    else this.drawGiven();
  }

  view() {
    const { state } = this;
    return html`<div class=${`stage with-players${this.kind === "shogi" ? "" : " square"}`}>
        ${this.bars[0]}<div class="play-middle">${this.table}${this.resultView()}</div>${this.bars[1]}
      </div>
      <div class="side">
        <div class="panel setup" ?hidden=${!this.showsSetup}>${this.form.view(state !== null)}</div>
        <div class="side-parts" ?hidden=${this.showsSetup || !state}>${state ? this.partsView(state) : nothing}</div>
      </div>`;
  }

  resultView() {
    const over = this.isPlaying && this.state.over;
    const close = () => {
      this.showsResult = false;
      this.draw();
    };
    if (!over || !this.showsResult) return nothing;
    const isReviewed = this.state.game === "shogi" && this.state.moves.length > 0;
    return html`<div class="result" role="group" aria-label=${verdictOf(this.state)}>
      ${iconButton("play.close", "×", close)}<b>${verdictOf(this.state)}</b><span class="muted">${reasonOf(this.state)}</span>
      <div class="row">
        ${button("play.review", () => this.review(), { className: "primary", isHidden: !isReviewed })} ${button("play.another", () => this.another(), { className: isReviewed ? "" : "primary" })}
      </div>
    </div>`;
  }

  partsView(state) {
    const { at, lesson } = this;
    const isShogi = state.game === "shogi";
    const canWrite = state.legal.length > 0 && at === null;
    const [status, detail] = statusOf(state, at, lesson.status());
    return html`${lesson.view()}
      <div class="panel">
        <div class="stack">
          <div><p class=${`status${state.over ? " over" : ""}`} role="status">${status}</p><p class="muted small">${detail}</p></div>
          ${this.actionsView(state, isShogi)} ${hintsView(this.hintsShown, (move) => this.nameOf(move))}
        </div>
      </div>
      <div class="panel">
        <div class="head"><h2>${t("play.moves")}</h2>${this.notationView(isShogi)}</div>
        ${movesView(state.moves.map((move) => this.nameOf(move)), at ?? state.moves.length, (ply) => this.look(ply))}
        <form class="write" ?hidden=${!canWrite} @submit=${(event) => this.write(event)}>
          <input type="text" autocomplete="off" spellcheck="false" maxlength="40" aria-label=${t("play.write")} title=${t("play.write")}
            placeholder=${isShogi ? t("play.write.example") : state.game.startsWith("reversi") ? "d3" : "b2"} /><button>${t("play.write.go")}</button>
        </form>
        ${this.savesView(state, isShogi)}
      </div>
      ${button("play.new", () => this.showSetup(true), { className: "wide" })} ${this.dialogView()}`;
  }

  actionsView(state, isShogi) {
    const canMove = state.legal.length > 0;
    const hasLetters = document.documentElement.hasAttribute("data-letters");
    const send = (type) => () => this.send(type);
    return html`<div class="actions">
      ${button("play.hint", () => this.hint(), { className: "hint-button", isDisabled: !canMove || this.at !== null || this.isHinting })}
      ${button("play.again", send("play.again"), { className: "primary", isHidden: !state.failed })}
      ${button("play.undo", send("play.undo"), { isHidden: Boolean(state.lesson?.question), isDisabled: !state.undoes /* The question has such a button. */ })}
      ${button("play.resign", () => this.resign(), { isDisabled: !canMove, isHidden: Boolean(state.rival) })}
      ${button(state.waits ? "play.go" : "play.wait", send(state.waits ? "play.again" : "play.wait"), { isHidden: !state.rival || state.over })}
      ${button("play.declare", send("play.declare"), { className: "primary", isHidden: !state.declares })}
      ${button("play.flip", () => this.flip(), { isHidden: !isShogi })}
      ${button(this.hasSound ? "play.sound.on" : "play.sound.off", () => this.toggleSound(), { pressed: this.hasSound })}
      ${button("play.letters", () => this.toggleLetters(), { title: t("play.letters.title"), pressed: hasLetters, isHidden: !isShogi })}${this.pen}
    </div>`;
  }

  savesView({ moves }, isShogi) {
    const isDisabled = moves.length === 0;
    const save = (form, isHidden) => button(`play.save.${form}`, () => this.save(form), { isHidden, isDisabled });
    return html`<div class="row">
      ${save("kif", !isShogi)} ${save("csa", !isShogi)} ${save("txt", isShogi)} ${button("play.review", () => this.review(), { isHidden: !isShogi, isDisabled })}
    </div>`;
  }

  notationView(isShogi) {
    const notations = ["ja", "en", "name"].map((name) => [name, t(`play.notation.${name}`)]);
    return compactSelect(t("play.notation"), notations, this.notationShown, (notation) => this.chooseNotation(notation), !isShogi);
  }

  dialogView() {
    const answer = (value) => (event) => event.target.closest("dialog").close(value);
    const ended = ({ target }) => target.returnValue === "yes" && this.send("play.resign");
    return html`<dialog @close=${ended}>
      <div class="stack">
        <p>${t("play.resign.sure")}</p>
        <div class="row">${button("play.yes", answer("yes"), { className: "primary" })}${button("play.no", answer(""))}</div>
      </div>
    </dialog>`;
  }

  drawPlayers() {
    const { state } = this;
    const bottom = this.isPlaying ? this.bottom() : 0;
    [1 - bottom, bottom].forEach((side, at) => {
      const isTurn = this.isPlaying && !state.over && state.turn === side;
      this.bars[at].classList.toggle("turn", isTurn);
      render(this.isPlaying ? this.playerView(side, isTurn) : nothing, this.bars[at]);
    });
  }

  playerView(side, isTurn) {
    const { state, lesson } = this;
    const clocks = state.clock && this.clocksNow();
    const isThinking = isTurn && !state.failed && !state.waits && !lesson.isWaiting;
    return playerView(state, side, { opponent: this.opponentName(side), cells: shownAt(state, this.at).position, clocks, isThinking });
  }

  drawGiven() {
    const { position = START, moves = [], side } = this.given ?? {};
    const bottom = side === "second" ? "white" : "black";
    if (this.board.orientation !== bottom) this.board.setOrientation(bottom);
    this.board.arrows([]);
    this.board.set({ sfen: position, lastMove: moves.at(-1) ?? null });
  }

  drawBoard() {
    const { state, at, board } = this;
    const { position, legal, move, check } = shownAt(state, at);
    const hints = this.hintsShown ?? [];
    if (state.game !== "shogi") {
      const last = move && Number(move.name) < position.length ? Number(move.name) : null;
      board.set({ cells: position, legal: legal.map(Number), last, line: at === null ? state.line : [] });
      board.heat(Object.fromEntries(hints.map((hint) => [hint.name, hint.share])));
      board.labels(Object.fromEntries(hints.map((hint) => [hint.name, `${Math.round(100 * hint.share)}%`])));
    } else {
      const side = this.bottom() === 0 ? "black" : "white";
      if (board.orientation !== side) board.setOrientation(side);
      const asked = at === null ? this.lesson.position() : null;
      board.arrows(asked ? asked.arrows : hintArrows(hints));
      board.set(asked ? { sfen: asked.sfen, lastMove: asked.lastMove } : { sfen: position, legal, lastMove: move?.name ?? null, check });
    }
    const list = this.columns.querySelector(".moves");
    const shown = list.querySelector("[aria-current]");
    if (shown) centre(list, shown);
  }

  opponentName(side) {
    const { opponent, rival, game } = this.state;
    const name = side === 1 && rival ? rival : opponent;
    if (!this.options) return "Goryu";
    return game === "shogi" ? this.form.shogiName(name) : this.form.agentName(name);
  }

  /** Returns the seconds of main time that both sides have left; in byoyomi they are negative. */
  clocksNow() {
    return clocksAfter(this.state.clock, (performance.now() - this.received) / 1000);
  }

  get notationShown() {
    return this.notation ?? i18n.current();
  }

  nameOf(move) {
    return move[this.notationShown] ?? move.name;
  }
}

/** Shows why a request has failed, unless the connection was lost, which the page shows by itself. */
function complain(error) {
  if (!(error instanceof socket.ConnectionLost)) toast(error.message, "error");
}

function hintArrows(hints) {
  const most = hints[0]?.share || 1;
  return hints.map((hint, at) => ({
    move: hint.name,
    width: hint.share / most,
    color: at === 0 ? "var(--good)" : "var(--arrow)",
    label: `${Math.round(100 * hint.share)}%`,
  }));
}
