// The view "My games": the list of games, how the user develops, and beside them import, review and backup.

import { h, toast } from "./dom.js";
import { BackupPanel } from "./games-backup.js";
import { ImportPanel } from "./games-import.js";
import { GameList } from "./games-list.js";
import { meView } from "./games-me.js";
import { ProgressCharts } from "./games-progress.js";
import { reviewingView } from "./games-reviewing.js";
import * as i18n from "./i18n.js";
import * as socket from "./socket.js";
import { html, nothing, render } from "./template.js";

const REFRESH_MS = 1000; // While games are imported or reviewed, the page is redrawn this often at most.
const PARTS = ["list", "progress", "side"];
const NARROW = matchMedia("(max-width: 900px)"); // As in games.css.

let view = null;

export function mount(section) {
  view = new GamesView(section);
}

export function show(argument) {
  view.show(["progress", "side"].includes(argument) ? argument : "list");
}

class GamesView {
  constructor(section) {
    this.section = section;
    this.shown = "list"; // Or "progress"; on narrow windows also "side".
    this.state = { me: [], names: [], openings: [], faults: [], folders: [], games: 0, playouts: null, reviewing: null, file: null }; // The reply of "games.state".
    this.list = new GameList(this);
    this.progress = new ProgressCharts(this);
    this.importing = new ImportPanel(this);
    this.backup = new BackupPanel(this);
    this.root = h("div", { class: "columns games-columns" });
    section.append(this.root);
    this.timer = null;
    NARROW.addEventListener("change", () => (this.shown === "side" ? this.show("side") : this.draw()));
    socket.on("games.changed", () => this.refreshSoon());
    socket.on("games.problem", ({ text }) => toast(text, "error"));
    socket.on("games.reviewing", (state) => {
      this.state.reviewing = state;
      this.draw();
    });
    socket.onConnected(() => this.refresh());
    i18n.onChange(() => this.draw());
  }

  get isNarrow() {
    return NARROW.matches;
  }

  show(argument) {
    this.shown = argument === "side" && !NARROW.matches ? "list" : argument;
    this.draw();
    this.refreshSoon();
  }

  draw() {
    render(this.view(), this.root);
  }

  view() {
    const { shown } = this;
    const link = (name) => html`<a href=${name === "list" ? "#games" : `#games/${name}`} class=${`of-${name}`} aria-current=${name === shown ? "page" : nothing}>${i18n.t(`games.tab.${name}`)}</a>`;
    return html`<div class="left">
        <nav class="game-tabs" aria-label=${i18n.t("games.tabs")}>${PARTS.map(link)}</nav>
        ${this.list.view(shown !== "list")} ${this.progress.view(shown !== "progress")}
      </div>
      <div class=${shown === "side" ? "side shown" : "side"}>${this.importing.view()} ${reviewingView(this.state)} ${meView(this)} ${this.backup.view()}</div>`;
  }

  refreshSoon() {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      if (!this.section.hidden) this.refresh(); // The frame shows what fails.
    }, REFRESH_MS / 4);
  }

  async refresh() {
    if (this.isRefreshing) {
      this.refreshSoon();
      return;
    }
    this.isRefreshing = true;
    try {
      const told = this.state.reviewing;
      const state = await socket.request("games.state");
      if (this.state.reviewing !== told) state.reviewing = this.state.reviewing; // A report is newer, or a newer one follows.
      this.state = state;
      this.list.checkOpening();
      this.draw();
      await (this.shown === "progress" ? this.progress.load() : this.list.load());
    } finally {
      setTimeout(() => (this.isRefreshing = false), REFRESH_MS);
    }
  }
}
