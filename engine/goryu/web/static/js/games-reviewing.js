// The background review: what it does now, pause, and its playouts.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";
import * as socket from "./socket.js";

const PLAYOUTS = [100, 200, 400, 1000, 3000, 10000];

export class ReviewingPanel {
  constructor() {
    this.state = null;
    this.text = h("p", { class: "small", role: "status" });
    this.place = h("p", { class: "small muted number" });
    this.progress = h("progress", { max: 1, value: 0, hidden: true, dataset: { i18nLabel: "games.reviewing" } });
    this.pause = h("button", { type: "button", on: { click: () => this.toggle() } });
    this.playouts = h("select", { on: { change: () => this.choose() } }, ...PLAYOUTS.map((count) => h("option", { value: count, text: count.toLocaleString() })));
    const again = h("button", { type: "button", class: "small quiet", dataset: { i18n: "games.reviewing.again" }, on: { click: () => socket.request("games.again") } });
    this.root = h(
      "div",
      { class: "panel stack" },
      h("h2", { dataset: { i18n: "games.reviewing" } }),
      this.text,
      this.progress,
      this.place,
      h("label", { class: "field" }, h("span", { dataset: { i18n: "games.reviewing.playouts" } }), this.playouts),
      h("div", { class: "row" }, this.pause, again),
    );
    i18n.onChange(() => this.draw());
  }

  setState({ reviewing, playouts }) {
    if (!PLAYOUTS.includes(playouts) && ![...this.playouts.options].some(({ value }) => Number(value) === playouts)) {
      this.playouts.append(h("option", { value: playouts, text: playouts.toLocaleString() }));
    }
    this.playouts.value = String(playouts);
    this.set(reviewing);
  }

  set(state) {
    this.state = state;
    this.draw();
  }

  draw() {
    const { state } = this;
    if (!state) return;
    const isRunning = state.status === "running";
    const isEmpty = state.status === "idle" && !state.games;
    this.pause.textContent = i18n.t(this.canContinue() ? "games.reviewing.go" : "games.reviewing.pause");
    this.progress.hidden = this.place.hidden = !isRunning;
    if (!isRunning) {
      this.text.textContent = i18n.t(`games.reviewing.${isEmpty ? "nothing" : state.status}`, { ...state, left: state.left.toLocaleString() });
      return;
    }
    const names = state.names.map((name) => name || i18n.t("games.nobody")).join(" – ");
    this.text.textContent = i18n.t("games.reviewing.game", { number: state.games - state.left + 1, games: state.games, names });
    this.progress.value = state.position / state.positions;
    const place = i18n.t("games.reviewing.position", state);
    const rest = state.seconds === null ? [] : [i18n.t("games.reviewing.rest", { time: time(state.seconds) })];
    this.place.textContent = [place, ...rest].join(i18n.current() === "ja" ? "、" : ", ");
  }

  canContinue() {
    return ["paused", "failed"].includes(this.state.status);
  }

  async toggle() {
    await socket.request("games.pause", { isPaused: !this.canContinue() });
  }

  async choose() {
    await socket.request("games.playouts", { playouts: Number(this.playouts.value) });
  }
}

function time(seconds) {
  const units = [
    ["days", 86400],
    ["hours", 3600],
    ["minutes", 60],
    ["seconds", 1],
  ];
  const [name, length] = units.find(([, one]) => seconds >= 1.5 * one) ?? units.at(-1);
  return i18n.t(`games.reviewing.${name}`, { count: Math.max(1, Math.round(seconds / length)) });
}
