// The threat on the board of a review: what the side that has just moved would play if it moved again.

import * as i18n from "./i18n.js";
import { percent, SIDES } from "./judgement.js";
import { html, nothing } from "./template.js";

const { t } = i18n;
const LEAST_SHARE = 0.1;
const MOST_ARROWS = 2;

/**
 * The analysis of a threat.
 *
 * ask(moves or null): begins the analysis of the position after these moves with the turn passed, or ends it; its
 * promise fails where a side cannot pass. onChange(): something has to be drawn. onEnd(): other analysis may go on.
 */
export class Threat {
  constructor({ ask, onChange, onEnd }) {
    this.ask = ask;
    this.onChange = onChange;
    this.onEnd = onEnd;
    this.moves = null;
    this.found = null;
  }

  get isOn() {
    return this.moves !== null;
  }

  /** Begins or ends the analysis. moves: those to the position on the board. */
  async toggle(moves) {
    if (this.isOn) {
      this.end();
      this.onEnd();
      return;
    }
    this.moves = [...moves];
    this.found = null;
    this.onChange();
    const key = moves.join(" ");
    try {
      await this.ask(this.moves);
    } catch (error) {
      if (this.moves?.join(" ") === key) {
        this.moves = null;
        this.onChange();
        this.onEnd();
      }
      throw error;
    }
  }

  /** Ends the analysis if the board shows another position now. */
  follow(moves) {
    if (this.isOn && this.moves.join(" ") !== moves.join(" ")) this.end();
  }

  end() {
    if (!this.isOn) return;
    this.moves = null;
    this.ask(null);
    this.onChange();
  }

  /** Takes a result. */
  show({ moves, position }) {
    if (this.moves?.join(" ") !== moves.join(" ")) return;
    this.found = position;
    this.onChange();
  }

  /** Returns the arrows for the board. turn: the side to move, 0 or 1. */
  arrows(turn) {
    const moves = this.isOn && this.found ? this.found.moves : [];
    const visits = moves.reduce((sum, move) => sum + move.visits, 0) || 1;
    const best = moves.filter((move, at) => at === 0 || move.visits / visits >= LEAST_SHARE).slice(0, MOST_ARROWS);
    const side = turn ? "sente" : "gote";
    return best.map((move) => ({ move: move.usi, width: Math.max(0.15, move.visits / visits), color: "var(--threat)", className: "threat", side }));
  }

  /** The switch. */
  buttonView(toggle) {
    return html`<button type="button" class="threat-button" aria-pressed=${this.isOn} title=${t("review.threat.title")} ?hidden=${!this.ask} @click=${toggle}>${t("review.threat")}</button>`;
  }

  /** The line below the board. turn: the side to move. */
  lineView(turn) {
    return html`<div class="threat-line small" aria-live="polite" ?hidden=${!this.isOn}>${this.isOn ? this.foundView(turn) : nothing}</div>`;
  }

  foundView(turn) {
    const best = this.found?.moves[0];
    if (!best) return html`<span class="muted">${t("review.threat.wait")}</span>`;
    const side = SIDES[1 - turn];
    const rate = best.mate > 0 ? t("review.threat.mate", { plies: best.mate }) : t("review.threat.rate", { side, rate: percent(this.found.winRate) });
    return html`<span class="muted">${t("review.threat.line", { side })} </span><b>${best.line[i18n.current()].join(" ")}</b><span class="muted">　${rate}</span>`;
  }
}
