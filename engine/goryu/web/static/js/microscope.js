// The view "Microscope": a search, step by step. The server has all numbers; this file shows and animates them.

import { h, svg } from "./dom.js";
import * as i18n from "./i18n.js";
import { Picture } from "./microscope-picture.js";
import { Panel } from "./microscope-panel.js";
import * as socket from "./socket.js";

const DEFAULTS = { game: "tictactoe", algorithm: "puct", network: "network" };
const SLOWEST_MS = 3000;
const ANIMATED_MS = 260; // Faster steps are not animated.
const DELETING_MS = 3000; // When the root moves, one can see what is deleted.

export function mount(section) {
  microscope = new Microscope(section);
}

/** argument: a shogi position, such as an SFEN, to look at. */
export function show(argument) {
  if (argument) microscope.open("shogi", argument);
}

export function hide() {
  microscope.pause();
}

let microscope = null;

class Microscope {
  constructor(section) {
    this.catalogue = null;
    this.step = 0;
    this.shown = null;
    this.node = "";
    this.isRunning = false;
    this.isWaiting = false; // For a reply.
    this.hasBegun = false;
    this.beginning = null; // The promise of the search that begins.
    this.wanted = null; // The step that was asked for last.
    this.build(section);
    socket.on("microscope.progress", ({ playouts }) => {
      if (this.isWaiting) this.status.textContent = i18n.t("microscope.working", { count: playouts });
    });
    socket.onConnected((isNew) => this.connect(isNew));
    i18n.onChange(() => this.translate());
  }

  // The elements.

  build(section) {
    this.game = select("microscope.game", () => this.onGame());
    this.example = select("microscope.example", () => this.onExample());
    this.text = h("textarea", { rows: 1, spellcheck: "false", on: { input: () => this.onText() } });
    this.help = h("p", { class: "muted small" });
    this.algorithm = select("microscope.algorithm", () => this.onAlgorithm());
    this.network = select("microscope.network", () => {});
    this.parameters = h("div", { class: "parameters" });
    this.numbers = h("details", {}, h("summary", { class: "small", dataset: { i18n: "microscope.numbers" } }), this.parameters);
    const begin = h("button", { class: "primary", type: "submit", dataset: { i18n: "microscope.begin" } });
    this.form = h(
      "form",
      { class: "stack", on: { submit: (event) => (event.preventDefault(), this.begin()) } },
      h("div", { class: "pair" }, this.game.field, this.example.field),
      h("label", { class: "field" }, h("span", { dataset: { i18n: "microscope.text" } }), this.text),
      this.help,
      h("div", { class: "pair" }, this.algorithm.field, this.network.field),
      this.numbers,
      begin,
    );
    this.about = h("div", { class: "panel about stack" });
    const narrow = matchMedia("(max-width: 900px)").matches;
    const setup = h("details", { class: "panel setup", open: !narrow }, h("summary", { dataset: { i18n: "microscope.setup" } }), this.form);

    this.status = h("p", { class: "progress number", role: "status" });
    this.picture = new Picture((id) => this.select(id));
    this.picture.element.setAttribute("data-i18n-label", "microscope.graph");
    this.picture.element.addEventListener("keydown", (event) => this.onKey(event));
    const stage = h("div", { class: "graph" }, this.picture.element, this.zoomButtons());
    const main = h("div", { class: "main stack" }, stage, this.transport(), this.status, this.about);
    this.panel = new Panel({ select: (id) => this.select(id), move: (move) => this.moveRoot(move) });
    const side = h("div", { class: "side" }, setup, this.panel.element);
    section.append(h("div", { class: "columns" }, main, side));
  }

  transport() {
    const button = (key, name, call) => h("button", { class: "icon", type: "button", dataset: { i18nLabel: key }, on: { click: call } }, icon(name));
    this.backButton = button("microscope.back", "back", () => this.go(this.step - 1));
    this.runButton = button("microscope.run", "run", () => this.toggle());
    this.lastButton = button("microscope.last", "last", () => this.go((this.shown?.steps ?? 1) - 1));
    this.stepButton = button("microscope.step", "step", () => this.go(this.step + 1));
    this.speed = h("input", { type: "range", min: 0, max: 100, value: 45, dataset: { i18nLabel: "microscope.speed" } });
    this.playout = h("input", { type: "number", min: 0, value: 100, class: "playout", dataset: { i18nLabel: "microscope.jump" } });
    this.unit = h("span", { class: "muted" });
    this.depth = h("input", { type: "number", min: 1, max: 60, value: 4, on: { change: () => this.refresh() } });
    this.width = h("input", { type: "number", min: 1, max: 600, value: 6, on: { change: () => this.refresh() } });
    const jump = h(
      "form",
      { class: "row jump", on: { submit: (event) => (event.preventDefault(), this.jump()) } },
      this.playout,
      this.unit,
      h("button", { class: "icon", type: "submit", dataset: { i18nLabel: "microscope.jump" } }, icon("jump")),
    );
    return h(
      "div",
      { class: "transport" },
      h(
        "div",
        { class: "row" },
        button("microscope.first", "first", () => this.go(0)),
        this.backButton,
        this.stepButton,
        this.runButton,
        this.lastButton,
      ),
      h("label", { class: "row speed" }, h("span", { class: "muted small", dataset: { i18n: "microscope.speed" } }), this.speed),
      jump,
      h("div", { class: "row shown" }, short("microscope.depth", this.depth), short("microscope.width", this.width)),
    );
  }

  zoomButtons() {
    const button = (key, text, call) => h("button", { class: "icon", type: "button", text, dataset: { i18nLabel: key }, on: { click: call } });
    return h(
      "div",
      { class: "zoom" },
      button("microscope.in", "＋", () => this.picture.zoom(1.3)),
      button("microscope.out", "－", () => this.picture.zoom(1 / 1.3)),
      button("microscope.fit", "⤢", () => this.picture.showWhole()),
    );
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
    this.game.value = game;
    this.algorithm.value = algorithm;
    this.onGame();
    this.text.value = position;
    this.onText();
    this.network.value = network;
    for (const [name, value] of Object.entries(values)) this.inputs[name].value = value;
    this.running = algorithm;
    this.hasBegun = true;
    this.step = step;
  }

  async load() {
    this.catalogue = await socket.request("microscope.catalogue", { language: i18n.current() });
    this.picture.style(this.catalogue.style);
    this.fill();
  }

  async translate() {
    this.picture.element.setAttribute("aria-label", i18n.t("microscope.graph"));
    if (!this.catalogue) return;
    await this.load();
    await this.refresh();
  }

  /** Fills the choices, and keeps what was chosen. */
  fill() {
    const chosen = { game: this.game.value || DEFAULTS.game, algorithm: this.algorithm.value || DEFAULTS.algorithm };
    const { games, algorithms } = this.catalogue;
    options(this.game, Object.keys(games).map((name) => [name, i18n.t(`game.${name}`)]), chosen.game);
    options(this.algorithm, Object.entries(algorithms).map(([name, one]) => [name, one.title]), chosen.algorithm);
    this.onGame(true);
  }

  onGame(keeps = false) {
    const game = this.catalogue.games[this.game.value];
    const text = keeps ? this.text.value : "";
    const network = this.network.value || DEFAULTS.network;
    options(this.example, [...game.examples, ["*", i18n.t("microscope.own")]], game.examples.some(([one]) => one === text) ? text : "*");
    options(this.network, game.networks, game.networks.some(([one]) => one === network) ? network : game.networks[0][0]);
    this.text.value = text;
    this.help.textContent = game.help;
    this.onAlgorithm(keeps);
  }

  onExample() {
    if (this.example.value !== "*") this.text.value = this.example.value;
    else this.text.focus();
  }

  onText() {
    const examples = this.catalogue.games[this.game.value].examples.map(([text]) => text);
    this.example.value = examples.includes(this.text.value) ? this.text.value : "*";
  }

  onAlgorithm(keeps = false) {
    const algorithm = this.catalogue.algorithms[this.algorithm.value];
    const values = keeps ? this.values() : {};
    this.network.field.hidden = algorithm.uses === "rules";
    this.inputs = Object.fromEntries(algorithm.parameters.map((one) => [one.name, parameterInput(one, values[one.name])]));
    this.parameters.replaceChildren(
      ...algorithm.parameters.map((one) =>
        h("label", {}, h("span", {}, h("b", { text: one.name }), " ", h("span", { class: "muted small", text: one.about })), this.inputs[one.name]),
      ),
    );
    this.numbers.hidden = !algorithm.parameters.length;
    this.about.replaceChildren(
      h("h2", { text: algorithm.title }),
      h("p", { text: algorithm.about }),
      h("p", { class: "formula", text: algorithm.formula }),
      h("p", { class: "muted small", text: algorithm.file }),
    );
    this.unit.textContent = i18n.t(algorithm.playouts ? "microscope.playout" : "microscope.visited");
  }

  values() {
    const entries = Object.entries(this.inputs ?? {});
    return Object.fromEntries(entries.filter(([, input]) => input.value !== "").map(([name, input]) => [name, Number(input.value)]));
  }

  // Steps.

  open(game, text) {
    this.pending = { game, text };
    if (this.catalogue) this.begin();
  }

  /** Begins the search that the form describes and shows its start, unless another step is asked for meanwhile. */
  async begin() {
    this.pause();
    if (this.pending) {
      this.game.value = this.pending.game;
      this.onGame();
      this.text.value = this.pending.text;
      this.onText();
      this.pending = null;
    }
    this.status.textContent = i18n.t("microscope.working", { count: 0 });
    this.step = 0;
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
    if (this.wanted === asked) await this.ask({ step: 0 });
  }

  async beginSearch() {
    const algorithm = this.algorithm.value;
    const content = { game: this.game.value, position: this.text.value, algorithm, network: this.network.value };
    await socket.request("microscope.new", { ...content, values: this.values() });
    this.running = algorithm;
    this.hasBegun = true;
    this.node = "";
    this.picture.clear();
  }

  async jump() {
    this.pause();
    await this.ask({ playout: Number(this.playout.value) });
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
    const content = { ...where, node: this.node, language: i18n.current(), depth: count(this.depth), width: count(this.width) };
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
      i18n.t("microscope.status", {
        step: shown.step,
        steps: shown.steps - 1,
        more: shown.can_go_on ? "+" : "",
        count: i18n.t(counted, { count: shown.playouts }),
        positions: shown.positions,
      }),
    ];
    if (shown.is_last && !shown.can_go_on) parts.push(i18n.t(shown.is_complete ? "microscope.ended" : "microscope.enough"));
    this.status.textContent = parts.join(" ");
    this.backButton.disabled = shown.step === 0;
    this.lastButton.disabled = shown.is_last;
    this.stepButton.disabled = shown.is_last && !shown.can_go_on;
    this.panel.show(shown, algorithm, { game: this.game.value });
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
    return SLOWEST_MS * 0.95 ** Number(this.speed.value);
  }

  toggle() {
    if (this.isRunning) this.pause();
    else this.run();
  }

  pause() {
    this.isRunning = false;
    this.showRunning();
  }

  showRunning() {
    this.runButton.replaceChildren(icon(this.isRunning ? "pause" : "run"));
    const label = i18n.t(this.isRunning ? "microscope.pause" : "microscope.run");
    this.runButton.setAttribute("aria-label", label);
    this.runButton.title = label;
  }

  async run() {
    this.isRunning = true;
    this.showRunning();
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

  onKey(event) {
    const keys = {
      ArrowRight: () => this.go(this.step + 1),
      ArrowLeft: () => this.go(this.step - 1),
      Home: () => this.go(0),
      End: () => this.go(this.shown.steps - 1),
      " ": () => this.toggle(),
      "+": () => this.picture.zoom(1.3),
      "-": () => this.picture.zoom(1 / 1.3),
      f: () => this.picture.showWhole(),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
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
  return svg("svg", { class: `symbol ${name}`, viewBox: "0 0 24 24", width: 18, height: 18, "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

/** Returns a select whose `field` is its label with it. */
function select(key, onChange) {
  const element = h("select", { on: { change: onChange } });
  element.field = h("label", { class: "field" }, h("span", { dataset: { i18n: key } }), element);
  return element;
}

function options(element, entries, chosen) {
  element.replaceChildren(...entries.map(([value, text]) => h("option", { value, text })));
  element.value = chosen;
}

function short(key, input) {
  return h("label", { class: "row short" }, h("span", { class: "muted small", dataset: { i18n: key } }), input);
}

function parameterInput({ name, default: value, least, most, is_whole: isWhole }, given) {
  return h("input", { type: "number", name, min: least, max: most, step: isWhole ? 1 : "any", value: given ?? Number(value.toPrecision(6)) });
}

function count(input) {
  return Math.min(Number(input.max), Math.max(Number(input.min), Math.round(Number(input.value)) || Number(input.min)));
}
