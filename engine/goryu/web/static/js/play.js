// The view "Play": a game against an engine, or of two people at one screen.

import { Board } from "./board.js";
import { penButton } from "./drawing.js";
import { clearErrors, download, h, toast } from "./dom.js";
import { GridBoard } from "./grid-board.js";
import * as handoff from "./handoff.js";
import * as i18n from "./i18n.js";
import { LessonPanel } from "./play-lesson.js";
import { SetupForm } from "./play-setup.js";
import { afterMove } from "./sfen.js";
import { clack } from "./sound.js";
import * as socket from "./socket.js";

const { t } = i18n;

const SAVED = "goryu.play";
const START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
const REVERSI = ["play.black", "play.white"];
const DISCS = ["●", "○"];
const MARKS = { shogi: ["☗", "☖"], reversi: DISCS, reversi6: DISCS, reversi4: DISCS, tictactoe: ["×", "○"] };
const SIDES = { shogi: ["play.black", "play.white"], reversi: REVERSI, reversi6: REVERSI, reversi4: REVERSI, tictactoe: ["play.cross", "play.ring"] };

let view = null;

/** Builds the view. */
export function mount(section) {
  view = new PlayView(section);
}

/** Takes the position that another view hands over. */
export function show(argument) {
  const given = argument === "position" && handoff.takenPosition();
  if (given) view.give(given);
}

class PlayView {
  constructor(section) {
    this.state = null;
    this.options = null;
    this.board = null;
    this.given = null; // The position that another view has handed over, while the form is shown.
    this.at = null; // The move that is looked at; null: the current position.
    this.isFlipped = false;
    this.hasSound = localStorage.getItem("goryu.sound") === "on";
    this.notation = localStorage.getItem("goryu.notation");
    this.build(section);
    this.form = new SetupForm(this.setup, {
      onStart: (setup) => this.start(setup),
      onCancel: () => this.showSetup(false),
      onDrop: () => this.give(null),
    });
    socket.on("play.state", (message) => this.update(message.state));
    socket.on("play.problem", (message) => toast(message.text, "error"));
    socket.onConnected((isNew) => this.connect(isNew));
    socket.onState((isConnected) => !isConnected && this.keep());
    addEventListener("pagehide", () => this.keep());
    i18n.onChange(() => this.draw());
    setInterval(() => this.drawClocks(), 100);
    this.showSetup(true);
  }

  build(section) {
    this.bars = [h("div", { class: "player" }), h("div", { class: "player" })];
    this.table = h("div", { class: "play-board" });
    this.result = h("button", { type: "button", class: "result", hidden: true, on: { click: () => (this.result.hidden = true) } });
    const middle = h("div", { class: "play-middle" }, this.table, this.result);
    this.stage = h("div", { class: "stage with-players" }, this.bars[0], middle, this.bars[1]);
    this.setup = h("div", { class: "panel setup" });
    this.status = h("p", { class: "status", role: "status" });
    this.detail = h("p", { class: "muted small" });
    this.hints = h("ol", { class: "hints", hidden: true });
    this.buttons = {};
    const button = (name, call, attributes = {}) =>
      (this.buttons[name] = h("button", { type: "button", dataset: { i18n: `play.${name}` }, on: { click: call }, ...attributes }));
    const actions = h(
      "div",
      { class: "actions" },
      button("hint", () => this.hint()),
      button("again", () => this.send("play.again"), { class: "primary" }),
      button("undo", () => this.send("play.undo")),
      button("resign", () => this.resign()),
      button("declare", () => this.send("play.declare"), { class: "primary" }),
      button("flip", () => this.flip()),
      button("sound", () => this.toggleSound()),
      button("letters", () => this.toggleLetters()),
      (this.pen = penButton(() => this.board)),
    );
    this.moves = h("ol", { class: "moves" });
    this.select = h(
      "select",
      { class: "compact", "data-i18n-label": "play.notation", on: { change: () => this.chooseNotation() } },
      ["ja", "en", "name"].map((name) => h("option", { value: name, dataset: { i18n: `play.notation.${name}` } })),
    );
    this.input = h("input", { type: "text", autocomplete: "off", spellcheck: "false", maxlength: 40, "data-i18n-label": "play.write" });
    this.writing = h("form", { class: "write", on: { submit: (event) => this.write(event) } }, this.input, h("button", { dataset: { i18n: "play.write.go" } }));
    const saves = h(
      "div",
      { class: "row" },
      button("save.kif", () => this.save("kif")),
      button("save.csa", () => this.save("csa")),
      button("save.txt", () => this.save("txt")),
      button("review", () => this.review()),
    );
    this.lesson = new LessonPanel({
      onUndo: () => this.answer("play.undo"),
      onKeep: () => this.answer("play.keep"),
      onShow: () => this.look(this.state.moves.length),
      onLook: (ply) => this.look(ply),
      notation: () => this.notation ?? i18n.current(),
    });
    this.playing = h(
      "div",
      { class: "side-parts", hidden: true },
      this.lesson.element,
      h("div", { class: "panel" }, h("div", { class: "stack" }, h("div", {}, this.status, this.detail), actions, this.hints)),
      h(
        "div",
        { class: "panel" },
        h("div", { class: "head" }, h("h2", { dataset: { i18n: "play.moves" } }), this.select),
        this.moves,
        this.writing,
        saves,
      ),
      button("new", () => this.showSetup(true), { class: "wide" }),
    );
    section.append(h("div", { class: "columns" }, this.stage, h("div", { class: "side" }, this.setup, this.playing)));
    this.columns = section.firstChild;
    document.addEventListener("keydown", (event) => {
      if (!section.hidden) this.onKey(event);
    });
  }

  // Messages.

  async connect(isNew) {
    if (!this.options) {
      this.options = await socket.request("play.options");
      this.form.setOptions(this.options);
      this.draw();
    }
    socket.request("engines.list").then((engines) => this.form.setEngines(engines));
    const kept = isNew ? JSON.parse(sessionStorage.getItem(SAVED) ?? "null") : null;
    const failed = (error) => {
      if (!(error instanceof socket.ConnectionLost)) toast(error.message, "error"); // Such as an engine that is no longer there.
      return null;
    };
    const state = kept ? await socket.request("play.new", kept).catch(failed) : await socket.request("play.state");
    if (state) this.update(state);
  }

  async start(setup) {
    const state = await socket.request("play.new", setup).catch((error) => this.startAlone(setup, error));
    clearErrors();
    this.given = null;
    this.form.give(null);
    this.kept = { ...setup, side: state.people[0] ? (state.people[1] ? "both" : "first") : "second" };
    this.isFlipped = false;
    this.showSetup(false);
    this.update(state);
    if (matchMedia("(min-width: 901px)").matches) this.board.focus();
    else this.stage.scrollIntoView({ block: "start" });
  }

  /** Answers the question of a teaching game; on a phone the board comes back. */
  async answer(type) {
    await this.send(type);
    if (matchMedia("(max-width: 900px)").matches) this.stage.scrollIntoView({ block: "start" });
  }

  /** Begins from a position without the moves that led to it, such as those after a fourth repetition. */
  async startAlone(setup, error) {
    if (!setup.moves?.length || error instanceof socket.ConnectionLost) throw error;
    setup.sfen = this.given.position;
    setup.moves = [];
    const state = await socket.request("play.new", setup);
    toast(t("play.alone"));
    return state;
  }

  /** Offers a position for a new game (see `handoff.playFrom`); null: the usual start again. */
  give(given) {
    this.given = given;
    if (given) {
      given.position = given.moves.reduce(afterMove, given.sfen || START);
      given.side ??= given.position.split(" ")[1] === "w" ? "second" : "first";
    }
    this.form.give(given);
    this.showSetup(true);
    if (!given && !this.state) this.preview();
    this.draw();
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
      this.clearHints();
    }
    const ends = isOld && !before.over && state.over;
    this.state = state;
    if (ends) this.result.hidden = false;
    else if (!state.over) this.result.hidden = true;
    this.received = performance.now();
    if (!isOld && !before && !this.given) this.showSetup(false);
    this.keep();
    this.draw();
  }

  /** Keeps the game in the tab, so that it survives a restart of the server. */
  keep() {
    if (!this.state) return;
    this.kept ??= JSON.parse(sessionStorage.getItem(SAVED) ?? "null");
    if (!this.kept) return;
    const { moves, clock, over } = this.state;
    const { lesson } = this.state;
    const kept = { ...this.kept, over, moves: moves.map((move) => move.name), seconds: moves.map((move) => move.seconds) };
    if (clock) kept.clocks = [...moves.map((move) => move.left), this.clocksNow()];
    if (lesson) kept.lesson = { threshold: lesson.threshold, moves: lesson.moves, isDue: lesson.isJudging || Boolean(lesson.question) };
    sessionStorage.setItem(SAVED, JSON.stringify(kept));
  }

  // Actions.

  async hint() {
    const hasFocus = document.activeElement === this.buttons.hint; // A disabled button loses it.
    this.buttons.hint.disabled = true;
    try {
      const hints = await socket.request("play.hint", { number: this.state.number });
      this.showHints(hints);
    } finally {
      this.draw();
      if (hasFocus && document.activeElement === document.body) this.buttons.hint.focus();
    }
  }

  showHints(hints) {
    this.shownHints = hints;
    this.hints.hidden = hints.length === 0;
    this.hints.replaceChildren(
      h("li", { class: "muted small", text: t("play.hint.title") }),
      ...hints.map((hint) =>
        h("li", {}, h("b", { text: this.nameOf(hint) }), h("span", { class: "number muted", text: `${hint.rate.toFixed(0)} %` })),
      ),
    );
    if (this.state.game === "shogi") {
      const most = hints[0]?.share || 1;
      this.board.arrows(
        hints.map((hint, at) => ({
          move: hint.name,
          width: hint.share / most,
          color: at === 0 ? "var(--good)" : "var(--arrow)",
          label: `${Math.round(100 * hint.share)}%`,
        })),
      );
    } else {
      const heat = Object.fromEntries(hints.map((hint) => [hint.name, hint.share]));
      this.board.heat(heat);
      this.board.labels(Object.fromEntries(hints.map((hint) => [hint.name, `${Math.round(100 * hint.share)}%`])));
    }
  }

  clearHints() {
    this.shownHints = null;
    this.hints.hidden = true;
    if (!this.board) return;
    if (this.kind === "shogi") this.board.arrows([]);
    else {
      this.board.heat({});
      this.board.labels({});
    }
  }

  async resign() {
    const dialog = h("dialog", { class: "stack" }, h("p", { text: t("play.resign.sure") }));
    const answer = (value) => h("button", { type: "button", class: value ? "primary" : "", text: t(value ? "play.yes" : "play.no"), on: { click: () => dialog.close(value ? "yes" : "") } });
    dialog.append(h("div", { class: "row" }, answer(true), answer(false)));
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (dialog.returnValue === "yes") this.send("play.resign");
    });
    document.body.append(dialog);
    dialog.showModal();
  }

  write(event) {
    event.preventDefault();
    const text = this.input.value.trim();
    if (!text) return;
    this.send("play.write", { text }).then(
      () => (this.input.value = ""),
      (error) => !(error instanceof socket.ConnectionLost) && toast(error.message, "error"),
    );
  }

  async save(form) {
    const { name, text } = await socket.request("play.save", { number: this.state.number, form });
    download(name, text);
  }

  async review() {
    handoff.review(await socket.request("play.save", { number: this.state.number, form: "kif" }));
  }

  flip() {
    this.isFlipped = !this.isFlipped;
    this.draw();
  }

  toggleSound() {
    this.hasSound = !this.hasSound;
    localStorage.setItem("goryu.sound", this.hasSound ? "on" : "off");
    if (this.hasSound) clack();
    this.draw();
  }

  toggleLetters() {
    const isOn = document.documentElement.toggleAttribute("data-letters");
    localStorage.setItem("goryu.letters", isOn ? "on" : "off");
    this.draw();
  }

  chooseNotation() {
    this.notation = this.select.value;
    localStorage.setItem("goryu.notation", this.notation);
    this.draw();
  }

  onKey(event) {
    if (!this.state || event.target.closest("input, select, textarea, .square-board, .grid, form")) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    this.look((this.at ?? this.state.moves.length) + step);
  }

  /** Shows the position after this many moves. */
  look(ply) {
    const count = this.state.moves.length;
    if (ply < 0 || ply > count) return;
    this.at = ply === count ? null : ply;
    this.draw();
  }

  showSetup(isShown) {
    const hadGiven = !isShown && this.given;
    if (hadGiven) {
      this.given = null;
      this.form.give(null);
    }
    this.setup.hidden = !isShown;
    this.playing.hidden = isShown || !this.state;
    this.columns.classList.toggle("choosing", isShown);
    this.columns.lastChild.scrollTop = 0; // On a phone in landscape this part scrolls.
    this.form?.setCancel(Boolean(this.state));
    if (!this.state && this.board === null) this.preview();
    if (hadGiven) this.draw();
    if (isShown && this.state) this.setup.scrollIntoView({ block: "nearest" });
  }

  preview() {
    this.makeBoard("shogi");
    this.board.setOrientation("black");
    this.board.set({ sfen: START });
  }

  // Drawing.

  makeBoard(kind) {
    if (this.kind === kind) return;
    this.board?.destroy();
    this.kind = kind;
    const onMove = (move) => {
      if (this.at === null) this.send("play.move", { move: String(move) }).catch((error) => this.failed(error));
    };
    this.board = kind === "shogi" ? new Board(this.table, { onMove }) : new GridBoard(this.table, kind, { onMove });
    this.pen.setAttribute("aria-pressed", "false");
    this.stage.classList.toggle("square", kind !== "shogi");
  }

  failed(error) {
    if (!(error instanceof socket.ConnectionLost)) toast(error.message, "error");
  }

  bottom() {
    const { people } = this.state;
    const side = people[0] || !people[1] ? 0 : 1;
    return this.isFlipped ? 1 - side : side;
  }

  draw() {
    const { state } = this;
    const sound = this.buttons.sound;
    sound.textContent = t(this.hasSound ? "play.sound.on" : "play.sound.off");
    sound.dataset.i18n = this.hasSound ? "play.sound.on" : "play.sound.off";
    sound.setAttribute("aria-pressed", String(this.hasSound));
    const letters = this.buttons.letters;
    letters.title = t("play.letters.title");
    letters.setAttribute("aria-pressed", String(document.documentElement.hasAttribute("data-letters")));
    if (this.given) this.drawGiven();
    if (!state || this.given) return;
    letters.hidden = this.pen.hidden = state.game !== "shogi";
    this.makeBoard(state.game);
    this.lesson.draw(state);
    this.drawBoard();
    this.drawPlayers();
    this.drawStatus();
    this.drawMoves();
    this.drawButtons();
  }

  drawGiven() {
    const { position, moves, side } = this.given;
    this.makeBoard("shogi");
    this.clearHints();
    for (const bar of this.bars) bar.replaceChildren();
    this.board.setOrientation(side === "second" ? "white" : "black");
    this.board.set({ sfen: position, lastMove: moves.at(-1) ?? null });
  }

  drawBoard() {
    const { state, at } = this;
    const count = state.moves.length;
    const move = at === null ? state.moves[count - 1] : state.moves[at - 1];
    const position = at === null ? state.position : (move?.position ?? state.start);
    const legal = at === null ? state.legal : [];
    if (state.game === "shogi") {
      const side = this.bottom() === 0 ? "black" : "white";
      if (this.board.orientation !== side) this.board.setOrientation(side);
      const check = at === null ? state.check : Boolean(move?.check);
      const shown = at === null ? this.lesson.position() : null;
      if (shown || this.hasLessonArrows) this.board.arrows(shown?.arrows ?? []);
      this.hasLessonArrows = Boolean(shown);
      if (shown) this.board.set({ sfen: shown.sfen, lastMove: shown.lastMove });
      else this.board.set({ sfen: position, legal, lastMove: move?.name ?? null, check });
    } else {
      const last = move && Number(move.name) < position.length ? Number(move.name) : null;
      this.board.set({ cells: position, legal: legal.map(Number), last, line: at === null ? state.line : [] });
    }
  }

  drawPlayers() {
    const { state } = this;
    const bottom = this.bottom();
    [1 - bottom, bottom].forEach((side, at) => {
      const isPerson = state.people[side];
      const both = state.people[0] && state.people[1];
      const name = both ? t(SIDES[state.game][side]) : isPerson ? t("play.you") : this.opponentName();
      const isTurn = !state.over && state.turn === side;
      const bar = this.bars[at];
      bar.classList.toggle("turn", isTurn);
      const children = [
        name !== MARKS[state.game][side] && h("span", { class: `mark ${state.game.replace(/\d/, "")} side-${side}`, "aria-hidden": "true", text: MARKS[state.game][side] }),
        h("span", { class: "name", text: name }),
        !isPerson && h("span", { class: "dots", hidden: !isTurn || state.failed || this.lesson.isWaiting, title: t("play.thinking") }, h("i"), h("i"), h("i")),
      ];
      if (state.game.startsWith("reversi")) {
        const cells = this.at === null ? state.position : (state.moves[this.at - 1]?.position ?? state.start);
        children.push(h("span", { class: "discs number", text: [...cells].filter((cell) => cell === "XO"[side]).length }));
      }
      if (state.clock) children.push(h("time", { class: "clock number", dataset: { side } }));
      bar.replaceChildren(...children.filter(Boolean));
    });
    this.drawClocks();
  }

  opponentName() {
    const { opponent, game } = this.state;
    if (!this.options) return "Goryu";
    if (game !== "shogi") return this.form.agentName(opponent);
    return this.form.shogiName(opponent);
  }

  /** Returns the seconds of main time that both sides have left; in byoyomi they are negative. */
  clocksNow() {
    const { left, running } = this.state.clock;
    const passed = (performance.now() - this.received) / 1000;
    return left.map((seconds, side) => (side === running ? seconds - passed : seconds));
  }

  drawClocks() {
    const clock = this.state?.clock;
    if (!clock) return;
    const now = this.clocksNow();
    for (const element of this.stage.querySelectorAll(".clock")) {
      const side = Number(element.dataset.side);
      const left = now[side];
      const isByoyomi = left <= 0 && clock.byoyomi > 0;
      const seconds = Math.max(0, isByoyomi ? clock.byoyomi + left : left);
      const text = isByoyomi ? seconds.toFixed(0) : formatClock(seconds);
      if (element.textContent !== text) element.textContent = text;
      element.classList.toggle("short", clock.running === side && seconds < 10);
    }
  }

  drawStatus() {
    const { state } = this;
    const count = state.moves.length;
    this.status.classList.toggle("over", Boolean(state.over));
    this.detail.textContent = "";
    if (state.over) {
      this.status.textContent = this.verdict();
      this.detail.textContent = this.reason();
      this.result.replaceChildren(h("b", { text: this.verdict() }), h("span", { class: "muted", text: this.reason() }));
    } else if (state.people[state.turn]) {
      const both = state.people[0] && state.people[1];
      this.status.textContent = both ? t("play.turn.side", { side: t(SIDES[state.game][state.turn]) }) : t("play.turn.you");
      if (state.check) this.detail.textContent = t("play.check");
    } else {
      this.status.textContent = this.lesson.status() || t(state.failed ? "play.failed" : "play.turn.engine");
      if (state.failed) this.detail.textContent = t("play.failed.about");
    }
    if (this.at !== null) {
      this.detail.textContent = t("play.looking", { ply: this.at, count });
    }
  }

  verdict() {
    const { over, people, game } = this.state;
    if (over.winner === null) return t("play.draw");
    if (people[0] && people[1]) return t("play.wins", { side: t(SIDES[game][over.winner]) });
    return t(people[over.winner] ? "play.won" : "play.lost");
  }

  reason() {
    const { over, game, position } = this.state;
    if (over.ending) return t(`over.${over.ending}`);
    if (game === "shogi") return "";
    if (game === "tictactoe") return t(over.winner === null ? "over.full" : "over.line");
    const count = (letter) => [...position].filter((cell) => cell === letter).length;
    return t("over.discs", { first: count("X"), second: count("O") });
  }

  nameOf(move) {
    const notation = this.notation ?? i18n.current();
    return move[notation] ?? move.name;
  }

  drawMoves() {
    const { state } = this;
    this.select.value = this.notation ?? i18n.current();
    this.select.hidden = state.game !== "shogi";
    const current = this.at ?? state.moves.length;
    // Kept while nothing changes, so that the keyboard's focus stays on its move.
    const names = state.moves.map((move) => this.nameOf(move));
    const key = names.join(" ");
    if (key !== this.shownMoves) {
      this.shownMoves = key;
      this.moves.replaceChildren(...names.map((name, at) => this.moveItem(name, at + 1)));
    }
    [...this.moves.children].forEach((item, at) => {
      if (at + 1 === current) item.firstChild.setAttribute("aria-current", "true");
      else item.firstChild.removeAttribute("aria-current");
    });
    const shown = this.moves.querySelector("[aria-current]");
    if (shown) this.moves.scrollTop = shown.offsetTop - this.moves.offsetTop - this.moves.clientHeight / 2;
    this.input.placeholder = state.game === "shogi" ? t("play.write.example") : state.game.startsWith("reversi") ? "d3" : "b2";
  }

  moveItem(name, ply) {
    const parts = [h("span", { class: "ply", text: ply }), h("span", { text: name })];
    return h("li", {}, h("button", { type: "button", on: { click: () => this.look(ply) } }, parts));
  }

  drawButtons() {
    const { state, buttons } = this;
    const canMove = state.legal.length > 0;
    buttons.hint.disabled = !canMove || this.at !== null;
    buttons.undo.hidden = Boolean(state.lesson?.question); // The question has such a button.
    buttons.undo.disabled = !state.undoes;
    buttons.again.hidden = !state.failed;
    buttons.resign.disabled = !canMove;
    buttons.declare.hidden = !state.declares;
    buttons.flip.hidden = state.game !== "shogi";
    buttons["save.kif"].hidden = buttons["save.csa"].hidden = state.game !== "shogi";
    buttons["save.txt"].hidden = state.game === "shogi";
    buttons.review.hidden = state.game !== "shogi";
    buttons.review.disabled = state.moves.length === 0;
    for (const name of ["save.kif", "save.csa", "save.txt"]) buttons[name].disabled = state.moves.length === 0;
    this.writing.hidden = !canMove || this.at !== null;
  }
}

function formatClock(seconds) {
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
