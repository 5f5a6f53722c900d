// The view "Train": the list of the day, problems on the board, answers judged by the engine.

import { Board } from "./board.js";
import { download, fileField, h, onKeys, setAddress, toast, toBase64, TwoClicks } from "./dom.js";
import * as handoff from "./handoff.js";
import * as i18n from "./i18n.js";
import { recall, store } from "./memory.js";
import * as socket from "./socket.js";
import { button, html, iconButton, nothing, render } from "./template.js";
import { menuView } from "./train-menu.js";
import { TrainState } from "./train-state.js";
import { Storm } from "./train-storm.js";
import { dayView, resultView, stormView, taskView } from "./train-view.js";

const MOST_BYTES = 1 << 20; // As Base64 it fits into a message (MOST_BYTES in socket.js).
const BEST = "goryu.storm"; // The highest score.
const TICK_MS = 250;
const { t } = i18n;

let view = null;

export function mount(section) {
  view = new TrainView(section);
}

/** argument: the number of a problem; without one that on the board stays. */
export function show(argument = "") {
  view.wantedId = Number(argument) || null;
  if (view.hasBegun) view.arrive(); // Else the view does so as soon as there is a connection.
}

class TrainView {
  constructor(section) {
    this.section = section;
    this.state = null; // Of the server: counts, the day, the settings.
    this.train = new TrainState();
    this.storm = /** @type {Storm | null} */ (null);
    this.message = null; // Returns the line below the board.
    this.changing = null; // The newest change of the settings that is on its way.
    this.wantedId = /** @type {number | null} */ (null); // The problem that the address names.
    this.removing = new TwoClicks(() => this.draw());
    this.hasBegun = false; // Has the state been asked for once?
    this.isUnsure = false; // Was a reply lost, so that the server may be further than the page?
    this.boardPlace = h("div");
    this.file = fileField({ accept: ".json" }, ([file]) => this.openFile(file));
    this.root = h("div", { class: "columns" }, this.boardPlace);
    section.append(this.root);
    this.board = new Board(this.boardPlace, { onMove: (move) => this.onMove(move) });
    this.drawBoard(false);
    i18n.onChange(() => this.draw());
    const step = (by) => () => this.step(by);
    onKeys(document, () => (section.hidden || !this.train.line ? {} : { ArrowLeft: step(-1), ArrowRight: step(1) }));
    setInterval(() => this.storm && !this.storm.isOver && this.tick(), TICK_MS);
    socket.on("train.changed", () => this.refreshSoon());
    socket.onConnected((isNew) => this.arrive(isNew).finally(() => (this.hasBegun = true)));
  }

  /** Shows the problem that the address names, or else the server's. isNew: has it forgotten the page's? */
  async arrive(isNew = false) {
    await this.refresh();
    const { problem } = this.train;
    if (this.wantedId && this.wantedId !== problem?.id) this.storm = null;
    const id = this.wantedId ?? (isNew ? problem?.id : null);
    this.wantedId = null; // The address counts once.
    const isKnown = this.hasBegun && !isNew && !this.isUnsure;
    let wanted = isKnown ? problem : await socket.request("train.problem");
    this.isUnsure = false;
    if (id && wanted?.id !== id) wanted = await this.open(id);
    if (wanted && (wanted !== problem || !this.hasBegun)) this.shows(wanted);
    else this.setAddress();
  }

  /** Opens a problem; if there is none of this number, the address gets that of the problem on the board. */
  async open(id) {
    try {
      return await socket.request("train.open", { problem: id });
    } catch (error) {
      this.setAddress();
      throw error;
    }
  }

  setAddress(isAnother = false) {
    const { problem } = this.train;
    setAddress(this.section, problem ? `#train/${problem.id}` : "#train", isAnother);
  }

  // The state.

  async refresh() {
    this.takeState(await socket.request("train.state"));
  }

  /** Reads the state again, not more often than a person can see. */
  refreshSoon() {
    this.due ??= setTimeout(async () => {
      this.due = null;
      if (!this.section.hidden) this.takeState(await socket.request("train.summary"));
    }, 500);
  }

  takeState(state) {
    // While changes are on their way, what the user has chosen counts.
    this.state = this.changing ? { ...state, settings: this.state.settings } : state;
    this.draw();
  }

  async change(changes) {
    const asked = (this.changing = {});
    this.state.settings = { ...this.state.settings, ...changes };
    this.draw();
    let state = null; // Stays null if the change is refused; then the page asks what is kept.
    try {
      state = await socket.request("train.change", { changes });
    } finally {
      if (this.changing === asked) {
        this.changing = null;
        this.takeState(state ?? (await socket.request("train.state")));
      }
    }
  }

  // Problems.

  /** Asks for what changes the problem at the server. */
  async ask(type, content = {}) {
    try {
      return await socket.request(type, content);
    } catch (error) {
      this.isUnsure ||= error instanceof socket.ConnectionLost && !error.isUnsent;
      throw error;
    }
  }

  async start(wanted, skips = false) {
    this.wanted = wanted;
    const problem = await this.ask("train.next", { ...wanted, skips });
    const isAnother = wanted.mode !== "storm"; // Those of a storm would fill the history.
    if (problem) return this.shows(problem, isAnother);
    this.begin(null, isAnother);
    await this.refresh();
    if (wanted.mode === "free") toast(t("train.none"));
    return this.drawAll();
  }

  /** The next problem; one that has not been answered comes again after the others. */
  next() {
    if (this.isStorming) return this.stormOn(false);
    const { mode = "today", kind = undefined, length = undefined } = this.train.problem ?? {};
    const wanted = this.wanted ?? { mode, kind, length };
    return this.start(wanted.mode === "storm" ? { ...wanted, mode: "free" } : wanted, !this.train.isAnswered);
  }

  // Three minutes of mate problems.

  get isStorming() {
    return this.storm !== null && !this.storm.isOver;
  }

  storms() {
    this.storm = new Storm(performance.now(), this.state.tsume);
    return this.start({ mode: "storm", kind: "tsume", length: this.storm.length });
  }

  /** Counts the answer and shows the next problem. */
  async stormOn(isRight) {
    this.storm.count(isRight);
    await this.start({ mode: "storm", kind: "tsume", length: this.storm.length });
    this.message = () => t(isRight ? "train.storm.right" : "train.storm.wrong");
    this.draw();
  }

  tick() {
    if (!this.storm.tick(performance.now())) return this.draw();
    store(BEST, String(Math.max(this.best, this.storm.right)));
    return this.drawAll(); // The board has moved.
  }

  get best() {
    return Number(recall(BEST));
  }

  stopStorm() {
    this.storm = null;
    this.drawAll();
  }

  begin(problem, isAnother = false) {
    this.message = null;
    this.train.begin(problem);
    this.setAddress(isAnother);
  }

  /** isAnother: has the user asked for another problem? */
  shows(problem, isAnother = false) {
    this.begin(problem, isAnother);
    this.board.setOrientation(problem.turn ? "white" : "black");
    this.drawBoard(false);
    this.draw();
    if (!problem.reply) socket.request("train.prepare");
    if (this.root.getBoundingClientRect().top < 0) this.root.scrollIntoView(); // A phone, scrolled to the result.
  }

  async onMove(move) {
    const { train } = this;
    const { problem } = train;
    train.play(move);
    this.message = () => t("train.judging");
    this.drawAll();
    let answer = null;
    try {
      answer = await this.ask("train.answer", { move });
    } finally {
      if (train.problem === problem && train.isJudging) {
        this.message = null;
        train.judge(answer, move);
        this.drawAll();
        if (this.isStorming && answer && !train.isGoingOn) this.stormOn(answer.isRight);
      }
    }
  }

  async retry() {
    if (this.train.told) return this.shows(await socket.request("train.problem", { isAgain: true }));
    this.message = null;
    this.train.retry();
    return this.drawAll();
  }

  async solve() {
    const told = await this.ask("train.solution");
    this.message = null;
    this.train.tell(told);
    this.drawAll();
  }

  /** Plays on after a right answer: the opponent has replied. */
  async goOn() {
    const position = await this.ask("train.idea");
    this.train.clear();
    this.train.place(position);
    this.message = () => t("train.idea.begun", { move: position.reply[i18n.current()][0] });
    this.drawAll();
  }

  async hint() {
    const { from, to } = await socket.request("train.hint");
    const squares = {};
    if (from[1] !== "*") squares[from] = 0.5;
    if (to) squares[to] = 1;
    this.train.heat = squares;
    const piece = () => t(`train.piece.${from[0]}`);
    this.message = () => (from[1] === "*" ? t(to ? "train.hint.drop.to" : "train.hint.drop", { piece: piece(), square: squareName(to) }) : t(to ? "train.hint.to" : "train.hint.from"));
    this.drawAll();
  }

  playLine(sfen, usi, depth) {
    this.train.playLine(sfen, usi, depth);
    this.drawAll();
  }

  step(by) {
    this.train.step(by);
    this.drawAll();
  }

  // Other views and files.

  review() {
    const { game, ply } = this.train.problem;
    location.hash = `#review/${game}/${ply}`;
  }

  playOn() {
    const { start, moves, turn } = this.train.problem;
    handoff.playFrom({ sfen: start, moves, side: turn ? "second" : "first" });
  }

  /** Removes the problem for ever at the second click. */
  async remove() {
    if (!this.removing.click(this.train.problem.id)) return;
    await socket.request("train.remove");
    history.replaceState(null, "", "#train"); // "Back" does not return to it.
    toast(t("train.removed"));
    await this.next();
  }

  async openFile(file) {
    if (file.size > MOST_BYTES) return toast(t("train.too.large", { name: file.name }), "error");
    const content = toBase64(new Uint8Array(await file.arrayBuffer()));
    const { added, known, faults } = await socket.request("train.import", { name: file.name, content });
    toast(t("train.imported", { added, known }));
    if (faults.length) toast(faults.slice(0, 5).join("\n"), "error");
    return this.refresh();
  }

  async save() {
    const { name, content, count } = await socket.request("train.export");
    if (count) download(name, content, "application/json");
    else toast(t("train.nothing.to.save"));
  }

  // Drawing.

  drawAll() {
    this.drawBoard();
    this.draw();
  }

  /** animate: do the pieces move to their places? */
  drawBoard(animate = true) {
    const { board, arrows, heat } = this.train;
    this.board.set({ ...board, animate });
    this.board.arrows(arrows);
    this.board.heat(heat, "var(--good)");
  }

  draw() {
    if (!this.state) return;
    this.root.classList.toggle("idle", !this.train.problem);
    render(this.view(), this.root);
  }

  view() {
    const { state, train } = this;
    return html`<div class="stage">
        ${this.storm ? stormView(this.storm, performance.now(), this.best, this) : nothing}
        <div class="task" aria-live="polite">${taskView(train.problem)}</div>
        ${this.boardPlace}
        <div class="row controls">
          <span class="steps" ?hidden=${!train.line?.usi.length}>${iconButton("train.back", "‹", () => this.step(-1))}${iconButton("train.forward", "›", () => this.step(1))}</span>
          ${button("train.hint", () => this.hint(), { isHidden: !train.isOpen || this.isStorming })} ${button("train.solution", () => this.solve(), { isHidden: !train.isOpen || this.isStorming })}
          ${button(train.isAnswered ? "train.next" : "train.skip", () => this.next(), { isHidden: !train.isOpen })}
          ${iconButton("train.flip", "⇅", () => this.board.flip())}
        </div>
        <p class="note-line" aria-live="polite">${this.message?.()}</p>
      </div>
      <div class="side">
        ${this.isStorming ? nothing : resultView(train, this)} ${dayView(state, train.problem?.mode === "today", () => this.start({ mode: "today" }))} ${menuView(this)}
      </div>`;
  }
}

function squareName(square) {
  if (!square) return "";
  return i18n.current() === "ja" ? "１２３４５６７８９"[square[0] - 1] + "一二三四五六七八九"[square.charCodeAt(1) - 97] : square;
}
