// The view "Review": opens a record, has its moves judged, and analyses whatever the user plays.

import { download, fileField, h, onDrop, setAddress, toast, toBase64 } from "./dom.js";
import { playFrom, taken } from "./handoff.js";
import * as i18n from "./i18n.js";
import { percent, SIDES } from "./judgement.js";
import { recall, recallJson, store } from "./memory.js";
import { editButton } from "./position-editor.js";
import { ACCEPT } from "./records.js";
import { Guess } from "./review-guess.js";
import { ReviewPanel } from "./review-panel.js";
import * as socket from "./socket.js";
import { button, html, options, render } from "./template.js";

const { t } = i18n;
const DEEPER = 10;
const MOST_PLAYOUTS = 100_000;
const DEPTHS = { 100: "quick", 400: "normal", 1000: "thorough", 3000: "slow", 10000: "exhaustive" }; // By playouts.
const MOST_BYTES = 1 << 20; // As Base64 it fits into a message (MOST_BYTES in socket.js).
const CHOSEN = "goryu.review.playouts";
const RECENT = "goryu.review.recent";
const MOST_RECENT = 8;
const MOST_RECENT_TEXT = 60_000;

let view = null;

export function mount(section) {
  view = new ReviewView(section);
}

/** argument: KEY/PLY of a game: its number in My games, or what the browser calls a recent one. */
export function show(argument = "") {
  if (argument === "file") view.openFromCommandLine();
  else if (argument === "played") view.openPlayed();
  else view.arrive(...argument.split("/"));
}

export function hide() {
  view.panel.threat.end();
  view.live(null);
}

class ReviewView {
  constructor(section) {
    this.section = section;
    this.isRunning = false;
    this.deep = null; // How far the deeper search of the mistakes is.
    this.told = null; // The positions that were reported since the state was asked for.
    this.key = ""; // Of the game, in the address.
    this.isOpening = false;
    this.opener = h("div", { class: "panel opener stack" });
    section.append(this.opener);
    this.file = fileField({ accept: ACCEPT }, ([file]) => this.openFile(file));
    this.choosePlayouts();
    this.panel = new ReviewPanel(section, this);
    this.guess = new Guess(this);
    i18n.onChange(() => this.drawOpener());
    this.listen();
  }

  // Opening.

  drawOpener() {
    this.opener.hidden = this.panel.state !== null;
    const isOpening = this.isOpening; // What has been pasted stays, for the case that it cannot be read.
    render(html`<p role="status" ?hidden=${!isOpening}>${t("page.loading")}</p><div class="stack" ?hidden=${isOpening}>${this.openerView()}</div>`, this.opener);
  }

  openerView() {
    const paste = t("review.paste");
    const games = readRecent();
    return html`<h2>${t("review.intro")}</h2>
      <p>${t("review.drop")}</p>
      <p class="small muted">${t("review.formats")}</p>
      <div class="row">${button("review.open", () => this.file.click(), { className: "primary" })}${editButton(() => "")}${this.file}</div>
      <textarea rows="6" spellcheck="false" placeholder=${paste} aria-label=${paste} title=${paste}></textarea>
      <div class="row">${button("review.paste.open", () => this.openText(this.opener.querySelector("textarea").value))}</div>
      <div ?hidden=${!games.length}><h3>${t("review.recent")}</h3><ul class="recent">${games.map((game) => this.recentView(game))}</ul></div>`;
  }

  recentView({ date, title, ...source }) {
    const when = new Date(date).toLocaleString(i18n.current());
    return html`<li class="row">
      <button type="button" class="quiet" title=${source.name} @click=${() => this.open(source)}>${title ?? source.name}</button><span class="small muted">${when}</span>
    </li>`;
  }

  actionsView() {
    const action = (name, call) => button(`review.${name}`, call, { className: "small" });
    const look = () => (location.hash = `#microscope/${encodeURIComponent(this.panel.state.shown().sfen)}`);
    const play = () => playFrom({ sfen: this.panel.state.game.start, moves: this.panel.state.line() });
    const label = t("review.playouts.label");
    const choose = (event) => {
      this.playouts = Number(event.target.value);
      store(CHOSEN, event.target.value);
      this.panel.draw();
    };
    const counts = [...new Set([...Object.keys(DEPTHS).map(Number), this.playouts])].map((count) => [count, depthText(count)]);
    return html`<div class="panel stack review-actions">
      <h2 title=${this.named.file}>${this.title()}</h2>
      <div class="row">${action("other", () => this.close())} ${action("guess", () => this.guess.open())} ${action("play", play)} ${action("microscope", look)} ${editButton(() => this.panel.state.shown().sfen, { className: "small" })}</div>
      <details class="stack" ?open=${!this.isRunning && !this.known()}>
        <summary>${t("review.settings")}</summary>
        <label class="row small" title=${t("review.playouts.title")}><span>${label}</span><select aria-label=${label} @change=${choose}>${options(counts, this.playouts)}</select></label>
        <div class="row">
          ${button("review.deepen", () => this.deepen(), { className: "small", title: t("review.deepen.title"), isDisabled: this.isRunning })}
          ${action("kif", () => this.export("kif"))} ${action("html", () => this.export("html"))}
        </div>
        <p class="small muted">${this.networkTexts?.[i18n.current()]}</p>
      </details>
    </div>`;
  }

  progressView() {
    const [share, progress] = this.deep ? deepProgress(this.deep) : this.progress();
    const [key, call] = this.isRunning ? ["review.stop", () => socket.request("review.stop")] : ["review.go", () => this.start()];
    const isHidden = !this.isRunning && this.known() === this.panel.state.data.positions.length;
    return html`<div class="row review-progress">
      <progress max="1" .value=${share} aria-label=${t("review.intro")} title=${t("review.intro")} ?hidden=${share === 1}></progress
      ><span class="small muted number" role="status">${progress}</span>${button(key, call, { className: "small", isHidden })}
    </div>`;
  }

  /** count: of the game that is shown; without one what the user chose last. */
  choosePlayouts(count = Number(recall(CHOSEN))) {
    this.playouts = count || 400; // PLAYOUTS in reviews.py.
  }

  listen() {
    onDrop(this.section, (given) => (given.files.length ? this.openFile(given.files[0]) : this.openText(given.getData("text/plain"))));
    document.addEventListener("paste", (event) => {
      if (this.section.hidden || /^(INPUT|TEXTAREA)$/.test(/** @type {Element} */ (event.target).tagName)) return;
      this.openText(event.clipboardData.getData("text/plain"));
    });
    socket.on("review.position", (message) => this.onPosition(message));
    socket.on("review.running", ({ isRunning }) => this.onRunning(isRunning));
    socket.on("review.live", (message) => this.panel.showLive(message));
    socket.on("review.threat", (message) => this.panel.threat.show(message));
    socket.on("review.deep", ({ type, ...progress }) => this.onDeep(progress));
    socket.on("review.message", ({ text }) => toast(text));
    socket.onConnected(async () => this.panel.opinion.setEngines(await socket.request("engines.list")));
    this.isConnected = new Promise((resolve) => (this.onFirst = resolve));
    socket.onConnected(async () => {
      const told = (this.told = []); // They may be missing in the state.
      const state = await socket.request("review.state").finally(() => {
        if (this.told === told) this.told = null;
      });
      if (state.game) {
        this.shows(state, this.panel.state !== null && state.key === this.key);
        for (const message of told) this.panel.update(message);
      } else if (this.source) await this.open(this.source, this.key, String(this.panel.state.place));
      this.onFirst();
    });
  }

  // Addresses.

  /** Shows what the address names; without a game that which is open. */
  async arrive(key = "", ply = "") {
    this.isOpening = Boolean(key) && !this.panel.state;
    this.drawOpener();
    await this.isConnected;
    if (key && key !== this.key) {
      const kept = readRecent().find((one) => keyOf(one) === key);
      if (kept || /^\d+$/.test(key)) return this.open(kept ?? {}, key, ply);
      toast(t("review.forgotten"));
    } else if (key && ply) this.panel.go(Number(ply));
    else if (key) this.begin();
    else if (this.panel.state) this.panel.follow(); // `hide` has ended the live analysis.
    this.isOpening = false;
    this.drawOpener();
    return this.setAddress();
  }

  setAddress(isAnother = false) {
    setAddress(this.section, this.key ? `#review/${this.key}/${this.panel.state.place}` : "#review", isAnother);
  }

  /** Begins with the user's first mistake, if the user played the game. */
  begin() {
    if (this.side !== null) this.guess.walk(this.side);
  }

  async openFromCommandLine() {
    await this.isConnected;
    if (this.panel.state) return;
    const file = await socket.request("session.file");
    await this.open({ name: file.name, content: file.content }, newKey());
  }

  async openPlayed() {
    const record = taken();
    if (record) await this.open(record, newKey());
    else await this.arrive();
  }

  async openFile(file) {
    if (file.size > MOST_BYTES) {
      toast(t("review.too.large", { name: file.name }), "error");
      return;
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    await this.open({ name: file.name, content: toBase64(bytes) });
  }

  async openText(text) {
    const name = t("review.pasted");
    if (new Blob([text]).size > MOST_BYTES) toast(t("review.too.large", { name }), "error");
    else if (text.trim()) await this.open({ name, text });
  }

  /**
   * Opens a record, {name, content} or {name, text}, or the game of My games whose number is the key, and begins its review.
   * key: that which an address names; without it the user has asked for another game.
   * ply: the position to show, as text; without it the user's own game begins with the first mistake.
   */
  async open(source, key = "", ply = "") {
    this.isOpening = !this.panel.state;
    this.drawOpener();
    const same = readRecent().find((one) => source.name && one.text === source.text && one.content === source.content);
    try {
      const state = await socket.request("review.open", { ...source, key: same ? keyOf(same) : key || newKey(), playouts: this.playouts });
      this.shows(state, false);
      this.setAddress(!key);
    } finally {
      this.isOpening = false;
      this.drawOpener();
    }
    this.source = source;
    if (source.name) remember({ ...source, key: this.key, title: this.title() });
    if (this.side !== null) this.panel.board.setOrientation(this.side ? "white" : "black");
    if (ply) this.panel.go(Number(ply));
    else this.begin();
    if (this.known() < this.panel.state.data.positions.length) await this.start();
  }

  shows(state, keepsPlace) {
    const { at, branch } = this.panel.state ?? {};
    if (!keepsPlace) this.guess.reset();
    this.liveKey = null; // The server has stopped the analysis of the position that was shown before.
    this.key = state.key;
    this.side = state.side;
    this.choosePlayouts(state.game.playouts);
    this.isRunning = state.isRunning;
    this.counted = this.deep = null;
    this.named = { file: state.file, date: state.date, names: state.game.names, isHandicap: state.game.isHandicap };
    this.networkTexts = state.network;
    this.panel.load(state);
    if (keepsPlace && branch) this.panel.playLine(branch.at, branch, branch.depth, branch.before);
    else if (keepsPlace) this.panel.go(at);
    this.drawOpener();
  }

  close() {
    if (this.isRunning) socket.request("review.stop");
    this.panel.threat.end();
    this.live(null);
    this.guess.reset();
    this.panel.close();
    this.source = null;
    this.key = "";
    this.setAddress(true);
    this.opener.querySelector("textarea").value = "";
    this.drawOpener();
  }

  // The review.

  async start() {
    const asked = (this.asked = {});
    this.isRunning = true;
    this.deep = null;
    this.counted = this.known();
    this.panel.draw();
    try {
      await socket.request("review.start", { playouts: this.playouts });
    } finally {
      // Else another game's review runs now.
      if (this.asked === asked) {
        this.onRunning(false);
        this.guess.onChange();
      }
    }
  }

  /** Searches the mistakes with more playouts. */
  async deepen() {
    this.isRunning = true;
    const playouts = Math.min(MOST_PLAYOUTS, DEEPER * this.playouts);
    this.deep = { done: 0, of: null, ply: null, share: 0, playouts, state: "runs" };
    const deep = (this.asked = this.deep);
    this.panel.draw();
    try {
      const { isWhole } = await socket.request("review.deepen", { playouts });
      deep.state = isWhole ? "done" : "stopped";
    } finally {
      if (deep.state === "runs") deep.state = "stopped";
      if (this.asked === deep) this.isRunning = false;
      this.panel.draw();
    }
  }

  /** Takes how far the deeper search is: {done, of, ply, share}. */
  onDeep(progress) {
    if (!this.deep) return;
    Object.assign(this.deep, progress);
    this.panel.draw();
  }

  /** Takes whether a review runs; one that was begun over an earlier connection has no other way to say so. */
  onRunning(isRunning) {
    this.isRunning = isRunning;
    if (!isRunning) this.counted = null;
    this.panel.draw();
  }

  onPosition(message) {
    this.told?.push(message);
    if (!this.panel.state) return;
    this.counted = message.known;
    this.panel.update(message);
    this.guess.onChange();
  }

  /** Returns how many positions have the wanted number of playouts. */
  known() {
    const wanted = this.playouts;
    const { positions } = this.panel.state.data;
    return positions.filter((position) => position && (position.isFinal || position.playouts >= wanted)).length;
  }

  /** Returns the share of the positions that are known, and what the page says of it. */
  progress() {
    const known = this.counted ?? this.known();
    const all = this.panel.state.data.positions.length;
    const isDone = known === all && !this.isRunning;
    return [known / all, isDone ? t("review.done", { playouts: this.playouts.toLocaleString() }) : t("review.progress", { known, all })];
  }

  /** Names the game by its players and its day; one without names by its file. */
  title() {
    const { file, date, names } = this.named;
    const players = names.map((name, side) => `${SIDES[side]}${name || i18n.ofGame(t(side ? "board.white" : "board.black"), this.named)}`);
    return names.some(Boolean) ? [...players, date].join(" ") : file;
  }

  // What the panel asks for.

  explore(moves) {
    return socket.request("review.explore", { moves });
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
    return socket.request("engines.opinion", { engine, start: this.panel.state.game.start, moves });
  }

  async export(kind) {
    const { name, content } = await socket.request("review.export", { kind });
    download(name, content, kind === "html" ? "text/html;charset=utf-8" : undefined);
  }
}

/** Returns the share of the deeper search that is done, and what the page says of it. */
function deepProgress({ done, of, ply, share, playouts, state }) {
  const running = ply === null ? "review.deep.begins" : "review.deep";
  const key = of === 0 ? "review.deep.none" : { runs: running, done: "review.deep.done", stopped: "review.deep.stopped" }[state];
  const isUnknown = of === null && state !== "runs";
  const text = isUnknown ? "" : t(key, { done, of, ply, share: percent(share), playouts: playouts.toLocaleString() });
  return [state === "done" ? 1 : share, text];
}

// Recent games, kept by the browser.

function readRecent() {
  const found = recallJson(RECENT);
  return Array.isArray(found) ? found : [];
}

/** Returns the name of a recent game in the address; games of My games have numbers. @type {(game: { key?: string, date: number }) => string} */
function keyOf({ key, date }) {
  return key ?? `r${date.toString(36)}`;
}

function newKey() {
  return keyOf({ date: Date.now() });
}

/** Returns the name of a number of playouts, if there is one. */
function depthText(count) {
  return DEPTHS[count] ? t(`review.depth.${DEPTHS[count]}`) : count.toLocaleString();
}

function remember(source) {
  const size = (source.text ?? source.content).length;
  if (size > MOST_RECENT_TEXT) return;
  const same = (one) => one.text === source.text && one.content === source.content;
  const games = [{ ...source, date: Date.now() }, ...readRecent().filter((one) => !same(one))];
  store(RECENT, JSON.stringify(games.slice(0, MOST_RECENT)));
}
