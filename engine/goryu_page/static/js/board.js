// The shogi board: shogiground, with what our views need around it.

import { Shogiground } from "../vendor/shogiground/shogiground.js";
import { h, svg } from "./dom.js";
import { Drawing } from "./drawing.js";
import * as i18n from "./i18n.js";

export const ROLES = {
  p: "pawn",
  l: "lance",
  n: "knight",
  s: "silver",
  g: "gold",
  b: "bishop",
  r: "rook",
  k: "king",
  "+p": "tokin",
  "+l": "promotedlance",
  "+n": "promotedknight",
  "+s": "promotedsilver",
  "+b": "horse",
  "+r": "dragon",
};
const LETTERS = Object.fromEntries(Object.entries(ROLES).map(([letter, role]) => [role, letter]));
export const PROMOTED = Object.fromEntries("plnsbr".split("").map((letter) => [ROLES[letter], ROLES[`+${letter}`]]));
export const UNPROMOTED = Object.fromEntries(Object.entries(PROMOTED).map(([role, promoted]) => [promoted, role]));
const HAND = ["rook", "bishop", "gold", "silver", "knight", "lance", "pawn"];
const KANJI = "一二三四五六七八九";
const [WIDE, TALL] = [11, 12];

/**
 * A board with hands in an element that CSS sizes (the board fills its width; see `.shogi` in board.css).
 *
 * options:
 *   orientation: "black" (default) or "white", the side at the bottom.
 *   onMove(usi): the user has made a legal move; the board already shows it. Call `set` with the new position, or
 *     with the old one to take it back.
 *   coordinates: false hides the numbers at the border. hands: false hides the hands.
 *
 *     const board = new Board(element, {onMove: (usi) => socket.request("play.move", {move: usi})});
 *     board.set({sfen, legal: ["7g7f", "P*5e"], lastMove: "3c3d", check: false});
 *     board.arrows([{move: "7g7f", width: 0.8, color: "var(--good)", label: "54 %"}]);
 *     board.heat({"7f": 0.4, "2f": 0.3});
 *
 * The user draws arrows and circles on it (`drawing.js`); they go with the position.
 */
export class Board {
  constructor(element, options = {}) {
    this.options = options;
    this.orientation = options.orientation ?? "black";
    this.position = { sfen: "9/9/9/9/9/9/9/9/9 b - 1", legal: [], lastMove: null, check: false };
    this.drawnArrows = [];
    this.drawnHeat = {};
    this.cursor = null;
    const top = h("div", { class: "hand-top" });
    const bottom = h("div", { class: "hand-bottom" });
    this.square = h("div", { class: "square-board" });
    this.spoken = h("div", { class: "unseen", "aria-live": "polite" });
    this.frame = h("div", { class: "frame" }, this.square);
    const table = h("div", { class: "table" }, top, this.frame, bottom);
    this.root = h("div", { class: `shogi${options.hands === false ? " without-hands" : ""}` }, table, this.spoken);
    element.append(this.root);
    this.square.tabIndex = 0;
    this.square.setAttribute("role", "application");
    this.heatLayer = svg("svg", { class: "heat", viewBox: `0 0 ${9 * WIDE} ${9 * TALL}`, "aria-hidden": "true" });
    this.arrowLayer = svg("svg", { class: "arrows", viewBox: `0 0 ${9 * WIDE} ${9 * TALL}`, "aria-hidden": "true" });
    this.drawing = new Drawing(this, LETTERS);
    this.ground = Shogiground(this.config(), { board: this.square, hands: { top, bottom } });
    this.square.addEventListener("keydown", (event) => this.onKey(event));
    this.square.addEventListener("blur", () => this.moveCursor(null));
    this.stopTranslating = i18n.onChange(() => this.square.setAttribute("aria-label", i18n.t("board.label")));
  }

  /**
   * Shows a position.
   *
   * sfen: with or without the word "sfen". legal: the moves that the user may make now, in USI; none by default.
   * lastMove: in USI, is marked. check: is the side to move in check? animate: false shows it at once.
   */
  set({ sfen, legal = [], lastMove = null, check = false, animate = true }) {
    const isNew = sfen.replace(/^sfen /, "") !== this.position.sfen;
    this.position = { sfen: sfen.replace(/^sfen /, ""), legal, lastMove, check };
    if (isNew || !legal.length) {
      this.ground.cancelMoveOrDrop();
      this.ground.state.hovered = undefined; // shogiground keeps it after a move by two clicks.
    }
    this.ground.set(this.config(isNew), !animate);
    // shogiground remembers where board and hands are, and something above may have come in.
    const { board, hands } = this.ground.state.dom.bounds;
    for (const bounds of [board.bounds, hands.bounds, hands.pieceBounds]) bounds.clear();
    this.drawOverlays();
  }

  /** Turns the board so that this side ("black" or "white") is at the bottom. */
  setOrientation(side) {
    this.orientation = side;
    this.ground.set({ orientation: color(side) });
    this.ground.set(this.config(), true);
  }

  /** Turns the board. */
  flip() {
    this.setOrientation(this.orientation === "black" ? "white" : "black");
  }

  /**
   * Draws arrows, instead of those before.
   *
   * arrows: [{move, width, color, label, className}], the most important first. move: in USI; a drop is drawn as a ring
   * with the piece. width: 0 to 1. color: of CSS. label: a short text at the arrow's end.
   */
  arrows(arrows) {
    this.drawnArrows = arrows;
    this.drawArrows();
  }

  /**
   * Colours squares by weight, instead of those before.
   *
   * weights: {square: weight from 0 to 1}, with squares as in USI ("7f"). color: of CSS.
   */
  heat(weights, color = "var(--heat)") {
    this.drawnHeat = weights;
    this.heatColor = color;
    this.drawHeat();
  }

  /** Gives the keyboard to the board. */
  focus() {
    this.square.focus();
  }

  /** Removes the board. */
  destroy() {
    this.stopTranslating();
    this.ground.destroy();
    this.root.remove();
  }

  config(isNew = false) {
    const { sfen, legal, lastMove, check } = this.position;
    const [pieces, turn, hands] = sfen.split(" ");
    const side = turn === "w" ? "gote" : "sente";
    const legalMoves = new Set(legal);
    const canPromote = (from, to) => legalMoves.has(`${from}${to}+`);
    return {
      sfen: { board: pieces, hands: hands ?? "-" },
      orientation: color(this.orientation),
      turnColor: side,
      activeColor: legal.length ? side : undefined,
      checks: check,
      lastDests: lastMove ? squaresOf(lastMove) : undefined,
      scaleDownPieces: false,
      coordinates: { enabled: this.options.coordinates !== false, files: "numeric", ranks: "japanese" },
      animation: { duration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 180 },
      movable: { free: false, dests: destinations(legal), events: { after: (from, to, promotes) => this.moved(`${from}${to}${promotes ? "+" : ""}`) } },
      droppable: {
        free: false,
        dests: drops(legal, side),
        events: { after: (piece, to) => this.moved(`${LETTERS[piece.role].toUpperCase()}*${to}`) },
      },
      premovable: { enabled: false },
      predroppable: { enabled: false },
      drawable: this.drawing.config(isNew),
      promotion: {
        promotesTo: (role) => PROMOTED[role],
        unpromotesTo: (role) => UNPROMOTED[role],
        movePromotionDialog: (from, to) => canPromote(from, to) && legalMoves.has(`${from}${to}`),
        forceMovePromotion: (from, to) => canPromote(from, to) && !legalMoves.has(`${from}${to}`),
        events: { initiated: () => this.openPromotion(), after: () => this.square.focus(), cancel: () => this.square.focus() },
      },
      forsyth: { toForsyth: (role) => LETTERS[role], fromForsyth: (letter) => ROLES[letter.toLowerCase()] },
      events: { insert: () => this.addLayers() },
    };
  }

  moved(usi) {
    this.options.onMove?.(usi);
  }

  // Layers.

  addLayers() {
    const board = this.square.querySelector("sg-board");
    if (!board || !this.heatLayer) return;
    board.insertBefore(this.heatLayer, board.querySelector("sg-pieces"));
    board.append(this.arrowLayer, this.drawing.layer);
    this.drawOverlays();
  }

  drawOverlays() {
    if (this.heatLayer.parentElement === null) this.addLayers();
    this.drawHeat();
    this.drawArrows();
    this.drawing.draw();
  }

  /** Returns the middle of a square in the layers' coordinates. */
  middle(square) {
    const file = Number(square[0]);
    const rank = square.charCodeAt(1) - 97;
    const isBlack = this.orientation === "black";
    return [((isBlack ? 9 - file : file - 1) + 0.5) * WIDE, ((isBlack ? rank : 8 - rank) + 0.5) * TALL];
  }

  drawHeat() {
    this.heatLayer.replaceChildren(
      ...Object.entries(this.drawnHeat).map(([square, weight]) => {
        const [x, y] = this.middle(square);
        const opacity = Math.min(0.85, 0.12 + 0.73 * Math.sqrt(Math.max(0, weight)));
        const place = { x: x - WIDE / 2, y: y - TALL / 2, width: WIDE, height: TALL };
        return svg("rect", { ...place, fill: this.heatColor ?? "var(--heat)", "fill-opacity": opacity });
      }),
    );
  }

  drawArrows() {
    // The first one is drawn last, on top, and all labels on top of all arrows.
    const arrows = [...this.drawnArrows].reverse();
    const labelled = new Map();
    this.arrowLayer.replaceChildren(...arrows.map((arrow) => this.arrow(arrow)), ...arrows.map((arrow) => this.arrowLabel(arrow, labelled)));
  }

  /** Returns an arrow. side: whose piece a drop shows, "sente" or "gote"; by default that of the side to move. */
  arrow({ move, width = 0.5, color: fill = "var(--arrow)", className = "", side }) {
    const group = svg("g", { class: `arrow ${className}`, fill, stroke: fill });
    const to = this.middle(move.slice(2, 4));
    if (move[1] === "*") {
      const owner = side ?? (this.position.sfen.split(" ")[1] === "w" ? "gote" : "sente");
      const role = ROLES[move[0].toLowerCase()];
      const place = { x: to[0] - WIDE / 2 + 1, y: to[1] - TALL / 2 + 1, width: WIDE - 2, height: TALL - 2 };
      const shown = owner === color(this.orientation) ? "black" : "white";
      group.append(
        svg("image", { ...place, href: pictureOf(`${shown}-${role}`), opacity: 0.75 }),
        this.ring(move.slice(2, 4), fill, width),
      );
    } else {
      group.append(svg("path", { d: arrowPath(this.middle(move.slice(0, 2)), to, 0.9 + 2.3 * width), stroke: "none" }));
    }
    return group;
  }

  /** Returns a ring around a square. */
  ring(square, stroke, width) {
    const [cx, cy] = this.middle(square);
    return svg("ellipse", { cx, cy, rx: WIDE / 2 - 0.8, ry: TALL / 2 - 0.8, fill: "none", stroke, "stroke-width": 0.6 + 1.2 * width });
  }

  /** Returns the label of an arrow. labelled: how many labels each square has already; they are stacked. */
  arrowLabel({ move, color: fill = "var(--arrow)", label = "", className = "" }, labelled) {
    const group = svg("g", { class: `arrow-label ${className}`, fill });
    if (!label) return group;
    const square = move.slice(2, 4);
    const used = labelled.get(square) ?? 0;
    labelled.set(square, used + 1);
    const [x, middle] = this.middle(square);
    const y = middle + 3.6 - 4 * used;
    const half = 1.2 + label.length * 0.92;
    group.append(
      svg("rect", { class: "plate", x: x - half, y: y - 1.8, width: 2 * half, height: 3.6, rx: 1.8 }),
      svg("text", { class: "label", x, y: y + 0.95, "text-anchor": "middle", text: label }),
    );
    return group;
  }

  // Keyboard.

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const role = ROLES[event.key.toLowerCase()];
    if (steps[event.key]) this.step(...steps[event.key]);
    else if (event.key === "Enter" || event.key === " ") {
      if (event.target.tagName === "PIECE") event.target.click();
      else if (this.cursor) this.ground.selectSquare(this.cursor, false);
    } else if (event.key === "Escape") {
      this.ground.cancelMoveOrDrop();
      this.drawing.clear();
    } else if (role && HAND.includes(role)) this.takeFromHand(role);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  step(x, y) {
    const sign = this.orientation === "black" ? 1 : -1;
    const [file, rank] = this.cursor ? [Number(this.cursor[0]), this.cursor.charCodeAt(1) - 97] : [5, 4]; // From the middle.
    const clamp = (number, least, most) => Math.min(most, Math.max(least, number));
    this.moveCursor(`${clamp(file - sign * x, 1, 9)}${String.fromCharCode(97 + clamp(rank + sign * y, 0, 8))}`);
    this.speak();
  }

  moveCursor(square) {
    if (square === this.cursor) return;
    this.cursor = square;
    this.ground.setSquareHighlights(square ? [{ key: square, className: "cursor" }] : []);
  }

  speak() {
    const piece = this.ground.state.pieces.get(this.cursor);
    const square = i18n.current() === "ja" ? this.cursor[0] + KANJI[this.cursor.charCodeAt(1) - 97] : this.cursor;
    const side = piece && i18n.t(piece.color === "sente" ? "board.black" : "board.white");
    this.spoken.textContent = `${square} ${piece ? `${side} ${i18n.t(`piece.${piece.role}`)}` : i18n.t("board.empty")}`;
  }

  takeFromHand(role) {
    const side = this.position.sfen.split(" ")[1] === "w" ? "gote" : "sente";
    if (this.ground.state.hands.handMap.get(side)?.get(role)) this.ground.selectPiece({ color: side, role });
  }

  openPromotion() {
    // shogiground draws the dialog in the next frame.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        const [first, second] = this.square.querySelectorAll("sg-promotion-choices piece");
        if (!second) return;
        for (const [piece, key] of [[first, "board.promote"], [second, "board.unpromoted"]]) {
          piece.tabIndex = 0;
          piece.setAttribute("role", "button");
          piece.setAttribute("aria-label", i18n.t(key));
          piece.title = i18n.t(key);
        }
        first.focus();
      }),
    );
  }
}

/** Returns the address of the picture of a piece, such as "black-pawn". */
function pictureOf(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--piece-${name}`).trim().slice(5, -2);
}

function color(side) {
  return side === "white" ? "gote" : "sente";
}

function squaresOf(move) {
  return move[1] === "*" ? [move.slice(2, 4)] : [move.slice(0, 2), move.slice(2, 4)];
}

function destinations(legal) {
  const found = new Map();
  for (const move of legal) {
    if (move[1] === "*") continue;
    const from = move.slice(0, 2);
    if (!found.has(from)) found.set(from, []);
    found.get(from).push(move.slice(2, 4));
  }
  return found;
}

function drops(legal, side) {
  const found = new Map();
  for (const move of legal) {
    if (move[1] !== "*") continue;
    const piece = `${side} ${ROLES[move[0].toLowerCase()]}`;
    if (!found.has(piece)) found.set(piece, []);
    found.get(piece).push(move.slice(2, 4));
  }
  return found;
}

/** Returns the outline of an arrow: it begins and ends a little away from the middle of the squares. */
function arrowPath(from, to, width) {
  const [[x0, y0], [x1, y1]] = [from, to];
  const length = Math.hypot(x1 - x0, y1 - y0);
  const [dx, dy] = [(x1 - x0) / length, (y1 - y0) / length];
  const head = 2.4 + 1.3 * width;
  const [start, end] = [2.2, length - 1];
  const point = (along, aside) => `${(x0 + dx * along - dy * aside).toFixed(2)} ${(y0 + dy * along + dx * aside).toFixed(2)}`;
  const half = width / 2;
  const neck = Math.max(start, end - head);
  return `M${point(start, half)}L${point(neck, half)}L${point(neck, half + head * 0.42)}L${point(end, 0)}L${point(neck, -half - head * 0.42)}L${point(neck, -half)}L${point(start, -half)}Z`;
}
