// How much the moves of both players lost: the counts of the histogram in a review.

import { MISTAKES } from "./judgement.js";

const FINE = [0, 0.01, 0.02];

/**
 * Returns the bars of the histogram, {from, to, sides}; the limits of the classes are among theirs.
 *
 * plies: judgements or null. thresholds: the least loss of each class. from, to: in percent; the last bar has no `to`.
 * sides: for Black and White, how many moves of each class there are, the mildest first: a loss that a short search
 * may have overestimated is in a milder class.
 *
 * @typedef {{ from: number, to: number | null, sides: Record<string, number>[] }} Bar
 * @type {(plies: (import("./replies").Ply | null)[], thresholds: Record<string, number>) => Bar[]}
 */
export function lossBars(plies, thresholds) {
  const least = Object.values(thresholds).sort((one, other) => one - other);
  const limits = [...FINE.filter((limit) => limit < least[0]), ...least];
  const none = Object.fromEntries(["good", "inaccuracy", ...MISTAKES].map((kind) => [kind, 0]));
  const percents = limits.map((limit) => Math.round(100 * limit));
  const bars = percents.map((from, at) => ({ from, to: percents[at + 1] ?? null, sides: [{ ...none }, { ...none }] }));
  for (const ply of plies) {
    if (ply) bars[limits.findLastIndex((limit) => limit <= ply.loss)].sides[ply.turn][ply.kind in thresholds ? ply.kind : "good"] += 1;
  }
  return bars;
}

/** Returns how many moves a side of a bar counts. @type {(classes: Record<string, number>) => number} */
export function total(classes) {
  return Object.values(classes).reduce((sum, count) => sum + count, 0);
}
