// The classes of moves: their signs and colours, which the list of moves, the graph and the histogram share.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";
import { MISTAKES } from "./judgement.js";

/** The classes with a colour of their own, the worst last. */
export const COLOURED = ["great", "inaccuracy", ...MISTAKES];

const SIGNS = { great: "!", inaccuracy: "–", dubious: "?!", mistake: "?", blunder: "??" };

/** Returns the sign of a class, such as "??"; "" for none. */
export function signOf(kind) {
  return SIGNS[kind] ?? "";
}

/** Returns the name of the CSS variable with the colour of a class. */
export function colorName(kind) {
  return `--class-${kind}`;
}

/** Returns the name of a class for people. */
export function kindName(kind) {
  return i18n.t(`judgement.kind.${kind}`);
}

/** Returns the sign of a class on its colour; empty for a class without one. */
export function badge(kind) {
  const sign = signOf(kind);
  return h("span", { class: "badge", dataset: { kind }, title: sign ? kindName(kind) : null, text: sign });
}
