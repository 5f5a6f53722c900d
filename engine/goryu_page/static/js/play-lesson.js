// The teaching game: the question after a mistake, and what the person's moves have lost.

import * as i18n from "./i18n.js";
import { changeText, percent } from "./judgement.js";
import { lineOf, reasonView } from "./lines.js";
import { afterMove } from "./sfen.js";
import { button, html, nothing } from "./template.js";

const { t } = i18n;
const SHOWN_MOVES = 8;

/** The panel. play: the view "Play". */
export class LessonPanel {
  constructor(play) {
    this.play = play;
    this.state = null;
    this.place = null; // {line: "better" or "refutation", depth}: what the board shows of the question.
  }

  /** Does the opponent wait for the judgement or for the person? */
  get isWaiting() {
    return Boolean(this.state?.lesson?.isJudging || this.state?.lesson?.question);
  }

  /** Returns the status of the game while the opponent waits, "" otherwise. */
  status() {
    if (!this.isWaiting) return "";
    return t(this.state.lesson.question ? "lesson.asking" : "lesson.judging");
  }

  /** Takes a state of the game. Returns whether it asks a new question. */
  take(state) {
    const before = this.state?.lesson?.question;
    const question = state.lesson?.question;
    this.state = state;
    const isNew = Boolean(question) && (before?.ply !== question.ply || before?.name !== question.name);
    if (!question || isNew) this.place = null;
    return isNew;
  }

  /** Returns what the board shows instead of the present position, {sfen, lastMove, arrows}, or null. */
  position() {
    const question = this.state?.lesson?.question;
    if (!question) return null;
    const isBetter = this.place?.line === "better";
    const depth = this.place?.depth ?? 0;
    const moves = isBetter ? question.better.usi : question.refutation.usi;
    const start = isBetter ? question.before : this.state.position;
    const sfen = moves.slice(0, depth).reduce((before, move) => afterMove(before, move), start);
    const last = depth ? moves[depth - 1] : isBetter ? null : question.name;
    const next = depth === 0 && moves[0];
    const color = isBetter ? "var(--good)" : "var(--bad)";
    return { sfen, lastMove: last, arrows: next ? [{ move: next, width: 0.6, color }] : [] };
  }

  show(line, depth) {
    this.place = { line, depth };
    this.play.look(this.state.moves.length);
  }

  names(line) {
    const { notationShown } = this.play;
    const names = notationShown === "name" ? line.usi : line[notationShown];
    return names.slice(0, SHOWN_MOVES);
  }

  view() {
    const { lesson, over } = this.state ?? {};
    const question = lesson?.question;
    const content = !lesson ? nothing : question ? this.questionView(question) : this.summaryView(lesson, over);
    return html`<div class=${`panel stack lesson${question ? " asks" : ""}`} aria-live="polite" ?hidden=${!lesson}>${content}</div>`;
  }

  questionView(question) {
    const { place } = this;
    const isBetter = place?.line === "better";
    const kind = t(`judgement.kind.${question.kind}`);
    const line = (name) => {
      const names = this.names(question[name]);
      if (!names.length) return nothing;
      return lineOf(`judgement.${name}`, `${question.ply} ${name}`, names, (depth) => this.show(name, depth), place?.line === name ? place.depth : 0);
    };
    return html`<h2 data-kind=${question.kind}>${t("lesson.move", { move: this.play.nameOf(question), kind })} ${question.mark}</h2>
      <p class="number">${t("lesson.loss", { loss: percent(question.loss), change: changeText(question) })}</p>
      ${reasonView(question.reason)} ${line("refutation")} ${isBetter ? line("better") : nothing}
      <div class="row">
        ${button("lesson.back", () => this.play.answer("play.undo"), { className: "primary" })}
        ${isBetter ? button("lesson.worse", () => this.show("refutation", 0)) : button("lesson.better", () => this.show("better", 0))}
        ${button("lesson.keep", () => this.play.answer("play.keep"))}
      </div>`;
  }

  summaryView({ moves }, over) {
    const count = (fate) => moves.filter((move) => move.fate === fate).length;
    const played = moves.filter((move) => move.fate !== "taken back");
    const lost = played.reduce((sum, move) => sum + move.loss, 0);
    const mean = played.length ? lost / played.length : 0;
    return html`<h2>${t("lesson.title")}</h2>
      <p class="small number">${t("lesson.count", { moves: played.length, kept: count("kept"), back: count("taken back") })}</p>
      ${over ? html`<p class="number">${t("lesson.lost", { lost: percent(lost), mean: percent(mean, 1) })}</p>${this.mistakesView(moves)}` : nothing}`;
  }

  mistakesView(moves) {
    const mistakes = moves.filter((move) => move.fate !== "fine");
    return mistakes.length ? html`<ol class="lesson-moves">${mistakes.map((move) => this.itemView(move))}</ol>` : html`<p>${t("lesson.none")}</p>`;
  }

  itemView(move) {
    const look = () => this.play.look(move.fate === "kept" ? move.ply : move.ply - 1);
    return html`<li>
      <button type="button" @click=${look}>
        <span class="ply">${move.ply}</span><b>${this.play.nameOf(move)}</b><span class="number">−${percent(move.loss)} %</span><span class="muted">${t(`lesson.${move.fate}`)}</span>
      </button>
    </li>`;
  }
}
