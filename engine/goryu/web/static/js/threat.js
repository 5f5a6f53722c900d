// The threat on the board of a review: what the side that has just moved would play if it moved again.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";

const SIDES = ["▲", "△"];
const LEAST_SHARE = 0.1;
const MOST_ARROWS = 2;

/**
 * The button, the line below the board and the arrows of a threat.
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
    this.button = h("button", { type: "button", class: "threat-button", "aria-pressed": "false", dataset: { i18n: "review.threat" }, hidden: !ask });
    i18n.onChange(() => (this.button.title = i18n.t("review.threat.title")));
    this.line = h("div", { class: "threat-line small", "aria-live": "polite", hidden: true });
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
    this.changed();
    const key = moves.join(" ");
    try {
      await this.ask(this.moves);
    } catch (error) {
      if (this.moves?.join(" ") === key) {
        this.moves = null;
        this.changed();
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
    this.changed();
  }

  /** Takes a result. */
  show({ moves, position }) {
    if (this.moves?.join(" ") !== moves.join(" ")) return;
    this.found = position;
    this.changed();
  }

  changed() {
    this.button.setAttribute("aria-pressed", String(this.isOn));
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

  /** Draws the line. turn: the side to move. */
  draw(turn) {
    this.line.hidden = !this.isOn;
    if (!this.isOn) return;
    const side = SIDES[1 - turn];
    const best = this.found?.moves[0];
    if (!best) {
      this.line.replaceChildren(h("span", { class: "muted", text: i18n.t("review.threat.wait") }));
      return;
    }
    const rate = best.mate > 0 ? i18n.t("review.threat.mate", { plies: best.mate }) : i18n.t("review.threat.rate", { side, rate: (100 * this.found.winRate).toFixed(0) });
    this.line.replaceChildren(
      h("span", { class: "muted", text: `${i18n.t("review.threat.line", { side })} ` }),
      h("b", { text: best.line[i18n.current()].join(" ") }),
      h("span", { class: "muted", text: `　${rate}` }),
    );
  }
}
