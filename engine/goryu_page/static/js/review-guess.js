// "Guess the move": the page hides how a game goes on, and the user finds the moves of one side or of both, or better
// moves than the mistakes.

import { reveal } from "./dom.js";
import * as i18n from "./i18n.js";
import { changeText, kindName, MISTAKES, percent } from "./judgement.js";
import { lineOf } from "./lines.js";
import * as socket from "./socket.js";
import { button, checkBox, choice, html, nothing } from "./template.js";

const { t } = i18n;
const MOST_POINTS = 3;
const SHOWN_MOVES = 8;
const PRIMARY = { className: "primary" };
const KINDS = { right: "great", "as good": "good", worse: "mistake", skipped: "dubious" };

/** The mode. review: the view "Review". */
export class Guess {
  constructor(review) {
    const { panel } = review;
    this.review = review;
    this.panel = panel;
    this.side = "both";
    this.ofMistakes = false; // Are only the mistakes asked for?
    this.isWaiting = false; // For the first mistake.
    this.phase = "closed"; // "choosing", "asking", "judging", "answered" or "summary".
    this.results = [];
    document.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target === document.body && !panel.section.hidden) this.next();
    });
  }

  get game() {
    return this.panel.state.game;
  }

  /** The panel on the page. */
  get element() {
    return this.panel.root.querySelector(".guess");
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
    this.ofMistakes = this.isWaiting = false;
    this.close();
  }

  begin() {
    const { panel } = this;
    const first = this.nextOf(this.ofMistakes ? 0 : panel.state.at);
    this.results = [];
    if (first >= this.game.moves.length) {
      this.set("summary");
      return;
    }
    if (panel.board.orientation !== (this.side === "1" ? "white" : "black")) panel.flip();
    // The judgement of the guesses needs the machine; mistakes need the review.
    if (!this.ofMistakes && this.review.isRunning) socket.request("review.stop");
    this.ask(first);
  }

  /** Asks for better moves than the mistakes of a side, 0 or 1, as soon as the first one is known. */
  walk(side) {
    this.reset();
    Object.assign(this, { side: String(side), ofMistakes: true, isWaiting: true });
    this.onChange();
  }

  /** Takes that more of the game is judged. */
  onChange() {
    if (!this.isWaiting) return;
    const first = this.nextOf(0);
    const isKnown = this.panel.state.data.plies.slice(0, first).every(Boolean);
    if (this.review.isRunning ? first === this.game.moves.length || !isKnown : !isKnown) return;
    this.isWaiting = false;
    if (first < this.game.moves.length) this.begin();
  }

  /** Returns the first position from `index` on that is asked for. */
  nextOf(index) {
    const { turn, moves } = this.game;
    const { plies } = this.panel.state.data;
    const isAsked = (at) => (this.side === "both" || (turn + at) % 2 === Number(this.side)) && (!this.ofMistakes || MISTAKES.includes(plies[at]?.kind));
    let at = index;
    while (at < moves.length && !isAsked(at)) at += 1;
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
    if (this.phase === "asking" && this.ofMistakes) return [{ move: this.game.moves[this.index].usi, width: 0.25, color: "var(--bad)", label: this.mistake.mark }];
    if (this.phase === "judging") return [{ move: this.answered, width: 0.4, color: "var(--arrow)" }];
    if (this.phase !== "answered") return [];
    const { guess, right, verdict } = this.result;
    const arrows = [{ move: right.name, width: 0.7, color: "var(--good)" }];
    if (guess && guess.name !== right.name) {
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
    const isCurrent = () => this.phase === "judging" && this.index === index;
    try {
      const result = await socket.request("review.guess", { index, move, isMistake: this.ofMistakes });
      if (!isCurrent()) return;
      if (result) this.enter(result);
      else this.ask(index);
    } catch (error) {
      if (isCurrent()) this.ask(index);
      throw error;
    }
  }

  skip() {
    const { better } = this.mistake ?? {};
    const { usi, ja, en } = this.ofMistakes ? { usi: better.usi[0], ja: better.ja[0], en: better.en[0] } : this.game.moves[this.index];
    this.enter({ verdict: "skipped", points: 0, guess: null, right: { name: usi, ja, en } });
  }

  /** The judgement of the move of the game. */
  get mistake() {
    return this.panel.state.data.plies[this.index];
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
    this.panel.draw();
  }

  view() {
    const views = { closed: () => nothing, choosing: () => this.choiceView(), summary: () => this.summaryView() };
    const view = views[this.phase] ?? (() => this.questionView());
    return html`<div class="guess-place"><div class="panel stack guess" aria-live="polite" ?hidden=${this.phase === "closed"}>${view()}</div></div>`;
  }

  choiceView() {
    const sides = ["0", "1", "both"].map((side) => [side, i18n.ofGame(t(`guess.side.${side}`), this.game)]);
    return html`<h2>${t("guess.title")}</h2>
      <p class="small muted">${t("guess.about")}</p>
      ${choice(t("guess.side"), "guess-side", sides, this.side, (side) => (this.side = side))} ${checkBox(t("guess.mistakes"), this.ofMistakes, (isOn) => (this.ofMistakes = isOn))}
      <div class="row">${button("guess.begin", () => this.begin(), PRIMARY)}${button("guess.cancel", () => this.close())}</div>`;
  }

  questionView() {
    const side = (this.game.turn + this.index) % 2;
    const isAnswered = this.phase === "answered";
    const { [i18n.current()]: move } = this.game.moves[this.index];
    const question = this.ofMistakes ? t("guess.better", { number: this.index + 1, move, kind: kindName(this.mistake.kind) }) : i18n.ofGame(t(`guess.ask.${side}`, { number: this.index + 1 }), this.game);
    return html`<h2>${question}</h2>
      ${this.phase === "asking" ? html`<p>${t("guess.how")}</p>` : nothing} ${this.phase === "judging" ? html`<p class="muted">${t("guess.judging")}</p>` : nothing}
      ${isAnswered ? this.resultView() : nothing}
      <div class="row">
        ${isAnswered ? button("guess.next", () => this.next(), PRIMARY) : button("guess.skip", () => this.skip())}${button("guess.stop", () => this.finish())}
      </div>
      ${this.results.length ? html`<p class="small number">${this.pointsText()}</p>` : nothing}
      <p class="small muted">${t(this.ofMistakes ? "guess.key.mistakes" : "guess.key")}</p>`;
  }

  resultView() {
    const { verdict, guess, right } = this.result;
    const name = (move) => move[i18n.current()];
    const change = "winRate" in right && changeText(right);
    return html`${verdictView(verdict, guess)} ${guess ? html`<p>${i18n.inLine(t("guess.yours", { move: name(guess) }), changeText(guess))}</p>` : nothing}
      ${verdict === "right" ? nothing : html`<p>${i18n.inLine(t(this.ofMistakes ? "guess.best" : "guess.played", { move: name(right) }), change)}</p>`}
      ${this.ofMistakes ? this.mistakeView() : nothing}
      ${verdict === "worse" ? this.lineView("judgement.refutation", joined(guess, guess.refutation), 1) : nothing}
      ${guess && verdict !== "right" ? this.lineView("judgement.better", guess.better, 0) : nothing}`;
  }

  /** What the mistake changed, and the line that refutes it. */
  mistakeView() {
    const { mistake } = this;
    const move = this.game.moves[this.index];
    return html`<p>${i18n.inLine(t("guess.played", { move: move[i18n.current()] }), changeText(mistake))}</p>
      ${mistake.refutation.usi.length ? this.lineView("judgement.refutation", joined({ ...move, name: move.usi }, mistake.refutation), 1) : nothing}`;
  }

  /** Returns a line that begins at the question. hidden: how many of its first moves are not shown. */
  lineView(text, line, hidden) {
    const names = line[i18n.current()].slice(hidden, hidden + SHOWN_MOVES);
    if (!names.length) return nothing;
    return lineOf(text, `${this.index} ${line.usi[0]}`, names, (depth) => this.panel.playLine(this.index, line, depth + hidden));
  }

  pointsText() {
    const points = this.results.reduce((sum, one) => sum + one.points, 0);
    return t("guess.points", { points, most: MOST_POINTS * this.results.length });
  }

  summaryView() {
    const { results } = this;
    const title = html`<h2>${t("guess.summary")}</h2>`;
    const buttons = html`<div class="row">${button("guess.close", () => this.close(), PRIMARY)}${button("guess.again", () => this.set("choosing"))}</div>`;
    if (!results.length) return html`${title}<p>${t(this.hasMoves() ? "guess.none" : "guess.no.moves")}</p>${buttons}`;
    const count = (verdict) => results.filter((one) => one.verdict === verdict).length;
    const points = results.reduce((sum, one) => sum + one.points, 0);
    const most = MOST_POINTS * results.length;
    const losses = results.filter((one) => one.guess).map((one) => one.guess.loss);
    const mean = losses.reduce((sum, loss) => sum + loss, 0) / (losses.length || 1);
    const counts = { right: count("right"), good: count("as good"), worse: count("worse"), skipped: count("skipped") };
    return html`${title}
      <p class="verdict">${t("guess.share", { points, most, percent: percent(points / most) })}</p>
      <p>${t("guess.counts", counts)}</p>
      ${losses.length ? html`<p>${t("guess.loss", { loss: percent(mean, 1) })}</p>` : nothing}
      <ol class="guesses">${results.map((one) => this.itemView(one))}</ol>
      ${buttons}`;
  }

  hasMoves() {
    return this.nextOf(this.panel.state.at) < this.game.moves.length;
  }

  itemView({ index, verdict, guess, right }) {
    const language = i18n.current();
    const names = guess && guess.name !== right.name ? `${guess[language]} (${right[language]})` : right[language];
    return html`<li>
      <button type="button" class="mistake" @click=${() => this.panel.go(index + 1)}>
        <span class="count">${index + 1}</span><span class="name">${names}</span><span data-kind=${KINDS[verdict]}>${verdictText(verdict, guess)}</span>
      </button>
    </li>`;
  }
}

function verdictText(verdict, guess) {
  return t(`guess.${verdict}`, { loss: guess ? percent(guess.loss) : "" });
}

function verdictView(verdict, guess) {
  return html`<p class="verdict" data-kind=${KINDS[verdict]}>${verdictText(verdict, guess)}</p>`;
}

/** Returns a move and the line that follows it as one line. */
function joined(move, line) {
  return { usi: [move.name, ...line.usi], ja: [move.ja, ...line.ja], en: [move.en, ...line.en] };
}
