// The classes of moves: their marks and colours, which the list of moves, the graph and the histogram share.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";
import { MISTAKES } from "./judgement.js";

/** The classes with a colour of their own, the worst last. */
export const COLOURED = ["great", "inaccuracy", ...MISTAKES];

/** Returns the name of the CSS variable with the colour of a class. */
export function colorName(kind) {
  return `--class-${kind}`;
}

/** Returns the name of a class for people. */
export function kindName(kind) {
  return i18n.t(`judgement.kind.${kind}`);
}

/** Returns the mark of a judgement, such as "??", on the colour of its class; empty without one. */
export function badge(ply) {
  const { kind = "", mark = "" } = ply ?? {};
  return h("span", { class: "badge", dataset: { kind }, title: mark ? kindName(kind) : null, text: mark });
}
