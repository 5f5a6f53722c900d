// Evaluations as win rates in percent or as centipawns (評価値), as the user likes.

const KEY = "goryu.evaluation";
const CENTIPAWNS_OF_E = 285; // At which the odds to win are e : 1, as in the output of the engine (Eval_Coef).

/** The ends of the graph. */
export const MOST_CENTIPAWNS = 3000;

/** Does the user like centipawns? */
export function showsCentipawns() {
  return globalThis.localStorage?.getItem(KEY) === "centipawns";
}

/** Changes to the other unit. */
export function changeUnit() {
  localStorage.setItem(KEY, showsCentipawns() ? "winrate" : "centipawns");
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
