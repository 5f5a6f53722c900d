// The view "Review": opens a record, has its moves judged, and analyses whatever the user plays.

import { download, fileField, h, onDrop, toast, toBase64 } from "./dom.js";
import { playFrom, taken } from "./handoff.js";
import * as i18n from "./i18n.js";
import { percent } from "./judgement.js";
import { ACCEPT } from "./records.js";
import { Guess } from "./review-guess.js";
import { ReviewPanel } from "./review-panel.js";
import * as socket from "./socket.js";

const DEEPER = 10;
const MOST_PLAYOUTS = 100_000;
const PLAYOUTS = [100, 200, 400, 1000, 3000, 10000];
const MOST_BYTES = 1 << 20;
const RECENT = "goryu.review.recent";
const MOST_RECENT = 8;
const MOST_RECENT_TEXT = 60_000;

let view = null;

export function mount(section) {
  view = new ReviewView(section);
}

export function show(argument) {
  if (argument === "file") view.openFromCommandLine();
  if (argument === "played") view.openPlayed();
}

export function hide() {
  view.panel.threat.end();
  view.panel.options.live(null);
}

class ReviewView {
  constructor(section) {
    this.section = section;
    this.isRunning = false;
    this.positions = 0;
    this.told = null; // The positions that were reported since the state was asked for.
    this.buildOpener();
    this.buildActions();
    this.panel = new ReviewPanel(section, {
      explore: (moves) => socket.request("review.explore", { moves }),
      live: (moves) => this.live(moves),
      threat: (moves) => this.threat(moves),
      opinion: (engine, moves) => this.askEngine(engine, moves),
      actions: [this.guessPlace, this.actions],
    });
    this.guess = new Guess(this.panel, {
      judge: (index, move) => socket.request("review.guess", { index, move }),
      onBegin: () => this.isRunning && socket.request("review.stop"),
    });
    this.guessPlace.append(this.guess.element);
    this.listen();
  }

  // Opening.

  buildOpener() {
    const input = fileField({ accept: ACCEPT }, ([file]) => this.openFile(file));
    this.text = h("textarea", { rows: 6, spellcheck: "false", dataset: { i18nPlaceholder: "review.paste", i18nLabel: "review.paste" } });
    this.recent = h("ul", { class: "recent" });
    this.recentPart = h("div", { hidden: true }, h("h3", { dataset: { i18n: "review.recent" } }), this.recent);
    this.opener = h(
      "div",
      { class: "panel opener stack" },
      h("h2", { dataset: { i18n: "review.intro" } }),
      h("p", { dataset: { i18n: "review.drop" } }),
      h("p", { class: "small muted", dataset: { i18n: "review.formats" } }),
      h("div", { class: "row" }, h("button", { type: "button", class: "primary", on: { click: () => input.click() }, dataset: { i18n: "review.open" } }), input),
      this.text,
      h("div", { class: "row" }, h("button", { type: "button", on: { click: () => this.openText(this.text.value) }, dataset: { i18n: "review.paste.open" } })),
      this.recentPart,
    );
    this.section.append(this.opener);
    this.drawRecent();
  }

  buildActions() {
    this.playouts = h("select", { dataset: { i18nLabel: "review.playouts.label" } }, ...PLAYOUTS.map((count) => h("option", { value: count, text: count.toLocaleString() })));
    this.choosePlayouts();
    this.playouts.addEventListener("change", () => localStorage.setItem("goryu.review.playouts", this.playouts.value));
    this.goButton = h("button", { type: "button", class: "primary", on: { click: () => (this.isRunning ? socket.request("review.stop") : this.start()) } });
    this.deepButton = h("button", { type: "button", class: "small", on: { click: () => this.deepen() }, dataset: { i18n: "review.deepen" } });
    this.progress = h("progress", { max: 1, value: 0, dataset: { i18nLabel: "review.intro" } });
    this.progressText = h("span", { class: "small muted number", role: "status" });
    const save = (kind) => h("button", { type: "button", class: "small", on: { click: () => this.export(kind) }, dataset: { i18n: `review.${kind}` } });
    const look = () => (location.hash = `#microscope/${encodeURIComponent(this.panel.shown().sfen)}`);
    const microscope = h("button", { type: "button", class: "small", on: { click: look }, dataset: { i18n: "review.microscope" } });
    const action = (name, call) => h("button", { type: "button", class: "small", on: { click: call }, dataset: { i18n: `review.${name}` } });
    const play = () => playFrom({ sfen: this.panel.data.game.start, moves: this.panel.line() });
    this.guessPlace = h("div", { class: "guess-place" });
    this.title = h("h2", {});
    this.network = h("span", { class: "small muted" });
    this.actions = h(
      "div",
      { class: "panel stack review-actions" },
      this.title,
      h("div", { class: "row" }, h("label", { class: "row small" }, h("span", { dataset: { i18n: "review.playouts.label" } }), this.playouts), this.goButton),
      h("div", { class: "row" }, this.progress, this.progressText),
      h("div", { class: "row" }, this.deepButton),
      this.network,
      h("div", { class: "row" }, h("button", { type: "button", class: "small", on: { click: () => this.close() }, dataset: { i18n: "review.other" } }), save("kif"), save("html"), microscope, action("guess", () => this.guess.open()), action("play", play)),
    );
    i18n.onChange(() => {
      this.drawProgress();
      this.drawNetwork();
      this.drawTitle();
    });
  }

  /** Chooses so many playouts if the list has them, else what the user chose last. */
  choosePlayouts(count) {
    const chosen = [count, Number(localStorage.getItem("goryu.review.playouts")), 400];
    this.playouts.value = chosen.find((one) => PLAYOUTS.includes(one));
  }

  listen() {
    onDrop(this.section, (given) => (given.files.length ? this.openFile(given.files[0]) : this.openText(given.getData("text/plain"))));
    document.addEventListener("paste", (event) => {
      if (this.section.hidden || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
      this.openText(event.clipboardData.getData("text/plain"));
    });
    socket.on("review.position", (message) => this.onPosition(message));
    socket.on("review.running", ({ isRunning }) => this.onRunning(isRunning));
    socket.on("review.live", (message) => this.panel.showLive(message));
    socket.on("review.threat", (message) => this.panel.showThreat(message));
    socket.on("review.deep", ({ type, ...progress }) => this.onDeep(progress));
    socket.on("review.message", ({ text }) => toast(text));
    socket.onConnected(async () => this.panel.opinion.setEngines(await socket.request("engines.list")));
    socket.onConnected(async () => {
      const told = (this.told = []); // They may be missing in the state.
      const state = await socket.request("review.state").finally(() => {
        if (this.told === told) this.told = null;
      });
      if (state.game) {
        this.shows(state, this.panel.data !== null);
        for (const message of told) this.panel.update(message);
        this.drawProgress();
      } else if (this.source) await this.open(this.source);
    });
  }

  async openFromCommandLine() {
    if (this.source || this.panel.data) return;
    await connected();
    const file = await socket.request("session.file");
    await this.open({ name: file.name, content: file.content });
  }

  async openPlayed() {
    const record = taken();
    if (!record) return;
    const { ply, playouts, side, ...source } = record;
    this.choosePlayouts(playouts);
    this.panel.board.setOrientation(side === 1 ? "white" : "black");
    await this.open(source, ply);
  }

  async openFile(file) {
    if (file.size > MOST_BYTES) {
      toast(i18n.t("review.too.large", { name: file.name }), "error");
      return;
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    await this.open({ name: file.name, content: toBase64(bytes) });
  }

  async openText(text) {
    const name = i18n.t("review.pasted");
    if (new Blob([text]).size > MOST_BYTES) toast(i18n.t("review.too.large", { name }), "error");
    else if (text.trim()) await this.open({ name, text });
  }

  /** Opens a record, {name, content} or {name, text}, at the position after `ply` moves, and begins its review. */
  async open(source, ply = 0) {
    const state = await socket.request("review.open", { ...source, playouts: Number(this.playouts.value) });
    this.source = source;
    this.shows(state, false);
    this.remember({ ...source, title: this.title.textContent });
    if (ply) this.panel.go(ply);
    if (this.known() < this.positions) await this.start();
  }

  shows(state, keepsPlace) {
    const { at, branch } = this.panel;
    this.opener.hidden = true;
    if (!keepsPlace) this.guess.reset();
    this.liveKey = null; // The server has stopped the analysis of the position that was shown before.
    this.isRunning = state.isRunning;
    this.positions = state.positions.length;
    this.counted = this.deep = null;
    this.named = { file: state.file, date: state.date, names: state.game.names };
    this.drawTitle();
    this.networkTexts = state.network;
    this.drawNetwork();
    this.panel.load(state);
    if (keepsPlace && !branch) this.panel.go(at);
    this.drawProgress();
  }

  close() {
    if (this.isRunning) socket.request("review.stop");
    this.panel.threat.end();
    this.panel.options.live(null);
    this.guess.reset();
    this.panel.root.hidden = true;
    this.panel.data = null;
    this.source = null;
    this.opener.hidden = false;
    this.drawRecent();
    this.text.value = "";
  }

  // The review.

  async start() {
    this.isRunning = true;
    this.deep = null;
    this.counted = this.known();
    this.drawProgress();
    try {
      await socket.request("review.start", { playouts: Number(this.playouts.value) });
    } finally {
      this.isRunning = false;
      this.counted = null;
      this.drawProgress();
    }
  }

  /** Searches the mistakes with more playouts. */
  async deepen() {
    this.isRunning = true;
    const playouts = Math.min(MOST_PLAYOUTS, DEEPER * Number(this.playouts.value));
    this.deep = { done: 0, of: null, ply: null, share: 0, playouts, state: "runs" };
    const { deep } = this;
    this.drawProgress();
    try {
      const { isWhole } = await socket.request("review.deepen", { playouts });
      deep.state = isWhole ? "done" : "stopped";
    } finally {
      if (deep.state === "runs") deep.state = "stopped";
      this.isRunning = false;
      this.drawProgress();
    }
  }

  /** Takes how far the deeper search is: {done, of, ply, share}. */
  onDeep(progress) {
    if (!this.deep) return;
    Object.assign(this.deep, progress);
    this.drawProgress();
  }

  /** Takes whether a review runs; one that was begun over an earlier connection has no other way to say so. */
  onRunning(isRunning) {
    this.isRunning = isRunning;
    if (!isRunning) this.counted = null;
    this.drawProgress();
  }

  onPosition(message) {
    this.told?.push(message);
    if (!this.panel.data) return;
    this.counted = message.known;
    this.panel.update(message);
    this.drawProgress();
  }

  /** Returns how many positions have the wanted number of playouts. */
  known() {
    const wanted = Number(this.playouts.value);
    const { positions } = this.panel.data;
    return positions.filter((position) => position && (position.isFinal || position.playouts >= wanted)).length;
  }

  drawProgress() {
    this.goButton.textContent = i18n.t(this.isRunning ? "review.stop" : "review.go");
    this.deepButton.disabled = this.isRunning;
    this.deepButton.title = i18n.t("review.deepen.title");
    if (!this.panel?.data) return;
    if (this.deep) {
      this.drawDeep();
      return;
    }
    const known = this.counted ?? this.known();
    this.progress.value = known / this.positions;
    const playouts = Number(this.playouts.value).toLocaleString();
    const isDone = known === this.positions && !this.isRunning;
    this.progressText.textContent = isDone ? i18n.t("review.done", { playouts }) : i18n.t("review.progress", { known, all: this.positions });
  }

  drawDeep() {
    const { done, of, ply, share, playouts, state } = this.deep;
    this.progress.value = state === "done" ? 1 : share;
    const running = ply === null ? "review.deep.begins" : "review.deep";
    const key = of === 0 ? "review.deep.none" : { runs: running, done: "review.deep.done", stopped: "review.deep.stopped" }[state];
    const isUnknown = of === null && state !== "runs";
    this.progressText.textContent = isUnknown ? "" : i18n.t(key, { done, of, ply, share: percent(share), playouts: playouts.toLocaleString() });
  }

  /** Names the game by its players and its day; one without names by its file. */
  drawTitle() {
    if (!this.named) return;
    const { file, date, names } = this.named;
    const players = names.map((name, side) => `${"▲△"[side]}${name || i18n.t(side ? "board.white" : "board.black")}`);
    this.title.textContent = names.some(Boolean) ? [...players, date].join(" ") : file;
    this.title.title = file;
  }

  drawNetwork() {
    this.network.textContent = this.networkTexts?.[i18n.current()] ?? "";
  }

  async live(moves) {
    const key = moves?.join(" ") ?? null;
    if (key === this.liveKey) return;
    this.liveKey = key;
    if (moves) await socket.request("review.live", { moves });
    else await socket.request("review.quiet");
  }

  /** Begins the analysis of a threat, or ends it. The server then ends the live analysis. */
  async threat(moves) {
    this.liveKey = null;
    await socket.request(moves ? "review.threat" : "review.quiet", moves ? { moves } : {});
  }

  /** Returns what an engine of the user thinks. The server then ends the live analysis. */
  askEngine(engine, moves) {
    this.liveKey = null;
    this.panel.threat.end();
    return socket.request("engines.opinion", { engine, start: this.panel.data.game.start, moves });
  }

  async export(kind) {
    const { name, content } = await socket.request("review.export", { kind });
    download(name, content, kind === "html" ? "text/html;charset=utf-8" : undefined);
  }

  // Recent games, kept by the browser.

  readRecent() {
    try {
      const found = JSON.parse(localStorage.getItem(RECENT) ?? "[]");
      return Array.isArray(found) ? found : [];
    } catch {
      return [];
    }
  }

  remember(source) {
    const size = (source.text ?? source.content).length;
    if (size > MOST_RECENT_TEXT) return;
    const same = (one) => one.text === source.text && one.content === source.content;
    const games = [{ ...source, date: Date.now() }, ...this.readRecent().filter((one) => !same(one))];
    localStorage.setItem(RECENT, JSON.stringify(games.slice(0, MOST_RECENT)));
  }

  drawRecent() {
    const games = this.readRecent();
    this.recentPart.hidden = !games.length;
    this.recent.replaceChildren(
      ...games.map(({ date, title, ...source }) => {
        const when = new Date(date).toLocaleString(i18n.current());
        const button = h("button", { type: "button", class: "quiet", on: { click: () => this.open(source) }, title: source.name, text: title ?? source.name });
        return h("li", { class: "row" }, button, h("span", { class: "small muted", text: when }));
      }),
    );
  }
}

function connected() {
  return new Promise((resolve) => socket.onConnected(() => resolve()));
}

