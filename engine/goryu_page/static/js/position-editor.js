// The dialog in which the user sets up a position: pieces from the box, the hands, the side to move.

import { Board, PROMOTED, ROLES, UNPROMOTED } from "./board.js";
import { h } from "./dom.js";
import * as handoff from "./handoff.js";
import * as i18n from "./i18n.js";
import { boxOf, START } from "./sfen.js";
import * as socket from "./socket.js";
import { button, choice, html, live, render } from "./template.js";

const { t } = i18n;
const BARE = "4k4/9/9/9/9/9/9/9/4K4 b - 1";
const BOX = [..."krbgsnlp"];

/** What is done with the position, by view. */
const TARGETS = {
  play: (sfen) => handoff.playFrom({ sfen }),
  review: (sfen) => handoff.review({ name: t("editor.title"), text: sfen }),
  explorer: (sfen) => (location.hash = `#explorer/${encodeURIComponent(sfen)}`),
  microscope: (sfen) => (location.hash = `#microscope/${encodeURIComponent(sfen)}`),
};

let editor = null;

/** Returns a button that opens the dialog with a position; the user takes the edited one to the view of their choice. */
export function editButton(sfen, options = {}) {
  return button("editor.title", () => editPosition(sfen()), options);
}

function editPosition(sfen) {
  editor ??= new PositionEditor();
  editor.open(sfen || START);
}

/**
 * A board on which any piece may go anywhere; `position.sfen` has what stands there. A drag off the board removes a piece, one
 * to a hand gives it to that hand; a second click turns it over, and a promoted one then belongs to the other side.
 *
 * options.onEdit(): the position has changed.
 */
class EditorBoard extends Board {
  constructor(element, options) {
    super(element, options);
    this.root.addEventListener("pointerdown", () => this.givesOnDrop(true), { capture: true });
    for (const [hand, name] of ["hand-bottom", "hand-top"].entries()) {
      const give = (event) => this.giveToHand(event, hand); // Before shogiground, which would select a piece of the hand.
      for (const event of ["mousedown", "touchstart", "mouseup"]) this.root.querySelector(`.${name}`).addEventListener(event, give, { capture: true });
    }
  }

  /** @returns {any} */
  config(isNew) {
    return {
      ...super.config(isNew),
      activeColor: "both",
      highlight: { lastDests: false },
      movable: { free: true },
      droppable: { free: true },
      draggable: { deleteOnDropOff: true },
      events: { insert: () => this.addLayers(), change: () => this.edited(), unselect: (square) => this.turnOver(square) },
    };
  }

  edited() {
    const [, turn, , number = "1"] = this.position.sfen.split(" ");
    this.position.sfen = [this.ground.getBoardSfen(), turn, this.ground.getHandsSfen() || "-", number].join(" ");
    this.ground.state.dom.bounds.hands.pieceBounds.clear();
    this.options.onEdit();
  }

  /** Is a piece that is dropped on a hand given to it? A piece of the box would not stay selected after a click. */
  givesOnDrop(isGiven) {
    this.ground.state.draggable.addToHandOnDropOff = isGiven;
  }

  /** Lets the user place a piece of the box: by a drag, or by a click or a key here and one on the board. */
  takeSpare(piece, event) {
    this.givesOnDrop(false);
    if (event.type !== "click") this.ground.dragNewPiece(piece, event, true);
    else if (event.detail === 0) this.ground.selectPiece(piece, true);
  }

  /** Puts the selected piece into a hand, 0 the lower or 1 the upper one. */
  giveToHand(event, hand) {
    const { selected, selectedPiece, droppable, pieces } = this.ground.state;
    const piece = selected ? pieces.get(selected) : droppable.spare && selectedPiece;
    if (!piece) return;
    event.preventDefault();
    event.stopPropagation();
    if (selected) this.put(selected, undefined);
    this.ground.cancelMoveOrDrop();
    this.ground.addToHand({ color: (this.orientation === "black") === (hand === 0) ? "sente" : "gote", role: piece.role });
    this.edited();
  }

  turnOver(square) {
    const { color, role } = this.ground.state.pieces.get(square);
    const other = color === "sente" ? "gote" : "sente";
    this.put(square, PROMOTED[role] ? { color, role: PROMOTED[role] } : { color: other, role: UNPROMOTED[role] ?? role });
  }

  /** Puts a piece on a square, or removes it. */
  put(square, piece) {
    this.ground.setPieces(new Map([[square, piece]]));
    this.edited();
  }

  onKey(event) {
    const role = ROLES[event.key.toLowerCase()];
    const isPiece = this.ground.state.pieces.has(this.cursor);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (role) this.ground.selectPiece({ color: event.shiftKey ? "gote" : "sente", role }, true);
    else if (event.key === "+" && isPiece) this.turnOver(this.cursor);
    else if (event.key === "Delete" && isPiece) this.put(this.cursor, undefined);
    else super.onKey(event);
  }
}

class PositionEditor {
  constructor() {
    this.board = /** @type {any} */ (null); // An EditorBoard, from the first opening on: shogiground measures what is shown.
    this.problem = "";
    this.writing = /** @type {Promise<boolean> | null} */ (null); // While a written position is checked.
    this.place = h("div");
    this.dialog = h("dialog", { class: "editor" }, this.place);
    document.body.append(this.dialog);
    i18n.onChange(() => this.draw());
  }

  open(sfen) {
    this.dialog.showModal();
    this.board ??= new EditorBoard(this.place, { onEdit: () => this.draw() });
    this.set(sfen);
  }

  set(sfen) {
    this.problem = "";
    this.board.set({ sfen, animate: false });
    this.draw();
  }

  /** Gives the turn to a side, "b" or "w". */
  turn(side) {
    const [board, , ...rest] = this.board.position.sfen.split(" ");
    this.set([board, side, ...rest].join(" "));
  }

  /** Gives a position to `call` if the rules allow it, or else says why not; returns whether they do. */
  async check(sfen, call) {
    try {
      call(await socket.request("play.position", { sfen }));
      return true;
    } catch (error) {
      if (error instanceof socket.ConnectionLost) throw error;
      this.problem = error.message;
      this.draw();
      return false;
    }
  }

  async write(sfen) {
    this.writing = this.check(sfen, (written) => this.set(written));
    await this.writing.finally(() => (this.writing = null));
  }

  async take(view) {
    if (this.writing && !(await this.writing)) return; // A click on a button ends the writing a moment before.
    await this.check(this.board.position.sfen, (sfen) => {
      this.dialog.close();
      TARGETS[view](sfen);
    });
  }

  // Drawing.

  draw() {
    if (this.board) render(this.view(), this.dialog);
  }

  view() {
    const { sfen } = this.board.position;
    const [, turn] = sfen.split(" ");
    const sides = ["b", "w"].map((side) => [side, t(`editor.turn.${side}`)]);
    const [top, bottom] = this.board.orientation === "white" ? ["sente", "gote"] : ["gote", "sente"];
    return html`<div class="editor-parts">
      <div class="editor-board">${this.boxView(sfen, top)}${this.place}${this.boxView(sfen, bottom)}</div>
      <div class="stack">
        <h2>${t("editor.title")}</h2>
        <p class="small muted">${t("editor.about")}</p>
        ${choice(t("editor.turn"), "editor-turn", sides, turn, (side) => this.turn(side))}
        <div class="row">
          ${button("editor.start", () => this.set(START))}${button("editor.bare", () => this.set(BARE))}${button("editor.flip", () => this.flip())}
        </div>
        <label class="field">${t("editor.sfen")}<input type="text" spellcheck="false" autocomplete="off" maxlength="200" .value=${live(sfen)} @change=${(event) => this.write(event.target.value)} /></label>
        <p class="wrong" role="alert">${this.problem}</p>
        <div class="row targets">
          ${Object.keys(TARGETS).map((view) => button(`editor.${view}`, () => this.take(view)))}${button("editor.close", () => this.dialog.close(), { className: "quiet" })}
        </div>
      </div>
    </div>`;
  }

  /** The pieces that are neither on the board nor in a hand, as a side would place them. */
  boxView(sfen, color) {
    const box = boxOf(sfen);
    const orientation = `orientation-${this.board.orientation === "white" ? "gote" : "sente"}`;
    const one = (letter) => {
      const role = ROLES[letter];
      const take = (event) => this.board.takeSpare({ color, role }, event);
      const label = `${t(color === "sente" ? "board.black" : "board.white")} ${t(`piece.${role}`)} ${box[letter]}`;
      return html`<button type="button" class="quiet" aria-label=${label} title=${label} ?disabled=${box[letter] < 1} @mousedown=${take} @touchstart=${take} @click=${take}>
        <piece class=${`${color} ${role}`}></piece><span class="number">${box[letter]}</span>
      </button>`;
    };
    return html`<div class=${`spares ${orientation}`}>${BOX.map(one)}</div>`;
  }

  flip() {
    this.board.flip();
    this.draw();
  }
}
