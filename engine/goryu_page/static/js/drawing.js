// The arrows and circles that the user draws on a shogi board. shogiground reads the mouse and the fingers.

import { h, svg } from "./dom.js";
import * as i18n from "./i18n.js";

/** The colours: plain, with Shift or Ctrl, with Alt, with both. */
const COLORS = { primary: "var(--drawn-1)", alternative0: "var(--drawn-2)", alternative1: "var(--drawn-3)", alternative2: "var(--drawn-4)" };
const WIDTH = 0.45;

/**
 * What is drawn on one board.
 *
 * board: a `Board` with its shogiground. A drag with the right button, or with Shift, draws an arrow, a click a circle;
 * the same again removes it, a click with the left button removes all. A pen makes each finger and button draw.
 */
export class Drawing {
  constructor(board, letters) {
    this.board = board;
    this.letters = letters;
    this.layer = svg("svg", { class: "drawn", viewBox: board.arrowLayer.getAttribute("viewBox"), "aria-hidden": "true" });
    for (const event of ["mousedown", "touchstart"]) {
      // Before shogiground, which does not let it bubble.
      board.root.addEventListener(event, () => requestAnimationFrame(() => this.follow()), { capture: true, passive: true });
    }
  }

  get state() {
    return this.board.ground.state.drawable;
  }

  /** Returns shogiground's options. isNew: has the position changed, so that the drawing ends? */
  config(isNew) {
    return { enabled: true, visible: false, shapes: isNew || !this.board.ground ? [] : this.state.shapes, onChange: () => this.draw() };
  }

  /** Removes everything. */
  clear() {
    this.state.shapes = [];
    this.draw();
  }

  /** Do all fingers and buttons draw? */
  get hasPen() {
    return this.state.forced;
  }

  set hasPen(isOn) {
    this.state.forced = isOn;
  }

  /** Draws what is drawn now until the button is released. */
  follow() {
    this.draw();
    if (this.state.current) requestAnimationFrame(() => this.follow());
  }

  draw() {
    if (!this.board.ground) return; // shogiground inserts its elements before the board has it.
    const { shapes, current } = this.state;
    this.layer.replaceChildren(...[...shapes, ...(current?.dest ? [current] : [])].map((shape) => this.shape(shape)).filter(Boolean));
  }

  shape({ orig, dest, brush }) {
    const [from, to] = [orig, dest].map((end) => (typeof end === "object" ? `${this.letters[end.role].toUpperCase()}*` : end));
    if (to[1] === "*") return null; // An arrow to a hand says nothing.
    const color = COLORS[brush];
    if (from !== to) return this.board.arrow({ move: from + to, width: WIDTH, color, side: orig.color });
    return svg("g", { class: "arrow" }, this.board.ring(to, color, WIDTH));
  }
}

/** Returns a button that switches the pen on and off. board(): the present board. It is shown on touch screens. */
export function penButton(board) {
  const button = h("button", { type: "button", class: "quiet icon pen", "aria-pressed": "false", text: "✎" });
  button.addEventListener("click", () => {
    const { drawing } = board();
    drawing.hasPen = !drawing.hasPen;
    button.setAttribute("aria-pressed", String(drawing.hasPen));
  });
  i18n.onChange(() => {
    button.title = i18n.t("board.pen");
    button.setAttribute("aria-label", button.title);
  });
  return button;
}
