// How the user likes an analysis: win rates in percent or centipawns (評価値), and how many moves.

import { recall, store } from "./memory.js";

const KEY = "goryu.evaluation";
const LINES = "goryu.review.lines";
const CENTIPAWNS_OF_E = 285; // At which the odds to win are e : 1, as in the output of the engine (Eval_Coef).

/** The ends of the graph. */
export const MOST_CENTIPAWNS = 3000;

/** How many best moves the user may choose to see. */
export const LINE_COUNTS = [1, 3, 5, 10];

/** Returns how many best moves the user wants to see. */
export function linesShown() {
  return Number(recall(LINES)) || 5;
}

/** Shows so many best moves from now on. @param {string} count */
export function showLines(count) {
  store(LINES, count);
}

/** Does the user like centipawns? */
export function showsCentipawns() {
  return recall(KEY) === "centipawns";
}

/** Changes to the other unit. */
export function changeUnit() {
  store(KEY, showsCentipawns() ? "winrate" : "centipawns");
}

/** Returns a win rate in [0, 1] in centipawns. @type {(rate: number) => number} */
export function centipawns(rate) {
  const inside = Math.min(0.9999, Math.max(0.0001, rate));
  return Math.round(CENTIPAWNS_OF_E * Math.log(inside / (1 - inside)));
}

/** Returns a win rate in [0, 1] as text. digits: of the percent. @type {(rate: number, digits?: number) => string} */
export function evaluation(rate, digits = 0) {
  if (!showsCentipawns()) return (100 * rate).toFixed(digits);
  const cp = centipawns(rate);
  return cp > 0 ? `+${cp}` : String(cp).replace("-", "−");
}

/** Returns a win rate in percent, or null, where the graph has it. @type {(percent: number | null) => number | null} */
export function graphed(percent) {
  if (percent === null || !showsCentipawns()) return percent;
  return Math.max(-MOST_CENTIPAWNS, Math.min(MOST_CENTIPAWNS, centipawns(percent / 100)));
}
