// The form for a new game.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";

const { t } = i18n;

const GAMES = ["shogi", "reversi", "tictactoe"];
const BOARDS = { reversi: 8, reversi6: 6, reversi4: 4 };
const SIDES = ["first", "second", "random", "both"];
const CLOCKS = [
  { main: 0, byoyomi: 10, increment: 0 },
  { main: 0, byoyomi: 30, increment: 0 },
  { main: 10, byoyomi: 30, increment: 0 },
  { main: 30, byoyomi: 60, increment: 0 },
  { main: 3, byoyomi: 0, increment: 2 },
  { main: 5, byoyomi: 0, increment: 5 },
  { main: 15, byoyomi: 0, increment: 10 },
];
const UNITS = { "depth-limited": "agent.plies", value: "agent.plies", "flat-mc": "agent.games" };
const KEY = "goryu.setup";
const USER_ENGINE = "usi:"; // Begins the opponent's name if it is an engine of the user.

/**
 * The form. onStart(setup): the content of the message "play.new". onCancel(): back to the game. onDrop(): the
 * user does not want the given position.
 */
export class SetupForm {
  constructor(element, { onStart, onCancel, onDrop }) {
    this.onStart = onStart;
    this.onDrop = onDrop;
    this.given = null;
    this.options = null;
    this.engines = [];
    this.values = { game: "shogi", side: "first", level: 4, agents: {}, handicap: 0, clock: "none", lesson: false, threshold: 0.1, own: { main: 10, byoyomi: 30, increment: 0 }, ...stored() };
    this.form = h("form", { class: "stack", on: { submit: (event) => this.submit(event) } });
    this.cancel = h("button", { type: "button", class: "quiet", dataset: { i18n: "setup.cancel" }, on: { click: onCancel } });
    element.append(this.form);
    i18n.onChange(() => this.draw());
  }

  /** options: the reply of "play.options". */
  setOptions(options) {
    this.options = options;
    this.draw();
  }

  /** engines: the reply of "engines.list". */
  setEngines(engines) {
    const isSame = JSON.stringify(engines) === JSON.stringify(this.engines);
    this.engines = engines;
    if (!isSame) this.draw(); // Else what the user has opened meanwhile stays open.
  }

  /** Begins from a position of `handoff.playFrom`, with the side filled in; null: from the usual start. */
  give(given) {
    this.given = given;
    if (given) Object.assign(this.values, { game: "shogi", side: given.side });
    this.draw();
  }

  /** Is there a game to go back to? */
  setCancel(isPossible) {
    this.cancel.hidden = !isPossible;
  }

  /** Returns the name of an opponent in shogi: a level, or an engine of the user. */
  shogiName(opponent) {
    if (opponent.startsWith(USER_ENGINE)) return opponent.slice(USER_ENGINE.length);
    return this.options.levels.find((level) => level.name === opponent)?.[i18n.current()] ?? opponent;
  }

  /** Returns the name of an agent such as "uct:100" for people. */
  agentName(agent) {
    const [name, number] = agent.split(":");
    const text = t(`agent.${name}`);
    if (!number) return text;
    const unit = UNITS[name] ?? "agent.playouts";
    const amount = t(i18n.has(`${unit}.${number}`) ? `${unit}.${number}` : unit, { number });
    return `${text}${i18n.current() === "ja" ? "、" : ", "}${amount}`;
  }

  draw() {
    if (!this.options) return;
    const { values } = this;
    const isShogi = values.game === "shogi";
    this.form.replaceChildren(
      h("h2", { text: t("setup.title") }),
      this.given ? this.givenPosition() : this.choice("game", GAMES, (game) => t(`setup.${game}`), kindOf(values.game)),
      ...(values.game in BOARDS ? [this.boards()] : []),
      ...(isShogi ? this.shogiOpponents() : [this.agents()]),
      this.choice("side", SIDES, (side) => this.sideName(side)),
      ...(isShogi && !this.given ? [this.handicaps()] : []),
      this.clocks(),
      ...(isShogi && values.side !== "both" ? [this.lesson()] : []),
      ...(isShogi && !this.given ? [this.more()] : []),
      h("div", { class: "row" }, h("button", { class: "primary grow", text: t("setup.start") }), this.cancel),
    );
    this.cancel.textContent = t("setup.cancel");
  }

  sideName(side) {
    if (this.values.game !== "tictactoe" || side === "random" || side === "both") return t(`setup.side.${side}`);
    return side === "first" ? "×" : "○";
  }

  choice(name, options, label, chosen = this.values[name]) {
    const items = options.map((value) => {
      const input = h("input", { type: "radio", name, value, checked: chosen === value });
      input.addEventListener("change", () => this.set({ [name]: value }));
      return h("label", {}, input, h("span", { text: label(value) }));
    });
    return h("fieldset", {}, h("legend", { text: t(`setup.${name}`) }), h("div", { class: "choice" }, items));
  }

  /** Returns the engine of the user that is chosen, or undefined for Goryu. */
  userEngine() {
    return this.engines.find((engine) => engine.name === this.values.engine);
  }

  shogiOpponents() {
    if (!this.engines.length) return [this.levels()];
    const chosen = this.userEngine();
    const options = [h("option", { value: "", text: t("setup.engine.goryu") }), ...this.engines.map(({ name }) => h("option", { value: name, text: name, selected: name === chosen?.name }))];
    const select = h("select", { "aria-label": t("setup.engine.title") }, options);
    select.addEventListener("change", () => this.set({ engine: select.value }));
    const note = chosen && h("span", { class: "muted small", text: t("setup.engine.seconds", { seconds: chosen.seconds }) });
    return [h("label", { class: "field" }, t("setup.engine.title"), select, note), ...(chosen ? [] : [this.levels()])];
  }

  levels() {
    const { levels, network } = this.options;
    const played = h("span", { class: "muted small", text: network[i18n.current()] });
    const isFull = () => this.values.level === levels.length;
    played.hidden = !isFull();
    const level = levels[this.values.level - 1];
    const name = h("output", { class: "level-name", text: level[i18n.current()] });
    const about = h("span", { class: "muted small", text: level.about[i18n.current()] });
    const range = h("input", { type: "range", min: 1, max: levels.length, value: this.values.level, "aria-label": t("setup.level"), "aria-valuetext": level[i18n.current()] });
    range.addEventListener("input", () => {
      this.values.level = Number(range.value);
      const chosen = levels[this.values.level - 1];
      name.textContent = chosen[i18n.current()];
      about.textContent = chosen.about[i18n.current()];
      played.hidden = !isFull();
      range.setAttribute("aria-valuetext", chosen[i18n.current()]);
      this.store();
    });
    return h("fieldset", { class: "level" }, h("legend", { text: t("setup.level") }), h("div", { class: "level-head" }, name, about), range, played);
  }

  agents() {
    const { game, agents } = this.values;
    const names = this.options.agents[game];
    const chosen = names.includes(agents[game]) ? agents[game] : names[Math.floor(names.length / 2)];
    agents[game] = chosen;
    const select = h("select", { "aria-label": t("setup.level") }, names.map((name) => h("option", { value: name, text: this.agentName(name), selected: name === chosen })));
    select.addEventListener("change", () => this.set({ agents: { ...agents, [game]: select.value } }, false));
    return h("label", { class: "field" }, t("setup.level"), select);
  }

  boards() {
    const options = Object.entries(BOARDS).map(([game, size]) => h("option", { value: game, text: `${size} × ${size}`, selected: game === this.values.game }));
    const select = h("select", { "aria-label": t("setup.board") }, options);
    select.addEventListener("change", () => this.set({ game: select.value }));
    return h("label", { class: "field" }, t("setup.board"), select);
  }

  handicaps() {
    const language = i18n.current();
    const options = this.options.handicaps.map((one, at) => h("option", { value: at, text: capital(one[language]), selected: at === this.values.handicap }));
    const select = h("select", { "aria-label": t("setup.handicap") }, options);
    select.addEventListener("change", () => this.set({ handicap: Number(select.value) }));
    const note = this.values.handicap > 0 && h("span", { class: "muted small", text: t("setup.handicap.note") });
    return h("label", { class: "field" }, t("setup.handicap"), select, note);
  }

  clocks() {
    const { clock, own } = this.values;
    const option = (value, text) => h("option", { value, text, selected: clock === value });
    const select = h(
      "select",
      { "aria-label": t("setup.clock") },
      option("none", t("setup.clock.none")),
      CLOCKS.map((one, at) => option(String(at), clockName(one))),
      option("own", t("setup.clock.own")),
    );
    select.addEventListener("change", () => this.set({ clock: select.value }));
    const number = (name, most) => {
      const input = h("input", { type: "number", min: 0, max: most, value: own[name], required: true });
      input.addEventListener("input", () => this.set({ own: { ...this.values.own, [name]: Number(input.value) } }, false));
      return h("label", { class: "field" }, t(`setup.${name}`), input);
    };
    const fields = clock === "own" && h("div", { class: "thirds" }, number("main", 600), number("byoyomi", 600), number("increment", 600));
    return h("div", { class: "stack" }, h("label", { class: "field" }, t("setup.clock"), select), ...(fields ? [fields] : []));
  }

  givenPosition() {
    const { moves } = this.given;
    const text = moves.length ? t("setup.given", { count: moves.length }) : t("setup.given.sfen");
    const drop = h("button", { type: "button", class: "quiet", text: t("setup.given.drop"), on: { click: () => this.onDrop() } });
    return h("div", { class: "row given" }, h("span", { text }), drop);
  }

  lesson() {
    const { lesson, threshold } = this.values;
    const box = h("input", { type: "checkbox", name: "lesson", value: "on", checked: lesson });
    box.addEventListener("change", () => this.set({ lesson: box.checked }));
    const options = this.options.thresholds.map((value) =>
      h("option", { value, text: t("setup.threshold.value", { percent: Math.round(100 * value) }), selected: value === threshold }),
    );
    const select = h("select", { "aria-label": t("setup.threshold") }, options);
    select.addEventListener("change", () => this.set({ threshold: Number(select.value) }, false));
    return h(
      "div",
      { class: "stack lesson-setup" },
      h("label", { class: "check" }, box, h("span", { text: t("setup.lesson") })),
      lesson && h("span", { class: "muted small", text: t("setup.lesson.note") }),
      lesson && h("label", { class: "field" }, t("setup.threshold"), select),
    );
  }

  more() {
    this.sfen ??= h("input", { type: "text", spellcheck: "false", autocomplete: "off", maxlength: 200 });
    const details = h("details", { open: Boolean(this.sfen.value) }, h("summary", { class: "muted small", text: t("setup.more") }), h("label", { class: "field" }, t("setup.sfen"), this.sfen));
    return details;
  }

  set(changes, redraws = true) {
    Object.assign(this.values, changes);
    this.store();
    if (!redraws) return;
    const focused = document.activeElement?.closest("form") === this.form ? document.activeElement : null;
    const key = focused && [focused.name, focused.value, [...this.form.querySelectorAll("select")].indexOf(focused)];
    this.draw();
    if (!key) return;
    const again = key[0] ? this.form.querySelector(`[name="${key[0]}"][value="${key[1]}"]`) : this.form.querySelectorAll("select")[key[2]];
    again?.focus();
  }

  store() {
    localStorage.setItem(KEY, JSON.stringify(this.values));
  }

  async submit(event) {
    event.preventDefault();
    const { game, side, level, agents, handicap, clock, own, lesson, threshold } = this.values;
    const isShogi = game === "shogi";
    const chosen = clock === "none" ? null : clock === "own" ? own : CLOCKS[Number(clock)];
    const setup = {
      game,
      side,
      opponent: !isShogi ? agents[game] : this.userEngine() ? `${USER_ENGINE}${this.userEngine().name}` : String(level),
      clock: chosen && { ...chosen, main: 60 * chosen.main },
      sfen: isShogi ? this.sfen?.value.trim() || this.options.handicaps[handicap].sfen : "",
    };
    if (isShogi && lesson && side !== "both") setup.lesson = { threshold };
    if (this.given) Object.assign(setup, { sfen: this.given.sfen, moves: this.given.moves });
    await this.onStart(setup);
  }
}

/** Returns the game without the size of its board. */
function kindOf(game) {
  return game in BOARDS ? "reversi" : game;
}

function clockName({ main, byoyomi, increment }) {
  if (increment) return t("setup.clock.fischer", { main, increment });
  return main ? t("setup.clock.byoyomi", { main, byoyomi }) : t("setup.clock.only", { byoyomi });
}

function stored() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}
