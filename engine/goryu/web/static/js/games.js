// The view "My games": the list of games, how the user develops, and beside them import, review and backup.

import { h, toast } from "./dom.js";
import { BackupPanel } from "./games-backup.js";
import { ImportPanel } from "./games-import.js";
import { GameList } from "./games-list.js";
import { MePanel } from "./games-me.js";
import { ProgressCharts } from "./games-progress.js";
import { ReviewingPanel } from "./games-reviewing.js";
import * as i18n from "./i18n.js";
import * as socket from "./socket.js";

const REFRESH_MS = 1000; // While games are imported or reviewed, the page is redrawn this often at most.

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
    this.list = new GameList();
    this.progress = new ProgressCharts();
    this.importing = new ImportPanel(section);
    this.reviewing = new ReviewingPanel();
    this.me = new MePanel();
    this.backup = new BackupPanel();
    this.parts = { list: this.list.root, progress: this.progress.root };
    const link = (name) => h("a", { href: name === "list" ? "#games" : `#games/${name}`, class: `of-${name}`, dataset: { i18n: `games.tab.${name}` } });
    this.links = { list: link("list"), progress: link("progress"), side: link("side") };
    const tabs = h("nav", { class: "game-tabs", dataset: { i18nLabel: "games.tabs" } }, ...Object.values(this.links));
    this.side = h("div", { class: "side" }, this.importing.root, this.reviewing.root, this.me.root, this.backup.root);
    section.append(h("div", { class: "columns games-columns" }, h("div", { class: "left" }, tabs, this.list.root, this.progress.root), this.side));
    this.timer = null;
    NARROW.addEventListener("change", () => {
      if (this.shown === "side") this.show("side");
    });
    socket.on("games.changed", () => this.refreshSoon());
    socket.on("games.problem", ({ text }) => toast(text, "error"));
    socket.on("games.reviewing", (state) => this.reviewing.set(state));
    socket.onConnected(() => this.refresh());
  }

  show(argument) {
    const name = argument === "side" && !NARROW.matches ? "list" : argument;
    this.shown = name;
    for (const [one, link] of Object.entries(this.links)) {
      if (one === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    for (const [one, part] of Object.entries(this.parts)) part.hidden = one !== name;
    this.side.classList.toggle("shown", name === "side");
    this.refreshSoon();
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
      const told = this.reviewing.state;
      const state = await socket.request("games.state");
      if (this.reviewing.state !== told) state.reviewing = this.reviewing.state; // A report is newer, or a newer one follows.
      this.list.setState(state);
      this.importing.setState(state);
      this.reviewing.setState(state);
      this.me.setState(state);
      this.backup.setState(state);
      await (this.shown === "progress" ? this.progress.load() : this.list.load());
    } finally {
      setTimeout(() => (this.isRefreshing = false), REFRESH_MS);
    }
  }
}
