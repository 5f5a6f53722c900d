// "Guess the move": the page hides how a game goes on, and the user finds the moves of one side or of both.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";
import { changeText, lineOf, percent } from "./judgement.js";

const { t } = i18n;
const MOST_POINTS = 3;
const SHOWN_MOVES = 8;
const KINDS = { right: "great", "as good": "good", worse: "mistake", skipped: "dubious" };

/** The mode. panel: the ReviewPanel. judge(index, move): returns a promise of the reply of "review.guess". */
export class Guess {
  constructor(panel, { judge, onBegin }) {
    this.panel = panel;
    this.judge = judge;
    this.onBegin = onBegin;
    this.side = "both";
    this.phase = "closed"; // "choosing", "asking", "judging", "answered" or "summary".
    this.results = [];
    this.element = h("div", { class: "panel stack guess", "aria-live": "polite", hidden: true });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target === document.body && !this.element.closest("section").hidden) this.next();
    });
    i18n.onChange(() => this.draw());
  }

  get game() {
    return this.panel.data.game;
  }

  /** Asks which side's moves are to be guessed. */
  open() {
    if (this.phase === "closed" || this.phase === "summary") this.set("choosing");
    reveal(this.element);
  }

  close() {
    this.panel.setGuess(null);
    this.set("closed");
  }

  /** Forgets everything: another game is shown. */
  reset() {
    this.results = [];
    if (this.panel.data) this.close();
    else this.set("closed");
  }

  begin() {
    const { panel } = this;
    const first = this.nextOf(panel.at);
    this.results = [];
    if (first >= this.game.moves.length) {
      this.set("summary");
      return;
    }
    if (panel.board.orientation !== (this.side === "1" ? "white" : "black")) panel.flip();
    this.onBegin();
    this.ask(first);
  }

  /** Returns the first position from `index` on in which the side is to move. */
  nextOf(index) {
    const { turn, moves } = this.game;
    let at = index;
    while (at < moves.length && this.side !== "both" && (turn + at) % 2 !== Number(this.side)) at += 1;
    return at;
  }

  ask(index) {
    this.index = index;
    this.result = null;
    this.set("asking");
    this.panel.setGuess(this, index);
    reveal(this.panel.board.root);
  }

  // What the panel asks.

  mayAnswer() {
    return this.phase === "asking";
  }

  arrows() {
    if (this.phase === "judging") return [{ move: this.answered, width: 0.4, color: "var(--arrow)" }];
    if (this.phase !== "answered") return [];
    const { guess, played, verdict } = this.result;
    const arrows = [{ move: played.name, width: 0.7, color: "var(--good)" }];
    if (guess && guess.name !== played.name) {
      const color = verdict === "worse" ? "var(--bad)" : "var(--arrow)";
      arrows.push({ move: guess.name, width: 0.4, color, label: verdict === "worse" ? `−${percent(guess.loss)} %` : "" });
    }
    return arrows;
  }

  async answer(move) {
    if (!this.mayAnswer()) return;
    const { index } = this;
    this.answered = move;
    this.set("judging");
    this.panel.drawPosition();
    const isCurrent = () => this.phase === "judging" && this.index === index;
    try {
      const result = await this.judge(index, move);
      if (!isCurrent()) return;
      if (result) this.enter(result);
      else this.ask(index);
    } catch (error) {
      if (isCurrent()) this.ask(index);
      throw error;
    }
  }

  skip() {
    const { usi, ja, en } = this.game.moves[this.index];
    this.enter({ verdict: "skipped", points: 0, guess: null, played: { name: usi, ja, en } });
  }

  enter(result) {
    this.result = result;
    this.results.push({ ...result, index: this.index });
    this.set("answered");
    this.panel.go(this.index);
    this.element.querySelector("button.primary").focus({ preventScroll: true });
    reveal(this.element);
  }

  /** Goes on to the next question, if this one has been answered. */
  next() {
    if (this.phase !== "answered") return;
    const next = this.nextOf(this.index + 1);
    if (next < this.game.moves.length) this.ask(next);
    else this.finish();
  }

  finish() {
    this.set("summary");
    this.panel.setGuess(null);
    this.panel.go(Math.min(this.index + 1, this.game.moves.length));
  }

  // Drawing.

  set(phase) {
    this.phase = phase;
    this.draw();
  }

  draw() {
    this.element.hidden = this.phase === "closed";
    const draw = { closed: () => [], choosing: () => this.drawChoice(), summary: () => this.drawSummary() };
    this.element.replaceChildren(...(draw[this.phase] ?? (() => this.drawQuestion()))().filter(Boolean));
  }

  button(key, call, isPrimary = false) {
    return h("button", { type: "button", class: isPrimary ? "primary" : null, text: t(key), on: { click: call } });
  }

  drawChoice() {
    const sides = ["0", "1", "both"].map((side) => {
      const input = h("input", { type: "radio", name: "guess-side", value: side, checked: this.side === side });
      input.addEventListener("change", () => (this.side = side));
      return h("label", {}, input, h("span", { text: t(`guess.side.${side}`) }));
    });
    return [
      h("h2", { text: t("guess.title") }),
      h("p", { class: "small muted", text: t("guess.about") }),
      h("fieldset", {}, h("legend", { text: t("guess.side") }), h("div", { class: "choice" }, sides)),
      h("div", { class: "row" }, this.button("guess.begin", () => this.begin(), true), this.button("guess.cancel", () => this.close())),
    ];
  }

  drawQuestion() {
    const number = this.index + 1;
    const side = (this.game.turn + this.index) % 2;
    const isAnswered = this.phase === "answered";
    const judging = this.phase === "judging" && h("p", { class: "muted", text: t("guess.judging") });
    return [
      h("h2", { text: t(`guess.ask.${side}`, { number }) }),
      this.phase === "asking" && h("p", { text: t("guess.how") }),
      judging,
      ...(isAnswered ? this.drawResult() : []),
      h(
        "div",
        { class: "row" },
        isAnswered ? this.button("guess.next", () => this.next(), true) : this.button("guess.skip", () => this.skip()),
        this.button("guess.stop", () => this.finish()),
      ),
      this.results.length > 0 && h("p", { class: "small number", text: this.pointsText() }),
      h("p", { class: "small muted", text: t("guess.key") }),
    ];
  }

  drawResult() {
    const { verdict, guess, played } = this.result;
    const name = (move) => move[i18n.current()];
    const title = t(`guess.${verdict}`, { loss: guess ? percent(guess.loss) : "" });
    const parts = [h("p", { class: "verdict", dataset: { kind: KINDS[verdict] }, text: title })];
    if (guess) parts.push(h("p", { text: `${t("guess.yours", { move: name(guess) })}　${changeText(guess)}` }));
    if (verdict !== "right") {
      const change = "winRate" in played ? `　${changeText(played)}` : "";
      parts.push(h("p", { text: `${t("guess.played", { move: name(played) })}${change}` }));
    }
    if (verdict === "worse") {
      const names = guess.refutation[i18n.current()].slice(0, SHOWN_MOVES);
      const line = joined(guess, guess.refutation);
      if (names.length) parts.push(lineOf("judgement.refutation", names, (depth) => this.panel.playLine(this.index, line, depth + 1)));
    }
    if (guess?.better.usi.length && verdict !== "right") {
      const names = guess.better[i18n.current()].slice(0, SHOWN_MOVES);
      parts.push(lineOf("judgement.better", names, (depth) => this.panel.playLine(this.index, guess.better, depth)));
    }
    return parts;
  }

  pointsText() {
    const points = this.results.reduce((sum, one) => sum + one.points, 0);
    return t("guess.points", { points, most: MOST_POINTS * this.results.length });
  }

  drawSummary() {
    const { results } = this;
    const count = (verdict) => results.filter((one) => one.verdict === verdict).length;
    const points = results.reduce((sum, one) => sum + one.points, 0);
    const most = MOST_POINTS * results.length;
    const losses = results.filter((one) => one.guess).map((one) => one.guess.loss);
    const mean = losses.reduce((sum, loss) => sum + loss, 0) / (losses.length || 1);
    const counts = { right: count("right"), good: count("as good"), worse: count("worse"), skipped: count("skipped") };
    const buttons = h("div", { class: "row" }, this.button("guess.close", () => this.close(), true), this.button("guess.again", () => this.set("choosing")));
    if (!results.length) return [h("h2", { text: t("guess.summary") }), h("p", { text: t(this.hasMoves() ? "guess.none" : "guess.no.moves") }), buttons];
    return [
      h("h2", { text: t("guess.summary") }),
      h("p", { class: "verdict", text: t("guess.share", { points, most, percent: percent(points / most) }) }),
      h("p", { text: t("guess.counts", counts) }),
      losses.length > 0 && h("p", { text: t("guess.loss", { loss: percent(mean, 1) }) }),
      h("ol", { class: "guesses" }, results.map((one) => this.summaryItem(one))),
      buttons,
    ];
  }

  hasMoves() {
    return this.nextOf(this.panel.at) < this.game.moves.length;
  }

  summaryItem({ index, verdict, guess, played }) {
    const language = i18n.current();
    const names = guess && guess.name !== played.name ? `${guess[language]} (${played[language]})` : played[language];
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "mistake", on: { click: () => this.panel.go(index + 1) } },
        h("span", { class: "count", text: index + 1 }),
        h("span", { class: "name", text: names }),
        h("span", { dataset: { kind: KINDS[verdict] }, text: t(`guess.${verdict}`, { loss: guess ? percent(guess.loss) : "" }) }),
      ),
    );
  }
}

/** Scrolls an element into view on narrow windows, where board and panels are below each other. */
function reveal(element) {
  if (matchMedia("(max-width: 900px)").matches) element.scrollIntoView({ block: "nearest" });
}

/** Returns a move and the line that follows it as one line. */
function joined(move, line) {
  return { usi: [move.name, ...line.usi], ja: [move.ja, ...line.ja], en: [move.en, ...line.en] };
}
