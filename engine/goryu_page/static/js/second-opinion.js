// What an engine of the user thinks of the position on the board of a review.

import * as i18n from "./i18n.js";
import { lineButtons } from "./lines.js";
import { recall, store } from "./memory.js";
import { engineEntries, html, nothing, options } from "./template.js";

const { t } = i18n;
const CHOSEN = "goryu.review.engine";

/** The part of a ReviewPanel, hidden while there are no engines. */
export class SecondOpinion {
  constructor(panel) {
    this.panel = panel;
    this.engines = [];
    this.chosen = null;
    this.known = new Map();
    this.waiting = null;
  }

  /** engines: [{name, seconds, isThere}]. */
  setEngines(engines) {
    this.engines = engines;
    const chosen = this.chosen ?? recall(CHOSEN);
    const usable = engines.filter(({ isThere }) => isThere);
    this.chosen = (usable.find(({ name }) => name === chosen) ?? usable[0])?.name;
    this.panel.draw();
  }

  choose(name) {
    this.chosen = name;
    store(CHOSEN, name);
    this.panel.draw();
  }

  /** Forgets the opinions, which are about another game. */
  clear() {
    this.known.clear();
  }

  key() {
    return `${this.chosen}\n${this.panel.state.key()}`;
  }

  async start() {
    const key = this.key();
    this.waiting = key;
    this.panel.draw();
    try {
      const opinion = await this.panel.review.askEngine(this.chosen, this.panel.state.line()); // null if it was stopped.
      if (opinion) this.known.set(key, opinion);
    } finally {
      if (this.waiting === key) this.waiting = null;
      this.panel.draw();
    }
  }

  view() {
    const { engines, chosen } = this;
    const isWaiting = engines.length > 0 && this.waiting === this.key();
    return html`<div class="panel stack opinion" ?hidden=${!engines.length}>
      <h2>${t("review.opinion")}</h2>
      <div class="row opinion-row">
        <select aria-label=${t("review.opinion.engine")} title=${t("review.opinion.engine")} @change=${(event) => this.choose(event.target.value)}>
          ${options(engineEntries(engines), chosen)}
        </select>
        <button type="button" ?disabled=${isWaiting || !chosen} @click=${() => this.start()}>${t("review.opinion.ask")}</button>
      </div>
      <div class="stack" aria-live="polite">${isWaiting ? this.waitingView() : this.answerView()}</div>
    </div>`;
  }

  waitingView() {
    const { name, seconds } = this.engines.find((engine) => engine.name === this.chosen);
    return html`<span class="muted small">${t("review.opinion.wait", { engine: name, seconds })}</span>`;
  }

  answerView() {
    const key = this.engines.length ? this.key() : "";
    const found = this.known.get(key);
    if (!found) return nothing;
    const { move, cp, mate, depth, line } = found;
    const facts = [
      mate !== null && t(mate > 0 ? "review.opinion.mate" : "review.opinion.mated", { plies: Math.abs(mate) }),
      cp !== null && i18n.ofGame(t("review.opinion.score", { score: cp > 0 ? `+${cp}` : String(cp).replace("-", "−") }), this.panel.state.game),
      depth !== null && t("review.opinion.depth", { depth }),
    ];
    const names = line[i18n.current()];
    const moves = names.length ? lineButtons(key, names, (count) => this.panel.enter(line, count)) : i18n.word("review.opinion", move);
    return html`<p class="number small">${i18n.inLine(...facts)}</p><p class="line">${moves}</p>`;
  }
}
