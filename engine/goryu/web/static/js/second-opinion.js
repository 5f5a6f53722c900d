// What an engine of the user thinks of the position on the board of a review.

import { h, redraw } from "./dom.js";
import * as i18n from "./i18n.js";

const CHOSEN = "goryu.review.engine";

/**
 * The panel, hidden while there are no engines.
 *
 * ask(engine, moves): a promise of the opinion, or of null if it was stopped. place(): the moves to the position on
 * the board; null without a game. enter(line, depth): plays a line on the board.
 */
export class SecondOpinion {
  constructor({ ask, place, enter, lineButton }) {
    Object.assign(this, { ask, place, enter, lineButton });
    this.engines = [];
    this.known = new Map();
    this.waiting = null;
    this.select = h("select", { dataset: { i18nLabel: "review.opinion.engine" } });
    this.select.addEventListener("change", () => {
      localStorage.setItem(CHOSEN, this.select.value);
      this.draw();
    });
    this.button = h("button", { type: "button", on: { click: () => this.start() }, dataset: { i18n: "review.opinion.ask" } });
    this.answer = h("div", { class: "stack", "aria-live": "polite" });
    const row = h("div", { class: "row opinion-row" }, this.select, this.button);
    this.root = h("div", { class: "panel stack opinion", hidden: true }, h("h2", { dataset: { i18n: "review.opinion" } }), row, this.answer);
  }

  /** engines: [{name, seconds}]. */
  setEngines(engines) {
    this.engines = engines;
    this.root.hidden = !engines.length;
    this.select.replaceChildren(...engines.map(({ name }) => h("option", { value: name, text: name })));
    const chosen = localStorage.getItem(CHOSEN);
    if (engines.some(({ name }) => name === chosen)) this.select.value = chosen;
    this.draw();
  }

  /** Forgets the opinions, which are about another game. */
  clear() {
    this.known.clear();
  }

  key() {
    return `${this.select.value}\n${this.place().join(" ")}`;
  }

  async start() {
    const key = this.key();
    this.waiting = key;
    this.draw();
    try {
      const opinion = await this.ask(this.select.value, this.place());
      if (opinion) this.known.set(key, opinion);
    } finally {
      if (this.waiting === key) this.waiting = null;
      this.draw();
    }
  }

  draw() {
    if (!this.engines.length || !this.place()) return;
    const key = this.key();
    const isWaiting = this.waiting === key;
    this.button.disabled = isWaiting;
    const found = this.known.get(key);
    if (isWaiting) {
      const { name, seconds } = this.engines.find(({ name }) => name === this.select.value);
      this.answer.replaceChildren(h("span", { class: "muted small", text: i18n.t("review.opinion.wait", { engine: name, seconds }) }));
    } else if (found) redraw(this.answer, ...this.shown(found));
    else this.answer.replaceChildren();
  }

  shown({ move, cp, mate, depth, line }) {
    const facts = [
      mate !== null && i18n.t(mate > 0 ? "review.opinion.mate" : "review.opinion.mated", { plies: Math.abs(mate) }),
      cp !== null && i18n.t("review.opinion.score", { score: cp > 0 ? `+${cp}` : String(cp).replace("-", "−") }),
      depth !== null && i18n.t("review.opinion.depth", { depth }),
    ];
    const names = line[i18n.current()];
    const buttons = names.map((name, at) => this.lineButton(name, () => this.enter(line, at + 1)));
    const word = i18n.has(`review.opinion.${move}`) ? i18n.t(`review.opinion.${move}`) : move;
    const moves = names.length ? buttons.flatMap((one) => [one, " "]) : [word];
    return [h("p", { class: "number small", text: facts.filter(Boolean).join("　") }), h("p", { class: "line", dataset: { line: line.usi.join(" ") } }, ...moves)];
  }
}
