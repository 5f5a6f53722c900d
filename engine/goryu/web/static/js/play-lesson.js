// The teaching game: the question after a mistake, and what the person's moves have lost.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";
import { changeText, lineOf, percent } from "./judgement.js";
import { afterMove } from "./sfen.js";

const { t } = i18n;
const SHOWN_MOVES = 8;

/** The panel. onUndo(), onKeep(): the person's choice. onShow(): another position is to be drawn. onLook(ply): as well. */
export class LessonPanel {
  constructor({ onUndo, onKeep, onShow, onLook, notation }) {
    this.calls = { onUndo, onKeep, onShow, onLook };
    this.notation = notation;
    this.state = null;
    this.place = null; // {line: "better" or "refutation", depth}: what the board shows of the question.
    this.element = h("div", { class: "panel stack lesson", "aria-live": "polite", hidden: true });
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

  /** Takes a state of the game, and draws it. */
  draw(state) {
    const before = this.state?.lesson?.question;
    this.state = state;
    const { lesson, over } = state;
    this.element.hidden = !lesson;
    if (!lesson) return;
    const { question } = lesson;
    const isNew = question && (before?.ply !== question.ply || before?.name !== question.name);
    if (!question || isNew) this.place = null;
    this.element.classList.toggle("asks", Boolean(question));
    this.element.replaceChildren(...(question ? this.question(question) : this.summary(lesson, over)).filter(Boolean));
    if (isNew && matchMedia("(max-width: 900px)").matches) this.element.scrollIntoView({ block: "nearest" });
  }

  /** Returns what the board shows instead of the present position, {sfen, lastMove, arrows}, or null. */
  position() {
    const question = this.state?.lesson?.question;
    if (!question) return null;
    const isBetter = this.place?.line === "better";
    const depth = this.place?.depth ?? 0;
    const moves = isBetter ? question.better.usi : question.refutation.usi;
    let sfen = isBetter ? question.before : this.state.position;
    for (const move of moves.slice(0, depth)) sfen = afterMove(sfen, move);
    const last = depth ? moves[depth - 1] : isBetter ? null : question.name;
    const next = depth === 0 && moves[0];
    const color = isBetter ? "var(--good)" : "var(--bad)";
    return { sfen, lastMove: last, arrows: next ? [{ move: next, width: 0.6, color }] : [] };
  }

  show(line, depth) {
    this.place = { line, depth };
    this.draw(this.state);
    this.calls.onShow();
  }

  names(line) {
    const names = this.notation() === "name" ? line.usi : line[this.notation()];
    return names.slice(0, SHOWN_MOVES);
  }

  nameOf(move) {
    return move[this.notation()];
  }

  question(question) {
    const { place } = this;
    const isBetter = place?.line === "better";
    const kind = t(`judgement.kind.${question.kind}`);
    const line = (name) => {
      const names = this.names(question[name]);
      return names.length > 0 && lineOf(`judgement.${name}`, names, (depth) => this.show(name, depth), place?.line === name ? place.depth : 0);
    };
    const button = (key, call, isPrimary = false) => h("button", { type: "button", class: isPrimary ? "primary" : null, text: t(key), on: { click: call } });
    return [
      h("h2", { dataset: { kind: question.kind }, text: `${t("lesson.move", { move: this.nameOf(question), kind })} ${question.mark}` }),
      h("p", { class: "number", text: t("lesson.loss", { loss: percent(question.loss), change: changeText(question) }) }),
      line("refutation"),
      isBetter && line("better"),
      h(
        "div",
        { class: "row" },
        button("lesson.back", () => this.calls.onUndo(), true),
        isBetter ? button("lesson.worse", () => this.show("refutation", 0)) : button("lesson.better", () => this.show("better", 0)),
        button("lesson.keep", () => this.calls.onKeep()),
      ),
    ];
  }

  summary({ moves }, over) {
    const kept = moves.filter((move) => move.fate === "kept");
    const back = moves.filter((move) => move.fate === "taken back");
    const played = moves.filter((move) => move.fate !== "taken back");
    const lost = played.reduce((sum, move) => sum + move.loss, 0);
    const mistakes = moves.filter((move) => move.fate !== "fine");
    const mean = played.length ? lost / played.length : 0;
    return [
      h("h2", { text: t("lesson.title") }),
      h("p", { class: "small number", text: t("lesson.count", { moves: played.length, kept: kept.length, back: back.length }) }),
      over && h("p", { class: "number", text: t("lesson.lost", { lost: percent(lost), mean: percent(mean, 1) }) }),
      over && (mistakes.length ? h("ol", { class: "lesson-moves" }, mistakes.map((move) => this.item(move))) : h("p", { text: t("lesson.none") })),
    ];
  }

  item(move) {
    const parts = [
      h("span", { class: "ply", text: move.ply }),
      h("b", { text: this.nameOf(move) }),
      h("span", { class: "number", text: `−${percent(move.loss)} %` }),
      h("span", { class: "muted", text: t(`lesson.${move.fate}`) }),
    ];
    return h("li", {}, h("button", { type: "button", on: { click: () => this.calls.onLook(move.fate === "kept" ? move.ply : move.ply - 1) } }, parts));
  }
}
