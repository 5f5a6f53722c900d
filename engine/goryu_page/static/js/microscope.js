// The view "Microscope": a search, step by step. The server has all numbers; this file shows and animates them.

import { h, onKeys, setAddress } from "./dom.js";
import * as i18n from "./i18n.js";
import { Picture } from "./microscope-picture.js";
import { Panel } from "./microscope-panel.js";
import { editButton } from "./position-editor.js";
import * as socket from "./socket.js";
import { html, live, nothing, render, selectField } from "./template.js";

const { t } = i18n;
const DEFAULTS = { game: "tictactoe", text: "", algorithm: "puct", network: "network" };
const OWN = "*"; // In the list of the examples: a position of the user.
const MOST_SHOWN = { depth: 60, width: 600 };
const MOST_ADDRESS = 1000; // Characters of a position.
const SLOWEST_MS = 3000;
const ANIMATED_MS = 260; // Faster steps are not animated.
const DELETING_MS = 3000; // When the root moves, one can see what is deleted.

export function mount(section) {
  microscope = new Microscope(section);
}

/** Begins the search of the form, or a given one, as `open` describes it. */
export async function begin(wanted) {
  if (wanted) microscope.open(wanted);
  else if (microscope.catalogue) await microscope.begin();
}

/** argument: a shogi position, such as an SFEN, to look at; or what `setAddress` has written. */
export function show(argument) {
  if (argument?.includes("=")) microscope.open(Object.fromEntries(new URLSearchParams(argument)));
  else if (argument) microscope.open({ game: "shogi", text: argument });
  else if (microscope.shown) microscope.setAddress();
}

export function hide() {
  microscope.pause();
}

let microscope = null;

class Microscope {
  constructor(section) {
    this.section = section;
    this.catalogue = null;
    this.chosen = { ...DEFAULTS };
    this.parameters = {}; // The texts of their fields, by name.
    this.limits = { depth: "4", width: "6" }; // Likewise.
    this.playout = "100";
    this.speed = 45;
    this.status = "";
    this.step = 0;
    this.shown = null;
    this.node = "";
    this.isRunning = false;
    this.isWaiting = false; // For a reply.
    this.hasBegun = false;
    this.beginning = null; // The promise of the search that begins.
    this.wanted = null; // The step that was asked for last.
    this.isNarrow = matchMedia("(max-width: 900px)").matches; // When the view is opened.
    this.picture = new Picture((id) => this.select(id));
    onKeys(this.picture.element, () => this.keys());
    this.panel = new Panel({ select: (id) => this.select(id), move: (move) => this.moveRoot(move) });
    this.columns = h("div", { class: "columns" });
    section.append(this.columns);
    socket.on("microscope.progress", ({ playouts }) => {
      if (this.isWaiting) this.tell(t("microscope.working", { count: playouts }));
    });
    socket.onConnected((isNew) => this.connect(isNew));
    i18n.onChange(() => this.translate());
  }

  // Drawing.

  draw() {
    this.picture.element.setAttribute("aria-label", t("microscope.graph"));
    render(this.view(), this.columns);
  }

  tell(status) {
    this.status = status;
    this.draw();
  }

  get game() {
    return this.catalogue.games[this.chosen.game];
  }

  get algorithm() {
    return this.catalogue.algorithms[this.chosen.algorithm];
  }

  view() {
    const { catalogue } = this;
    return html`<div class="main stack">
        <div class="graph">${this.picture.element}${this.zoomView()}</div>
        ${this.transportView()}
        <p class="progress number" role="status">${this.status}</p>
        <div class="panel about stack">${catalogue ? aboutView(this.algorithm) : nothing}</div>
      </div>
      <div class="side">
        <details class="panel setup" ?open=${!this.isNarrow}><summary>${t("microscope.setup")}</summary>${catalogue ? this.formView() : nothing}</details>
        ${this.panel.element}
      </div>`;
  }

  zoomView() {
    const one = (key, sign, call) => html`<button class="icon" type="button" aria-label=${t(key)} title=${t(key)} @click=${call}>${sign}</button>`;
    return html`<div class="zoom">
      ${one("microscope.in", "＋", () => this.picture.zoom(1.3))}${one("microscope.out", "－", () => this.picture.zoom(1 / 1.3))}${one("microscope.fit", "⤢", () => this.picture.showWhole())}
    </div>`;
  }

  transportView() {
    const { shown } = this;
    const isAtEnd = Boolean(shown?.is_last && !shown.can_go_on);
    const one = (key, name, call, isDisabled = false) => html`<button class="icon" type="button" aria-label=${t(key)} title=${t(key)} ?disabled=${isDisabled} @click=${call}>${icon(name)}</button>`;
    const [speed, jump] = [t("microscope.speed"), t("microscope.jump")];
    const unit = this.catalogue && t(this.algorithm.playouts ? "microscope.playout" : "microscope.visited");
    return html`<div class="transport">
      <div class="row">
        ${one("microscope.first", "first", () => this.go(0))}${one("microscope.back", "back", () => this.go(this.step - 1), shown?.step === 0)}
        ${one("microscope.step", "step", () => this.go(this.step + 1), isAtEnd)}
        ${this.isRunning ? one("microscope.pause", "pause", () => this.toggle()) : one("microscope.run", "run", () => this.toggle())}
        ${one("microscope.last", "last", () => this.go((shown?.steps ?? 1) - 1), Boolean(shown?.is_last))}
      </div>
      <label class="row speed"><span class="muted small">${speed}</span><input type="range" min="0" max="100" aria-label=${speed} title=${speed} .value=${String(this.speed)} @input=${(event) => (this.speed = Number(event.target.value))} /></label>
      <form class="row jump" @submit=${(event) => (event.preventDefault(), this.jump())}>
        <input type="number" min="0" class="playout" aria-label=${jump} title=${jump} .value=${live(this.playout)} @input=${(event) => (this.playout = event.target.value)} /><span class="muted">${unit}</span
        ><button class="icon" type="submit" aria-label=${jump} title=${jump}>${icon("jump")}</button>
      </form>
      <div class="row shown">${this.limitView("depth")}${this.limitView("width")}</div>
    </div>`;
  }

  limitView(name) {
    const change = (event) => {
      this.limits[name] = event.target.value;
      this.refresh();
    };
    return html`<label class="row short"><span class="muted small">${t(`microscope.${name}`)}</span><input type="number" min="1" max=${MOST_SHOWN[name]} .value=${this.limits[name]} @change=${change} /></label>`;
  }

  formView() {
    const { chosen, game, algorithm } = this;
    const { games, algorithms } = this.catalogue;
    const isExample = game.examples.some(([text]) => text === chosen.text);
    const type = (event) => this.choose({ text: event.target.value });
    const fields = algorithm.parameters.map((one) => this.parameterView(one));
    return html`<form class="stack" @submit=${(event) => (event.preventDefault(), this.begin(true), this.picture.element.focus())}>
      <div class="pair">
        ${selectField(t("microscope.game"), Object.keys(games).map((name) => [name, t(`game.${name}`)]), chosen.game, (name) => (this.chooseGame(name), this.begin(true)))}
        ${selectField(t("microscope.example"), [...game.examples, [OWN, t("microscope.own")]], isExample ? chosen.text : OWN, (text) => this.chooseExample(text))}
      </div>
      <label class="field"><span>${t("microscope.text")}</span><textarea rows="1" spellcheck="false" .value=${live(chosen.text)} @input=${type}></textarea></label>
      <p class="muted small">${game.help}</p>
      ${chosen.game === "shogi" ? editButton(() => (/^(\S+\/){8}/.test(chosen.text) ? chosen.text : "")) : nothing}
      <div class="pair">
        ${selectField(t("microscope.algorithm"), Object.entries(algorithms).filter(([name]) => this.canSearch(chosen.game, name)).map(([name, one]) => [name, one.title]), chosen.algorithm, (name) => this.chooseAlgorithm(name))}
        ${selectField(t("microscope.network"), game.networks, chosen.network, (network) => this.choose({ network }), { isHidden: algorithm.uses === "rules" })}
      </div>
      <details ?hidden=${!fields.length}><summary class="small">${t("microscope.numbers")}</summary><div class="parameters">${fields}</div></details>
      <button class="primary" type="submit">${t("microscope.begin")}</button>
    </form>`;
  }

  parameterView({ name, about, least, most, is_whole: isWhole }) {
    const type = (event) => (this.parameters[name] = event.target.value);
    return html`<label><span><b>${name}</b> <span class="muted small">${about}</span></span>
      <input type="number" name=${name} min=${least} max=${most} step=${isWhole ? 1 : "any"} .value=${live(this.parameters[name])} @input=${type} /></label>`;
  }

  // Connection and language.

  async connect(isNew) {
    await this.load();
    const state = isNew || this.pending ? null : await socket.request("microscope.state");
    if (!state) return this.begin();
    if (!this.hasBegun) this.restore(state);
    await this.refresh();
  }

  /** Fills the form with the search that the server still has, after a reload. */
  restore({ game, position, algorithm, network, values, step }) {
    this.chosen = { game, text: position, algorithm, network };
    this.parameters = { ...this.defaults(), ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)])) };
    this.running = algorithm;
    this.hasBegun = true;
    this.step = step;
  }

  async load() {
    this.catalogue = await socket.request("microscope.catalogue", { language: i18n.current() });
    this.picture.style(this.catalogue.style);
    this.parameters = { ...this.defaults(), ...this.parameters };
    this.choose({ network: this.networkOf(this.chosen.game) });
  }

  async translate() {
    this.draw();
    if (!this.catalogue) return;
    await this.load();
    await this.refresh();
  }

  // The form.

  choose(changes) {
    Object.assign(this.chosen, changes);
    this.draw();
  }

  /** The position and the parameters of another game are its usual ones. */
  chooseGame(game, text = "") {
    const algorithm = this.canSearch(game, this.chosen.algorithm) ? this.chosen.algorithm : DEFAULTS.algorithm;
    this.choose({ game, text, algorithm, network: this.networkOf(game) });
    this.parameters = this.defaults();
  }

  /** Shogi has no end to search to. */
  canSearch(game, algorithm) {
    return game !== "shogi" || !this.catalogue.algorithms[algorithm]?.whole;
  }

  /** Returns the chosen network, or the first one that plays the game. */
  networkOf(game) {
    const { networks } = this.catalogue.games[game];
    return networks.some(([one]) => one === this.chosen.network) ? this.chosen.network : networks[0][0];
  }

  chooseExample(text) {
    if (text !== OWN) this.choose({ text });
    else this.columns.querySelector(".setup textarea").focus();
  }

  chooseAlgorithm(algorithm) {
    this.chosen.algorithm = algorithm;
    this.parameters = this.defaults();
    this.draw();
  }

  /** Returns the usual values of the parameters. */
  defaults() {
    return Object.fromEntries(this.algorithm.parameters.map((one) => [one.name, String(Number(one.default.toPrecision(6)))]));
  }

  values() {
    const entries = this.algorithm.parameters.map(({ name }) => [name, this.parameters[name]]);
    return Object.fromEntries(entries.filter(([, text]) => text !== "").map(([name, text]) => [name, Number(text)]));
  }

  // Steps.

  /** wanted: game and text, and perhaps algorithm, network, step and values of parameters. */
  open(wanted) {
    if (this.shown && location.hash === this.address()) return;
    this.pending = wanted;
    if (this.catalogue) this.begin();
  }

  address() {
    const usual = this.defaults();
    const values = Object.fromEntries(Object.entries(this.parameters).filter(([name, value]) => name in usual && value !== usual[name]));
    const all = new URLSearchParams({ ...this.chosen, ...values, step: String(this.step) });
    return `#microscope/${encodeURIComponent(String(all))}`;
  }

  setAddress(isAnother = false) {
    if (this.chosen.text.length <= MOST_ADDRESS) setAddress(this.section, this.address(), isAnother);
  }

  /** Begins the search that the form describes and shows its start, unless another step is asked for meanwhile. isAnother: has the user asked for it? */
  async begin(isAnother = false) {
    this.pause();
    const { game, text, step = 0, ...others } = this.pending ?? {};
    this.pending = null;
    if (game in this.catalogue.games) {
      this.chooseGame(game, text);
      const { algorithm = this.chosen.algorithm, network = this.chosen.network, ...values } = others;
      if (algorithm in this.catalogue.algorithms) this.choose({ algorithm, network });
      this.parameters = { ...this.defaults(), ...values };
    }
    this.tell(t("microscope.working", { count: 0 }));
    this.step = Number(step) || 0; // A refresh meanwhile asks for it, too.
    const asked = this.wanted;
    this.beginning = this.beginSearch();
    try {
      await this.beginning;
    } catch (error) {
      if (this.shown) {
        this.step = this.shown.step;
        this.describe();
      }
      throw error;
    }
    if (isAnother) this.setAddress(true);
    if (this.wanted === asked) await this.ask({ step: this.step });
  }

  async beginSearch() {
    const { game, text, algorithm, network } = this.chosen;
    const content = { game, position: text, algorithm, network };
    await socket.request("microscope.new", { ...content, values: this.values() });
    this.running = algorithm;
    this.hasBegun = true;
    this.node = "";
    this.picture.clear();
  }

  async jump() {
    this.pause();
    await this.ask({ playout: Number(this.playout) });
  }

  async go(step) {
    this.pause();
    if (step >= 0) await this.ask({ step }, step === this.step + 1 ? this.interval() : 0);
  }

  async refresh() {
    if (this.hasBegun) await this.ask({ step: this.step });
  }

  /** Shows a step. animated: the time for its animation, 0 for none. The last request wins. */
  async ask(where, animated = 0) {
    const wanted = (this.wanted = {});
    await this.beginning?.catch(() => {}); // begin() reports the error.
    if (this.wanted !== wanted) return;
    this.isWaiting = true;
    const content = { ...where, node: this.node, language: i18n.current(), depth: this.limit("depth"), width: this.limit("width") };
    try {
      const shown = await socket.request("microscope.show", content);
      if (this.wanted !== wanted) return;
      this.isWaiting = false;
      const isNext = this.shown && shown.step === this.step + 1;
      this.shown = shown;
      this.step = shown.step;
      this.describe();
      await this.picture.show(shown, isNext && animated >= ANIMATED_MS ? animated : 0);
    } finally {
      if (this.wanted === wanted) this.isWaiting = false;
    }
  }

  describe() {
    const shown = this.shown;
    const algorithm = this.catalogue.algorithms[this.running];
    const counted = algorithm.playouts ? "microscope.count.playouts" : "microscope.count.visited";
    const parts = [
      t("microscope.status", {
        step: shown.step,
        steps: shown.steps - 1,
        more: shown.can_go_on ? "+" : "",
        count: t(counted, { count: shown.playouts }),
        positions: shown.positions,
      }),
    ];
    if (shown.is_last && !shown.can_go_on) parts.push(t(shown.is_complete ? "microscope.ended" : "microscope.enough"));
    this.tell(parts.join(" "));
    this.panel.show(shown, algorithm);
    this.setAddress();
  }

  /** Returns how much of the graph is asked for: "depth" or "width". */
  limit(name) {
    return Math.min(MOST_SHOWN[name], Math.max(1, Math.round(Number(this.limits[name])) || 1));
  }

  select(id) {
    this.node = id;
    this.picture.select(id);
    return this.ask({ step: this.step });
  }

  async moveRoot(move) {
    this.pause();
    const { steps } = await socket.request("microscope.move", { move });
    this.node = "";
    await this.ask({ step: steps - 1 }, DELETING_MS);
  }

  // Running.

  /** Returns the milliseconds of a step. */
  interval() {
    return SLOWEST_MS * 0.95 ** this.speed;
  }

  toggle() {
    if (this.isRunning) this.pause();
    else this.run();
  }

  pause() {
    this.isRunning = false;
    this.draw();
  }

  async run() {
    this.isRunning = true;
    this.draw();
    try {
      while (this.isRunning && !(this.shown.is_last && !this.shown.can_go_on)) {
        const pause = this.interval();
        const ends = performance.now() + pause;
        await this.ask({ step: this.step + 1 }, pause);
        await new Promise((resolve) => setTimeout(resolve, Math.max(10, ends - performance.now())));
      }
    } finally {
      this.pause();
    }
  }

  keys() {
    return {
      ArrowRight: () => this.go(this.step + 1),
      ArrowLeft: () => this.go(this.step - 1),
      Home: () => this.go(0),
      End: () => this.go(this.shown.steps - 1),
      " ": () => this.toggle(),
      "+": () => this.picture.zoom(1.3),
      "-": () => this.picture.zoom(1 / 1.3),
      f: () => this.picture.showWhole(),
    };
  }
}

const ICONS = {
  first: "M6 5v14M19 5l-9 7 9 7z",
  back: "M17 5l-10 7 10 7z",
  step: "M7 5l10 7-10 7z",
  run: "M4 6l8 6-8 6zM12 6l8 6-8 6z",
  pause: "M8 5v14M16 5v14",
  last: "M18 5v14M5 5l9 7-9 7z",
  jump: "M4 15a8 7 0 0 1 14-4M18 5v6h-6",
};

function icon(name) {
  return html`<svg class=${`symbol ${name}`} viewBox="0 0 24 24" width="18" height="18" aria-hidden="true"><path d=${ICONS[name]} /></svg>`;
}

function aboutView({ title, about, formula, file }) {
  return html`<h2>${title}</h2><p>${about}</p><p class="formula">${formula}</p><p class="muted small">${file}</p>`;
}
