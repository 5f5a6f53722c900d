// A problem of the view "Train": what has been answered, what may be told, and what the board shows.

import { afterMove, START } from "./sfen.js";

/**
 * @typedef {import("./replies").Shown} Shown
 * @typedef {import("./replies").Problem} Problem
 * @typedef {import("./replies").Answer} Answer
 * @typedef {{ sfen: string, usi: string[], depth: number }} Line
 */

/**
 * The problem on the board.
 *
 * problem: what the server says of it, or null. isAnswered: has it been answered, rightly or not? answer: the result of the
 * last answer. told: what may be told: solutions, the move of the game, the last attempt. position: where the user may answer. line: {sfen, usi, depth}, moves that are
 * stepped through. board, arrows, heat: what the board shows.
 */
export class TrainState {
  constructor() {
    this.problem = /** @type {Problem | null} */ (null);
    this.position = /** @type {Shown} */ ({ sfen: START });
    this.board = this.position;
    this.answer = /** @type {Answer | null} */ (null);
    this.told = /** @type {import("./replies").Told | null} */ (null);
    this.line = /** @type {Line | null} */ (null);
    this.isAnswered = false;
    this.isJudging = false;
    this.arrows = /** @type {{ move: string, width: number, color: string }[]} */ ([]);
    this.heat = {};
  }

  /** Forgets the answer. */
  clear() {
    this.answer = this.told = this.line = null;
    this.isJudging = false;
    this.arrows = [];
    this.heat = {};
  }

  /** Shows a problem from its start, with what was said of its answer, or none for null. @param {Problem | null} problem */
  begin(problem) {
    this.problem = problem;
    this.isAnswered = Boolean(problem?.isAnswered);
    this.clear();
    if (!problem) return;
    this.place(problem);
    const { reply } = problem;
    if (reply?.told) this.tell(reply.told);
    else if (reply?.answer) {
      this.play(reply.move);
      this.judge(reply.answer, reply.move);
    }
  }

  /** Shows a position in which the user may answer. @param {Shown} position */
  place(position) {
    this.position = position;
    this.board = position;
  }

  /** Lets the user answer again in the same position. */
  retry() {
    this.clear();
    this.place(this.position);
  }

  /** The user has played a move, which is to be judged. @param {string} move */
  play(move) {
    this.isJudging = true;
    this.heat = {};
    this.board = { sfen: afterMove(this.position.sfen, move), lastMove: move };
  }

  /** The judgement of the move has arrived; null if it failed. @type {(answer: Answer | null, move: string) => void} */
  judge(answer, move) {
    this.isJudging = false;
    if (!answer) {
      this.place(this.position);
      return;
    }
    this.answer = answer;
    if (this.isGoingOn) {
      this.place(answer); // The defender has answered; the mate goes on.
      return;
    }
    this.isAnswered = true;
    const sfen = afterMove(this.position.sfen, move);
    this.board = { sfen, lastMove: move };
    if (answer.isRight) this.told = answer;
    else this.punish(sfen, answer.refutation.usi);
  }

  /** Lets the user step through the line that punishes a move, and draws its first move. @type {(sfen: string, usi: string[]) => void} */
  punish(sfen, usi) {
    this.line = { sfen, usi, depth: 0 };
    this.arrows = usi.length ? [{ move: usi[0], width: 0.7, color: "var(--bad)" }] : [];
  }

  /** The solution may be told; the board shows its first move. @param {import("./replies").Told} told */
  tell(told) {
    this.told = told;
    this.isAnswered = true;
    this.answer = null;
    const first = told.solutions[0]?.line;
    if (first && this.problem) this.playLine(this.problem.sfen, first.usi, 1);
  }

  /** Shows the position after so many moves of a line. @type {(sfen: string, usi: string[], depth: number) => void} */
  playLine(sfen, usi, depth) {
    const played = usi.slice(0, depth);
    this.line = { sfen, usi, depth };
    this.board = { sfen: played.reduce((before, move) => afterMove(before, move), sfen), lastMove: played.at(-1) ?? null };
    this.arrows = [];
    this.heat = {};
  }

  /** Steps through the line. @param {number} by */
  step(by) {
    if (!this.line) return;
    const { sfen, usi, depth } = this.line;
    this.playLine(sfen, usi, Math.max(0, Math.min(usi.length, depth + by)));
  }

  /** Is the answer a right move of a mate that is not over? */
  get isGoingOn() {
    return this.answer !== null && this.answer.isRight && this.answer.isOver === false;
  }

  /** May the user answer now? */
  get isOpen() {
    return this.problem !== null && !this.isJudging && !this.told && (!this.answer || this.isGoingOn);
  }

  /** Which move of a line the board shows, from 1; 0 for none. @type {(sfen: string, usi: string[]) => number} */
  depthOf(sfen, usi) {
    return this.line && this.line.sfen === sfen && this.line.usi.join() === usi.join() ? this.line.depth : 0;
  }
}
