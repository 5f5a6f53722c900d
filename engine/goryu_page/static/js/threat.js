// The threat on the board of a review: what the side that has just moved would play if it moved again.

import * as i18n from "./i18n.js";
import { percent, SIDES } from "./judgement.js";
import { button, html, nothing } from "./template.js";

const { t } = i18n;
const LEAST_SHARE = 0.1;
const MOST_ARROWS = 2;

/** The analysis of a threat. panel: the ReviewPanel; its view asks the server, which fails where a side cannot pass. */
export class Threat {
  constructor(panel) {
    this.panel = panel;
    this.moves = null;
    this.found = null;
  }

  get isOn() {
    return this.moves !== null;
  }

  /** Begins the analysis of the position on the board, or ends it; then other analysis may go on. */
  async toggle() {
    if (this.isOn) {
      this.end();
      this.panel.follow();
      return;
    }
    const moves = (this.moves = this.panel.state.line());
    this.found = null;
    this.panel.draw();
    try {
      await this.panel.review.threat(moves);
    } catch (error) {
      if (this.moves === moves) {
        this.moves = null;
        this.panel.moved();
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
    this.panel.review.threat(null);
    this.panel.draw();
  }

  /** Takes a result. */
  show({ moves, position }) {
    if (this.moves?.join(" ") !== moves.join(" ")) return;
    this.found = position;
    this.panel.draw();
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
  buttonView() {
    const isHidden = !this.panel.review;
    return button("review.threat", () => this.toggle(), { className: "threat-button", title: t("review.threat.title"), pressed: this.isOn, isHidden });
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
    return html`<span class="muted">${t("review.threat.line", { side })} </span><b>${best.line[i18n.current()].join(" ")}</b><span class="muted">${i18n.current() === "ja" ? "　" : " · "}${rate}</span>`;
  }
}
