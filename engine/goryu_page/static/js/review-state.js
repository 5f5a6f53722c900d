// What a review shows: a place in the game or beside it, and what is known of it. It draws nothing and asks nobody.

import { MISTAKES } from "./judgement.js";
import { afterMove } from "./sfen.js";

/** @type {("usi" | "ja" | "en")[]} */
const PARTS = ["usi", "ja", "en"]; // Of a line.

/**
 * @typedef {import("./replies").Line} Line
 * @typedef {Line & { at: number, before: string[] | null, depth: number }} Branch
 */

/**
 * A reviewed game and the place in it.
 *
 * data: {game, positions, plies, summary}. at: the position of the game, 0 is the start. branch: the moves that leave the game
 * at `at`, {at, before, usi, ja, en, depth}, of which `depth` are played; before: the moves from the start to them where they
 * are not those of the game; null in the game. limit: the last position of the game that may be shown, null for all.
 */
export class ReviewState {
  /** @param {import("./replies").Review} data */
  constructor(data, limit = /** @type {number | null} */ (null)) {
    this.data = data;
    this.at = 0;
    this.branch = /** @type {Branch | null} */ (null);
    this.limit = limit;
    // By the moves to a position: the results of the live analysis, and the legal moves.
    this.live = /** @type {Map<string, import("./replies").Analysis>} */ (new Map());
    this.explored = /** @type {Map<string, import("./replies").Explored>} */ (new Map());
  }

  get game() {
    return this.data.game;
  }

  /** The position of the game that is marked in the graph. */
  get place() {
    return this.branch ? this.branch.at : this.at;
  }

  /** Takes the analysis of a position. @param {import("./replies").NewAnalysis} message */
  update({ index, position, plies, summary }) {
    this.data.positions[index] = position;
    for (const [move, ply] of Object.entries(plies)) this.data.plies[Number(move)] = ply;
    this.data.summary = summary;
  }

  // The place.

  /** Returns the moves from the start of the game to the position on the board. */
  line() {
    const { branch } = this;
    if (!branch) return this.played(this.at);
    return [...(branch.before ?? this.played(branch.at)), ...branch.usi.slice(0, branch.depth)];
  }

  /** Returns the first moves of the game. @param {number} count */
  played(count) {
    return this.game.moves.slice(0, count).map((move) => move.usi);
  }

  /** Returns the moves to the position on the board as one text. */
  key() {
    return this.line().join(" ");
  }

  /** Goes to position `index` of the game; an address may name one that is no number. @param {number} index */
  go(index) {
    this.branch = null;
    this.at = Math.max(0, Math.min(this.limit ?? this.game.moves.length, index)) || 0;
  }

  /** Goes on or back by a move. @param {number} by */
  step(by) {
    const { branch } = this;
    if (!branch) this.go(this.at + by);
    else if (branch.depth + by <= 0) this.leave();
    else branch.depth = Math.min(branch.usi.length, branch.depth + by);
  }

  /** Goes back to where the branch left the game. */
  leave() {
    this.go(this.place);
  }

  /**
   * Plays the first `depth` moves of a line that begins at position `at` of the game.
   * @type {(at: number, line: Line, depth?: number, before?: string[] | null) => void}
   */
  playLine(at, line, depth = 1, before = null) {
    const isMain = this.limit === null && !before && line.usi.slice(0, depth).every((move, i) => this.game.moves[at + i]?.usi === move);
    if (isMain) {
      this.go(at + depth);
      return;
    }
    this.at = at;
    this.branch = { at, before, depth, usi: [...line.usi], ja: [...line.ja], en: [...line.en] };
  }

  /** Plays the first `depth` moves of a line that begins at the position on the board. @type {(line: Line, depth: number) => void} */
  enter(line, depth) {
    const { branch } = this;
    if (!branch) return this.playLine(this.at, line, depth);
    const joined = /** @type {Line} */ ({ usi: [], ja: [], en: [] });
    for (const part of PARTS) joined[part] = [...branch[part].slice(0, branch.depth), ...line[part]];
    return this.playLine(branch.at, joined, branch.depth + depth, branch.before);
  }

  /** Plays a move on the board; what followed in a branch stays if it is the same move. @param {string} move */
  play(move) {
    const { branch } = this;
    if (!branch) return this.playLine(this.at, { usi: [move], ja: [move], en: [move] });
    if (branch.usi[branch.depth] !== move) for (const part of PARTS) branch[part].splice(branch.depth, Infinity, move);
    return this.step(1);
  }

  /** Returns the position after the next mistake (direction 1) or the previous one (-1), or null. @param {number} direction */
  mistakeFrom(direction) {
    const numbers = this.mistakes().map((ply) => ply.ply);
    const found = direction > 0 ? numbers.find((number) => number > this.at) : numbers.findLast((number) => number < this.at);
    return found ?? null;
  }

  // What is known.

  /** Takes the legal moves after a line. @type {(moves: string[], found: import("./replies").Explored) => void} */
  enterExplored(moves, found) {
    this.explored.set(moves.join(" "), found);
    const { branch } = this;
    if (!branch || !found.name) return;
    const number = moves.length - (branch.before?.length ?? branch.at) - 1;
    if (branch.usi[number] === moves.at(-1)) [branch.ja[number], branch.en[number]] = [found.name.ja, found.name.en];
  }

  /** Returns {sfen, check, lastMove} of the position on the board. */
  shown() {
    const { branch, game } = this;
    const moves = this.line();
    if (!branch) {
      const { sfen, check } = game.positions[this.at];
      return { sfen, check, lastMove: moves.at(-1) ?? null };
    }
    const first = branch.before ? 0 : branch.at;
    const sfen = moves.slice(first).reduce((before, move) => afterMove(before, move), game.positions[first].sfen);
    return { sfen, check: this.explored.get(moves.join(" "))?.check ?? false, lastMove: moves.at(-1) ?? null };
  }

  /** Returns the side to move on the board: 0 black, 1 white. */
  turn() {
    return Number(this.shown().sfen.split(" ")[1] === "w");
  }

  /** Returns the best analysis of the position on the board, or null. */
  analysis() {
    const live = this.live.get(this.key()) ?? null;
    const kept = this.branch ? null : this.data.positions[this.at];
    if (!kept || !live) return live ?? kept;
    return live.playouts > kept.playouts ? live : kept;
  }

  /** Returns the judgement of the move that led to the position on the board, or null. */
  judged() {
    return !this.branch && this.at > 0 ? this.data.plies[this.at - 1] : null;
  }

  /** Is every move judged? */
  isWhole() {
    return this.data.plies.every(Boolean);
  }

  /** Returns the judgements that are mistakes. */
  mistakes() {
    return this.data.plies.filter((ply) => ply !== null).filter(({ kind }) => MISTAKES.includes(kind));
  }

  /** Returns how the game ends on the board, in words of the server; null where it goes on. */
  ending() {
    const analysis = this.analysis();
    return (analysis && !analysis.moves.length ? analysis.ending : this.explored.get(this.key())?.ending) || null;
  }

  /** Returns the win rates of Black in percent, by position, or only those after a move of a class. */
  rates(kind = /** @type {string | null} */ (null)) {
    const { positions, plies } = this.data;
    return positions.map((position, at) => (position && (kind === null || (at > 0 && plies[at - 1]?.kind === kind)) ? 100 * position.black : null));
  }
}
