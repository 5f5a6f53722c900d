// The boards of reversi and tic-tac-toe: a grid of buttons.

import { h, svg } from "./dom.js";
import * as i18n from "./i18n.js";

/**
 * A board of squares.
 *
 * game: "reversi", "reversi6", "reversi4" or "tictactoe". options: onMove(square), with squares numbered row by row from the upper left.
 *
 *     const board = new GridBoard(element, "reversi", {onMove: (square) => ...});
 *     board.set({cells: "...XO...", legal: [19, 26], last: 19});
 *     board.labels({19: "54 %"}); board.heat({19: 0.5});
 */
export class GridBoard {
  constructor(element, game, options = {}) {
    this.isReversi = game !== "tictactoe";
    this.game = this.isReversi ? "reversi" : game;
    this.size = this.isReversi ? Number(game.at(-1)) || 8 : 3;
    this.options = options;
    this.cells = "";
    this.buttons = Array.from({ length: this.size ** 2 }, (_, square) => this.button(square));
    this.grid = h("div", { class: "grid", role: "group" }, this.buttons);
    this.root = h("div", { class: `grid-board ${this.game}` });
    if (this.isReversi) {
      this.root.style.setProperty("--size", String(this.size));
      this.root.append(
        h("div", { class: "files", "aria-hidden": "true" }, [..."abcdefgh"].slice(0, this.size).map((text) => h("span", { text }))),
        h("div", { class: "ranks", "aria-hidden": "true" }, [..."12345678"].slice(0, this.size).map((text) => h("span", { text }))),
      );
    }
    this.root.append(this.grid);
    element.append(this.root);
    this.grid.addEventListener("keydown", (event) => this.onKey(event));
    this.stopTranslating = i18n.onChange(() => this.grid.setAttribute("aria-label", i18n.t(`grid.${this.game}`)));
    this.set({ cells: ".".repeat(this.size ** 2) });
  }

  /**
   * Shows a position. cells: "X" for the first player, "O" for the second, "." for none, row by row.
   * legal: the squares that the user may play now. last: the square of the last move. line: squares to mark as won.
   */
  set({ cells, legal = [], last = null, line = [] }) {
    const before = this.cells;
    this.cells = cells;
    const allowed = new Set(legal);
    this.buttons.forEach((button, square) => {
      const stone = cells[square];
      if (before[square] !== stone) button.querySelector(".stone")?.replaceWith(this.stone(stone, before[square]));
      const isLegal = allowed.has(square);
      button.classList.toggle("legal", isLegal);
      button.classList.toggle("last", square === last);
      button.classList.toggle("won", line.includes(square));
      button.setAttribute("aria-disabled", String(!isLegal));
      const what = stone === "." ? i18n.t(isLegal ? "grid.legal" : "grid.free") : stone === "X" ? this.name(0) : this.name(1);
      button.setAttribute("aria-label", `${this.squareName(square)} ${what}`);
    });
  }

  /** Writes a short text on squares, instead of those before. */
  labels(texts) {
    this.buttons.forEach((button, square) => (button.querySelector(".note").textContent = texts[square] ?? ""));
  }

  /** Colours squares by weights from 0 to 1, instead of those before. */
  heat(weights) {
    this.buttons.forEach((button, square) => {
      const weight = weights[square] ?? 0;
      button.style.setProperty("--weight", weight ? String(0.15 + 0.7 * Math.sqrt(weight)) : "0");
    });
  }

  /** Gives the keyboard to the board. */
  focus() {
    (this.buttons.find((button) => button.classList.contains("legal")) ?? this.buttons[0]).focus();
  }

  /** Removes the board. */
  destroy() {
    this.stopTranslating();
    this.root.remove();
  }

  name(side) {
    return this.isReversi ? i18n.t(side ? "board.white" : "board.black") : "×○"[side];
  }

  squareName(square) {
    const [row, column] = [Math.floor(square / this.size), square % this.size];
    return `${"abcdefgh"[column]}${row + 1}`;
  }

  button(square) {
    const click = () => {
      if (this.buttons[square].classList.contains("legal")) this.options.onMove?.(square);
    };
    const attributes = { type: "button", tabindex: square === 0 ? 0 : -1, on: { click }, dataset: { square } };
    return h("button", attributes, h("span", { class: "stone" }), h("span", { class: "note" }));
  }

  stone(kind, before) {
    if (kind === ".") return h("span", { class: "stone" });
    if (this.isReversi) {
      const turned = before && before !== "." ? " turned" : " placed";
      return h("span", { class: `stone disc ${kind === "X" ? "black" : "white"}${turned}` });
    }
    const drawing = svg("svg", { class: `stone sign placed ${kind === "X" ? "cross" : "ring"}`, viewBox: "0 0 100 100" });
    drawing.append(
      kind === "X" ? svg("path", { d: "M24 24L76 76M76 24L24 76" }) : svg("circle", { cx: 50, cy: 50, r: 28 }),
    );
    return drawing;
  }

  onKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.size, ArrowDown: this.size }[event.key];
    if (!step) return;
    const at = this.buttons.indexOf(document.activeElement);
    const to = at + step;
    const sameRow = Math.floor(at / this.size) === Math.floor(to / this.size);
    if (to < 0 || to >= this.buttons.length || (Math.abs(step) === 1 && !sameRow)) return;
    event.preventDefault();
    this.buttons[at].tabIndex = -1;
    this.buttons[to].tabIndex = 0;
    this.buttons[to].focus();
  }
}
