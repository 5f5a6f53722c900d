// The classes of moves: their signs and colours, which the list of moves, the graph and the histogram share.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";

/** The classes that a review lists as mistakes. */
export const MISTAKES = ["dubious", "mistake", "blunder"];

/** The classes with a colour of their own, the worst last. */
export const COLOURED = ["great", "inaccuracy", ...MISTAKES];

const SIGNS = { great: "!", inaccuracy: "–", dubious: "?!", mistake: "?", blunder: "??" };

i18n.extend({
  en: {
    "review.kind.great": "great move",
    "review.kind.best": "best move",
    "review.kind.good": "good move",
    "review.kind.inaccuracy": "inaccuracy",
    "review.kind.dubious": "dubious",
    "review.kind.mistake": "mistake",
    "review.kind.blunder": "blunder",
  },
  ja: {
    "review.kind.great": "好手",
    "review.kind.best": "最善手",
    "review.kind.good": "普通の手",
    "review.kind.inaccuracy": "緩手",
    "review.kind.dubious": "疑問手",
    "review.kind.mistake": "悪手",
    "review.kind.blunder": "大悪手",
  },
});

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
  return i18n.t(`review.kind.${kind}`);
}

/** Returns the sign of a class on its colour; empty for a class without one. */
export function badge(kind) {
  const sign = signOf(kind);
  return h("span", { class: "badge", dataset: { kind }, title: sign ? kindName(kind) : null, text: sign });
}
