// The judgement of a move, as `goryu.analysis.description.ply_json` describes it: texts, marks and lines.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";

const { t } = i18n;

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
