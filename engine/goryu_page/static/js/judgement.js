// The judgement of a move, as `goryu.analysis.description.ply_json` describes it: texts, marks and lines.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";

const { t } = i18n;

i18n.extend({
  en: {
    "judgement.kind.great": "great move",
    "judgement.kind.best": "best move",
    "judgement.kind.good": "good move",
    "judgement.kind.inaccuracy": "inaccuracy",
    "judgement.kind.dubious": "dubious",
    "judgement.kind.mistake": "mistake",
    "judgement.kind.blunder": "blunder",
    "judgement.change": "win rate {before} % → {after} %",
    "judgement.better": "Better:",
    "judgement.refutation": "Refuted by:",
    "judgement.next": "Expected:",
    "judgement.missed": "missed a mate in {plies}",
    "judgement.allows": "allows a mate in {plies}",
  },
  ja: {
    "judgement.kind.great": "好手",
    "judgement.kind.best": "最善手",
    "judgement.kind.good": "普通の手",
    "judgement.kind.inaccuracy": "緩手",
    "judgement.kind.dubious": "疑問手",
    "judgement.kind.mistake": "悪手",
    "judgement.kind.blunder": "大悪手",
    "judgement.change": "勝率 {before} % → {after} %",
    "judgement.better": "最善：",
    "judgement.refutation": "とがめる手順：",
    "judgement.next": "予想：",
    "judgement.missed": "{plies}手詰を逃した",
    "judgement.allows": "{plies}手詰を許した",
  },
});

export const MISTAKES = ["dubious", "mistake", "blunder"];

/** Returns a share from 0 to 1 in percent. */
export function percent(share, digits = 0) {
  return (100 * share).toFixed(digits);
}

/** Returns how a move changed the win rate, and the mates that it missed or allows, in one line. */
export function changeText(ply) {
  const notes = [t("judgement.change", { before: percent(ply.winRate), after: percent(ply.playedWinRate) })];
  if (ply.missedMate !== null) notes.push(t("judgement.missed", { plies: ply.missedMate }));
  if (ply.allowsMate !== null) notes.push(t("judgement.allows", { plies: ply.allowsMate }));
  return notes.join("　");
}

/** Returns a button for one move of a line. */
export function lineButton(name, call, title = "") {
  return h("button", { type: "button", class: "line-move", text: name, title: title || null, on: { click: call } });
}

/** Returns a line of moves as buttons after a text. call(depth): the move number `depth` was clicked, from 1. */
export function lineOf(key, names, call, depth = 0) {
  const buttons = names.map((name, i) => {
    const button = lineButton(name, () => call(i + 1));
    if (i + 1 === depth) button.setAttribute("aria-current", "true");
    return button;
  });
  return h("p", { class: "line" }, h("span", { class: "muted", text: `${t(key)} ` }), ...buttons.flatMap((one) => [one, " "]));
}
