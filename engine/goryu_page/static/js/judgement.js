// The judgement of a move, as `goryu.analysis.description.ply_json` describes it: classes, colours and texts.

import * as i18n from "./i18n.js";
import { evaluation, showsCentipawns } from "./unit.js";

const { t } = i18n;

/** The signs of Black and White. */
export const SIDES = ["▲", "△"];

export const MISTAKES = ["dubious", "mistake", "blunder"];

/** The classes with a colour of their own, the worst last. */
export const COLOURED = ["great", "inaccuracy", ...MISTAKES];

/** Returns the name of the CSS variable with the colour of a class. @type {(kind: string) => string} */
export function colorName(kind) {
  return `--class-${kind}`;
}

/** Returns the name of a class for people. @type {(kind: string) => string} */
export function kindName(kind) {
  return t(`judgement.kind.${kind}`);
}

/** Returns a share from 0 to 1 in percent. @type {(share: number, digits?: number) => string} */
export function percent(share, digits = 0) {
  return (100 * share).toFixed(digits);
}

/**
 * Returns how a move changed the win rate, and the mates that it missed or allows unless its reason tells, in one line.
 * @type {(ply: Pick<import("./replies").Ply, "winRate" | "playedWinRate" | "missedMate" | "allowsMate" | "reason">) => string}
 */
export function changeText(ply) {
  const key = showsCentipawns() ? "judgement.change.cp" : "judgement.change";
  const notes = [t(key, { before: evaluation(ply.winRate), after: evaluation(ply.playedWinRate) })];
  if (ply.reason) return notes[0];
  if (ply.missedMate !== null) notes.push(t("judgement.missed", { plies: ply.missedMate }));
  if (ply.allowsMate !== null) notes.push(t("judgement.allows", { plies: ply.allowsMate }));
  return i18n.inLine(...notes);
}
