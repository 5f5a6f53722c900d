// The view "Train": the list of the day, problems on the board, answers judged by the engine.

import { Board } from "./board.js";
import { download, h, redraw, toast, toBase64 } from "./dom.js";
import * as handoff from "./handoff.js";
import * as i18n from "./i18n.js";
import { lineButton, percent } from "./judgement.js";
import { afterMove } from "./sfen.js";
import * as socket from "./socket.js";
import { TrainMenu } from "./train-menu.js";

const EMPTY = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
const MOST_BYTES = 1 << 20;
const { t } = i18n;

let view = null;

export function mount(section) {
  view = new TrainView(section);
}

export function show() {
  if (view.hasBegun) view.refresh(); // Else the view reads it as soon as there is a connection.
}

class TrainView {
  constructor(section) {
    this.section = section;
    this.state = null;
    this.problem = null; // What the server says of the problem on the board.
    this.answer = null; // The result of the last answer.
    this.told = null; // What may be told: solutions, the move of the game, the last attempt.
    this.line = null; // {sfen, usi, depth}: moves that are stepped through on the board.
    this.isJudging = false;
    this.changing = null; // The newest change of the settings that is on its way.
    this.hasBegun = false; // Has the state been asked for once?
    this.build();
    i18n.onChange(() => this.draw());
    document.addEventListener("keydown", (event) => this.onKey(event));
    socket.on("train.changed", () => this.refreshSoon());
    socket.onConnected(async () => {
      await this.refresh().finally(() => (this.hasBegun = true));
      const problem = await socket.request("train.problem");
      if (problem) this.shows(problem);
      else this.draw();
    });
  }

  build() {
    const button = (key, call, className = "") =>
      h("button", { type: "button", class: className, on: { click: call }, dataset: { i18n: key } });
    const icon = (key, text, call) =>
      h("button", { type: "button", class: "quiet icon", on: { click: call }, dataset: { i18nLabel: key }, text });
    this.task = h("div", { class: "task", "aria-live": "polite" });
    const boardPlace = h("div");
    this.hintButton = button("train.hint", () => this.hint());
    this.solutionButton = button("train.solution", () => this.solve());
    this.steps = h("span", { class: "steps" }, icon("train.back", "‹", () => this.step(-1)), icon("train.forward", "›", () => this.step(1)));
    const controls = h("div", { class: "row controls" }, this.steps, this.hintButton, this.solutionButton, icon("train.flip", "⇅", () => this.board.flip()));
    this.note = h("p", { class: "note-line", "aria-live": "polite" });
    const stage = h("div", { class: "stage" }, this.task, boardPlace, controls, this.note);
    this.dayPanel = h("div", { class: "panel stack day" });
    this.result = h("div", { class: "panel stack train-result", "aria-live": "polite", hidden: true });
    this.menu = new TrainMenu({
      free: (kind, length) => this.start({ mode: "free", kind, length }),
      change: (changes) => this.change(changes),
      open: (file) => this.open(file),
      save: () => this.save(),
    });
    const side = h("div", { class: "side" }, this.result, this.dayPanel, ...this.menu.panels);
    this.root = h("div", { class: "columns" }, stage, side);
    this.section.append(this.root);
    this.board = new Board(boardPlace, { onMove: (move) => this.onMove(move) });
    this.board.set({ sfen: EMPTY, animate: false });
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
    this.drawDay();
    this.menu.draw(this.state);
  }

  async change(changes) {
    const asked = (this.changing = {});
    this.state.settings = { ...this.state.settings, ...changes };
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

  async start(wanted) {
    this.wanted = wanted;
    const problem = await socket.request("train.next", wanted);
    if (problem) return this.shows(problem);
    this.problem = null;
    this.clear();
    await this.refresh();
    if (wanted.mode === "free") toast(t("train.none"));
    return this.draw();
  }

  next() {
    return this.start(this.wanted ?? { mode: this.problem?.mode ?? "today", kind: this.problem?.kind, length: this.problem?.length });
  }

  clear() {
    this.answer = null;
    this.told = null;
    this.line = null;
    this.isJudging = false;
    this.message = null;
    this.board.arrows([]);
    this.board.heat({});
  }

  shows(problem) {
    this.problem = problem;
    this.clear();
    this.board.setOrientation(problem.turn ? "white" : "black");
    this.place(problem, false);
    this.draw();
    socket.request("train.prepare");
    if (this.root.getBoundingClientRect().top < 0) this.root.scrollIntoView(); // A phone, scrolled to the result.
  }

  /** Shows a position in which the user may answer. */
  place(position, animate = true) {
    this.position = position;
    this.board.set({ ...position, animate });
  }

  async onMove(move) {
    const problem = this.problem;
    const before = this.position;
    this.board.heat({});
    this.board.set({ sfen: afterMove(before.sfen, move), lastMove: move });
    this.isJudging = true;
    this.message = () => t("train.judging");
    this.draw();
    let answer = null;
    try {
      answer = await socket.request("train.answer", { move });
    } finally {
      if (this.problem === problem && this.isJudging) {
        this.isJudging = false;
        this.message = null;
        if (answer) this.takeAnswer(answer, move, before);
        else this.place(before);
        this.draw();
      }
    }
  }

  takeAnswer(answer, move, before) {
    this.answer = answer;
    if (isGoingOn(answer)) {
      this.place(answer); // The defender has answered; the mate goes on.
      return;
    }
    const sfen = afterMove(before.sfen, move);
    this.board.set({ sfen, lastMove: move });
    if (answer.isRight) this.told = answer;
    else this.punishes(sfen, answer.refutation.usi);
  }

  /** Lets the user step through the line that punishes a move, and draws its first move. */
  punishes(sfen, usi) {
    this.line = { sfen, usi, depth: 0 };
    this.board.arrows(usi.length ? [{ move: usi[0], width: 0.7, color: "var(--bad)" }] : []);
  }

  async retry() {
    if (this.told) return this.shows(await socket.request("train.problem"));
    this.clear();
    this.place(this.position);
    return this.draw();
  }

  async solve() {
    this.told = await socket.request("train.solution");
    const first = this.told.solutions[0]?.line;
    this.message = null;
    this.answer = null;
    if (first) this.playLine(this.problem.sfen, first.usi, 1);
    this.draw();
  }

  async hint() {
    const { from, to } = await socket.request("train.hint");
    const squares = {};
    if (from[1] !== "*") squares[from] = 0.5;
    if (to) squares[to] = 1;
    this.board.heat(squares, "var(--good)");
    const piece = () => t(`train.piece.${from[0]}`);
    this.message = () => (from[1] === "*" ? t(to ? "train.hint.drop.to" : "train.hint.drop", { piece: piece(), square: squareName(to) }) : t(to ? "train.hint.to" : "train.hint.from"));
    this.draw();
  }

  // Lines.

  playLine(sfen, usi, depth) {
    this.line = { sfen, usi, depth };
    this.drawLine();
    this.draw();
  }

  step(by) {
    if (!this.line) return;
    this.line.depth = Math.max(0, Math.min(this.line.usi.length, this.line.depth + by));
    this.drawLine();
    this.draw();
  }

  drawLine() {
    const { sfen, usi, depth } = this.line;
    const played = usi.slice(0, depth);
    this.board.heat({});
    this.board.set({ sfen: played.reduce(afterMove, sfen), lastMove: played.at(-1) ?? null });
    this.board.arrows([]);
  }

  onKey(event) {
    if (this.section.hidden || !this.line || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    this.step(by);
  }

  // Other views and files.

  async review() {
    const { game, ply, turn } = this.problem;
    handoff.review({ ...(await socket.request("games.record", { game })), ply, side: turn });
  }

  playOn() {
    const { start, moves, turn } = this.problem;
    handoff.playFrom({ sfen: start, moves, side: turn ? "second" : "first" });
  }

  async remove() {
    await socket.request("train.remove");
    toast(t("train.removed"));
    await this.next();
  }

  async open(file) {
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

  draw() {
    if (!this.state) return;
    this.root.classList.toggle("idle", !this.problem);
    this.drawTask();
    this.drawControls();
    this.drawResult();
    this.drawDay();
    i18n.translate(this.root);
  }

  drawTask() {
    const { problem } = this;
    if (!problem) {
      this.task.replaceChildren(h("h2", { text: t("train.welcome") }), h("p", { class: "muted small", text: t("train.about") }));
      return;
    }
    const names = problem.names?.some(Boolean) ? problem.names.map((name, side) => `${"▲△"[side]}${name || t(side ? "board.white" : "board.black")}`).join(" ") : "";
    const source = [problem.title, names, problem.date, problem.ply && problem.names && t("train.ply", { ply: problem.ply })];
    const task = t(`train.task.${problem.kind}`, { length: problem.length });
    const side = t(problem.turn ? "train.white" : "train.black");
    this.task.replaceChildren(h("h2", { text: `${task} ${side}` }), h("p", { class: "muted small", text: source.filter(Boolean).join("　") }));
  }

  drawControls() {
    const isOpen = Boolean(this.problem) && !this.isJudging && !this.told && (!this.answer || isGoingOn(this.answer));
    this.hintButton.hidden = !isOpen;
    this.solutionButton.hidden = !isOpen;
    this.steps.hidden = !this.line?.usi.length;
    this.note.textContent = this.message?.() ?? "";
  }

  drawResult() {
    const { answer, told, problem } = this;
    const isMateOn = answer && isGoingOn(answer);
    this.result.hidden = !problem || (!answer && !told);
    if (this.result.hidden) return;
    const parts = [];
    if (answer) parts.push(h("h2", { class: answer.isRight ? "right" : "wrong", text: this.verdict(answer) }));
    if (answer?.allowsMate && !answer.isRight) parts.push(h("p", { text: t("train.allows", { plies: answer.allowsMate }) }));
    if (answer && !answer.isRight && answer.refutation.usi.length) {
      parts.push(h("p", { text: t("train.refuted") }), this.lineOf(afterMove(this.position.sfen, answer.move.usi[0]), answer.refutation));
    }
    if (told) parts.push(...this.toldParts(told));
    if (!isMateOn) parts.push(this.resultButtons(answer, told));
    this.result.replaceChildren(...parts);
  }

  verdict(answer) {
    const move = answer.move[i18n.current()][0];
    if (this.problem.kind === "tsume") {
      if (!answer.isOver) return i18n.labelled(move, answer.text);
      return answer.plies > answer.shortest ? t("train.tsume.longer", { plies: answer.plies, shortest: answer.shortest }) : t("train.tsume.solved", { plies: answer.plies });
    }
    const loss = percent(answer.loss ?? 0);
    if (!answer.isRight) return t("train.wrong", { move, loss });
    if (answer.loss && answer.loss >= 0.01) return t(answer.isListed ? "train.right.listed" : "train.right.loss", { move, loss });
    return t("train.right", { move });
  }

  toldParts(told) {
    const parts = [];
    const { problem } = this;
    parts.push(h("h3", { text: t(told.solutions.length > 1 ? "train.answers" : "train.answer") }));
    for (const { line, winRate } of told.solutions) parts.push(this.lineOf(problem.sfen, line, winRate));
    if (told.played) parts.push(...this.playedParts(told.played));
    if (told.before) {
      const values = { date: new Date(told.before.at).toLocaleDateString(i18n.current()), move: told.before.move?.[i18n.current()][0] };
      const key = !told.before.move ? "train.before.none" : told.before.isRight ? "train.before.right" : "train.before.wrong";
      parts.push(h("p", { class: "small muted", text: t(key, values) }));
    }
    return parts;
  }

  playedParts(played) {
    const { problem } = this;
    const key = this.state.hasMe && problem.kind !== "imported" ? "train.played.me" : "train.played";
    const other = problem.names?.[1 - problem.turn] || t("train.somebody");
    const values = { move: played.move[i18n.current()][0], date: problem.date || t("train.some.day"), name: other };
    const sentences = [t(key, values)];
    if (played.isAnswer) sentences.push(t("train.played.right"));
    else if (played.loss !== null && played.loss !== undefined) sentences.push(t("train.played.loss", { loss: percent(played.loss) }));
    if (problem.allowsMate) sentences.push(t("train.allows", { plies: problem.allowsMate }));
    const parts = [h("p", { text: sentences.join(" ") })];
    if (!played.isAnswer && played.refutation.usi.length) {
      parts.push(this.lineOf(afterMove(problem.sfen, played.move.usi[0]), played.refutation));
    }
    return parts;
  }

  /** Returns a line whose moves are buttons that show the position on the board. */
  lineOf(sfen, line, winRate = null) {
    const isShown = this.line && this.line.sfen === sfen && this.line.usi.join() === line.usi.join();
    const moves = line[i18n.current()].map((name, i) => {
      const button = lineButton(name, () => this.playLine(sfen, line.usi, i + 1));
      if (isShown && this.line.depth === i + 1) button.setAttribute("aria-current", "true");
      return button;
    });
    const rate = winRate === null || winRate === undefined ? "" : h("span", { class: "muted number", text: ` ${t("train.rate", { percent: percent(winRate) })}` });
    return h("p", { class: "line" }, moves.flatMap((move) => [move, " "]), rate);
  }

  resultButtons(answer, told) {
    const button = (key, call, className = "") => h("button", { type: "button", class: className, on: { click: call }, dataset: { i18n: key } });
    const isSolved = answer?.isRight;
    const { problem } = this;
    return h(
      "div",
      { class: "row" },
      button("train.next", () => this.next(), "primary"),
      isSolved ? null : button("train.retry", () => this.retry()),
      !told ? button("train.solution", () => this.solve()) : null,
      told && (problem.game || problem.kind !== "tsume") ? button("train.play.on", () => this.playOn()) : null,
      problem.game && told ? button("train.open.game", () => this.review()) : null,
      button("train.remove", () => this.remove(), "quiet"),
    );
  }

  drawDay() {
    if (!this.state) return;
    const { day, settings, waiting } = this.state;
    const parts = [h("h2", { text: t("train.today") })];
    if (!settings.is_scheduled) {
      parts.push(h("p", { text: t("train.off") }));
    } else if (day.left) {
      const minutes = settings.unit === "minutes";
      const done = minutes ? Math.floor(day.seconds / 60) : day.done;
      const all = minutes ? settings.amount : day.done + day.left;
      parts.push(
        h("div", { class: "row" }, h("progress", { max: all, value: done, "aria-label": t("train.today") })),
        h("p", { class: "number", text: t(minutes ? "train.minutes" : "train.progress", { done, all, left: day.left, right: day.right }) }),
      );
      if (this.problem?.mode !== "today") {
        parts.push(h("button", { type: "button", class: "primary", on: { click: () => this.start({ mode: "today" }) }, text: t(day.done ? "train.continue" : "train.start") }));
      }
    } else if (day.done) {
      parts.push(h("p", { class: "done", text: t("train.done") }), h("p", { class: "number", text: t("train.done.count", { done: day.done, right: day.right }) }));
      parts.push(h("p", { class: "small muted", text: t("train.tomorrow", { count: day.tomorrow }) }));
    } else {
      parts.push(h("p", { text: t(waiting ? "train.empty.waiting" : "train.empty") }));
    }
    if (waiting) parts.push(h("p", { class: "small muted", text: t(this.state.isChecking ? "train.waiting" : "train.waiting.paused", { count: waiting }) }));
    if (this.state.failure) parts.push(h("p", { class: "small wrong", text: this.state.failure }));
    redraw(this.dayPanel, ...parts);
  }
}

/** Is this a right move of a mate that is not over? */
function isGoingOn(answer) {
  return answer.isRight && answer.isOver === false;
}

function squareName(square) {
  if (!square) return "";
  return i18n.current() === "ja" ? "１２３４５６７８９"[square[0] - 1] + "一二三四五六七八九"[square.charCodeAt(1) - 97] : square;
}
