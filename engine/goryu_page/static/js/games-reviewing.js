// The background review: what it does now, pause, and its playouts.

import * as i18n from "./i18n.js";
import * as socket from "./socket.js";
import { button, html, selectField } from "./template.js";

const { t } = i18n;
const PLAYOUTS = [100, 200, 400, 1000, 3000, 10000];

/** The panel. reviewing: what the review does, or null. playouts: of its next games. */
export function reviewingView({ reviewing, playouts }) {
  const isRunning = reviewing?.status === "running";
  const isHalted = ["paused", "failed"].includes(reviewing?.status);
  const counts = PLAYOUTS.includes(playouts) || !playouts ? PLAYOUTS : [...PLAYOUTS, playouts];
  const entries = counts.map((count) => [count, count.toLocaleString()]);
  const choose = (count) => socket.request("games.playouts", { playouts: Number(count) });
  const title = t("games.reviewing");
  return html`<div class="panel stack">
    <h2>${title}</h2>
    <p class="small" role="status">${reviewing ? statusOf(reviewing) : ""}</p>
    <progress max="1" .value=${isRunning ? reviewing.position / reviewing.positions : 0} aria-label=${title} title=${title} ?hidden=${!isRunning}></progress>
    <p class="small muted number" ?hidden=${!isRunning}>${isRunning ? placeOf(reviewing) : ""}</p>
    ${selectField(t("games.reviewing.playouts"), entries, playouts, choose)}
    <div class="row">
      ${button(isHalted ? "games.reviewing.go" : "games.reviewing.pause", () => socket.request("games.pause", { isPaused: !isHalted }))}
      ${button("games.reviewing.again", () => socket.request("games.again"), { className: "small quiet" })}
    </div>
  </div>`;
}

function statusOf(state) {
  if (state.status === "running") {
    const names = state.names.map((name) => name || t("games.nobody")).join(" – ");
    return t("games.reviewing.game", { number: state.games - state.left + 1, games: state.games, names });
  }
  const isEmpty = state.status === "idle" && !state.games;
  return t(`games.reviewing.${isEmpty ? "nothing" : state.status}`, { ...state, left: state.left.toLocaleString() });
}

/** Returns which position is searched and how long the rest takes. */
function placeOf(state) {
  const place = t("games.reviewing.position", state);
  const rest = state.seconds === null ? [] : [t("games.reviewing.rest", { time: time(state.seconds) })];
  return [place, ...rest].join(i18n.current() === "ja" ? "、" : ", ");
}

/** Returns a time in its largest unit, for people. */
export function time(seconds) {
  /** @type {[string, number][]} */
  const units = [
    ["days", 86400],
    ["hours", 3600],
    ["minutes", 60],
    ["seconds", 1],
  ];
  const [name, length] = units.find(([, one]) => seconds >= 1.5 * one) ?? units.at(-1);
  return t(`games.reviewing.${name}`, { count: Math.max(1, Math.round(seconds / length)) });
}
