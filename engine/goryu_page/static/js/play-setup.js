// The form for a new game.

import * as i18n from "./i18n.js";
import { recallJson, store } from "./memory.js";
import { editButton } from "./position-editor.js";
import { checkBox, choice, engineEntries, html, live, nothing, selectField } from "./template.js";

const { t } = i18n;

const GAMES = ["shogi", "reversi", "tictactoe"];
const BOARDS = { reversi: 8, reversi6: 6, reversi4: 4 };
const SIDES = ["first", "second", "random", "both", "none"];
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
const USUAL_LEVEL = 4; // For a user of whom nothing is known.
const USER_ENGINE = "usi:"; // Begins the opponent's name if it is an engine of the user.

/**
 * The form. play: the view "Play".
 *
 * The values name and level are null until the user has been asked, or has chosen one.
 */
export class SetupForm {
  constructor(play) {
    this.play = play;
    this.given = null;
    this.options = null; // The reply of "play.options".
    this.engines = []; // The reply of "engines.list".
    this.strength = null; // The reply of "train.strength".
    this.values = { game: "shogi", side: "first", level: null, name: null, keeps: true, agents: {}, rivals: {}, handicap: 0, clock: "none", lesson: false, threshold: 0.1, own: { main: 10, byoyomi: 30, increment: 0 }, ...recallJson(KEY) };
    this.name = this.values.name ?? ""; // As it is typed.
  }

  /** Begins from a position of `handoff.playFrom`, with the side filled in; null: from the usual start. */
  give(given) {
    this.given = given;
    if (given) Object.assign(this.values, { game: "shogi", side: given.side });
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
    return `${text}${i18n.current() === "ja" ? "、" : ", "}${t(unit, { number })}`;
  }

  /** canCancel: is there a game to go back to? */
  view(canCancel) {
    if (!this.options) return nothing;
    const { values, given } = this;
    const isShogi = values.game === "shogi";
    return html`<form class="stack" @submit=${(event) => this.submit(event)}>
      <h2>${t("setup.title")}</h2>
      ${given ? this.givenView(given) : this.choiceView("game", GAMES, (game) => t(`setup.${game}`), kindOf(values.game))}
      ${values.game in BOARDS ? this.boardsView() : nothing} ${isShogi ? this.opponentsView() : this.agentsView()} ${values.side === "none" ? this.rivalView() : nothing}
      ${this.choiceView("side", SIDES, (side) => this.sideName(side))} ${isShogi && !given ? this.handicapsView() : nothing} ${this.clocksView()}
      ${isShogi && this.isOneSided ? this.lessonView() : nothing} ${isShogi && values.name === null && values.side !== "none" ? this.meView() : nothing} ${isShogi ? this.moreView() : nothing}
      <div class="row">
        <button class="primary grow">${t("setup.start")}</button
        ><button type="button" class="quiet" ?hidden=${!canCancel} @click=${() => this.play.showSetup(false)}>${t("setup.cancel")}</button>
      </div>
    </form>`;
  }

  sideName(side) {
    if (this.values.game !== "tictactoe" || !["first", "second"].includes(side)) return i18n.ofGame(t(`setup.side.${side}`), { isHandicap: this.hasHandicap });
    return side === "first" ? "×" : "○";
  }

  get hasHandicap() {
    return this.values.game === "shogi" && !this.given && this.values.handicap > 0;
  }

  choiceView(name, values, label, chosen = this.values[name]) {
    return choice(t(`setup.${name}`), name, values.map((value) => [value, label(value)]), chosen, (value) => this.set({ [name]: value }));
  }

  /** Returns the engine of the user that is chosen, or undefined for Goryu. */
  userEngine() {
    return this.engines.find((engine) => engine.name === this.values.engine && engine.isThere);
  }

  opponentsView() {
    if (!this.engines.length) return this.levelsView();
    const chosen = this.userEngine();
    const entries = [["", t("setup.engine.goryu")], ...engineEntries(this.engines)];
    const note = chosen && t("setup.engine.seconds", { seconds: chosen.seconds });
    return html`${selectField(t("setup.engine.title"), entries, chosen?.name ?? "", (engine) => this.set({ engine }), { note })} ${chosen ? nothing : this.levelsView()}`;
  }

  levelsView() {
    const { levels, network } = this.options;
    const language = i18n.current();
    const level = levels[this.level - 1];
    const proposed = this.strength?.level ?? this.level;
    return html`<fieldset class="level">
      <legend>${this.levelName()}</legend>
      <div class="level-head"><output class="level-name">${level[language]}</output><span class="muted small">${level.about[language]}</span></div>
      <input type="range" min="1" max=${levels.length} aria-label=${t("setup.level")} aria-valuetext=${level[language]}
        .value=${live(String(this.level))} @input=${(event) => this.set({ level: Number(event.target.value) })} />
      <button type="button" class="quiet small" ?hidden=${!this.isOneSided || proposed === this.level} @click=${() => this.set({ level: null })}>${t("setup.proposed", { level: levels[proposed - 1][language] })}</button>
      <span class="muted small" ?hidden=${this.level !== levels.length}>${network[language]}</span>
    </fieldset>`;
  }

  /** The level that is chosen: the user's, or that which the user's strength proposes. */
  get level() {
    return this.values.level ?? this.strength?.level ?? USUAL_LEVEL;
  }

  /** Asks for the name in the records, and for the strength. */
  meView() {
    const { grade = null, grades = [] } = this.strength ?? {};
    const entries = [["", t("grade.unknown")], ...grades.map((one) => [one, t(`grade.${one}`)])];
    const strength = selectField(t("setup.grade"), entries, grade ?? "", (chosen) => chosen && this.play.takeStrength("train.grade", { grade: chosen }));
    return html`<div class="pair">
      <label class="field">${t("setup.name")}<input type="text" autocomplete="nickname" maxlength="40" placeholder=${t("play.you")} .value=${live(this.name)} @input=${(event) => (this.name = event.target.value)} /></label>
      ${strength}
    </div>`;
  }

  networkView() {
    const { networks, chosen } = this.options;
    const entries = [["", t("setup.network.strongest")], ...networks.map((name) => [name, name])];
    return selectField(t("setup.network"), entries, chosen, (name) => this.play.takeNetwork(name), { note: t("setup.network.note") });
  }

  /** What the engine is for: the opponent, or, between engines, the first player. */
  levelName() {
    return this.values.side === "none" ? t("setup.engine", { side: this.sideName("first") }) : t("setup.level");
  }

  /** Does a person play one side? */
  get isOneSided() {
    return !["both", "none"].includes(this.values.side);
  }

  agentsView() {
    const { game, agents } = this.values;
    agents[game] = known(agents[game], this.options.agents[game]);
    const entries = this.options.agents[game].map((name) => [name, this.agentName(name)]);
    return selectField(this.levelName(), entries, agents[game], (agent) => this.set({ agents: { ...agents, [game]: agent } }));
  }

  /** The engine that plays White against the one above. */
  rivalView() {
    const { game, rivals } = this.values;
    const { levels, agents } = this.options;
    const users = engineEntries(this.engines).map(([name, ...rest]) => [`${USER_ENGINE}${name}`, ...rest]);
    const entries = game === "shogi" ? [...levels.map((level) => [level.name, level[i18n.current()]]), ...users] : agents[game].map((name) => [name, this.agentName(name)]);
    rivals[game] = known(rivals[game], entries.filter(([, , isMissing]) => !isMissing).map(([name]) => name));
    return selectField(t("setup.engine", { side: this.sideName("second") }), entries, rivals[game], (rival) => this.set({ rivals: { ...rivals, [game]: rival } }));
  }

  boardsView() {
    const entries = Object.entries(BOARDS).map(([game, size]) => [game, `${size} × ${size}`]);
    return selectField(t("setup.board"), entries, this.values.game, (game) => this.set({ game }));
  }

  handicapsView() {
    const { handicap } = this.values;
    const entries = this.options.handicaps.map((one, at) => [at, capital(one[i18n.current()])]);
    return selectField(t("setup.handicap"), entries, handicap, (at) => this.set({ handicap: Number(at) }), { note: handicap > 0 && t("setup.handicap.note") });
  }

  clocksView() {
    const { clock, own } = this.values;
    const entries = [["none", t("setup.clock.none")], ...CLOCKS.map((one, at) => [String(at), clockName(one)]), ["own", t("setup.clock.own")]];
    const change = (name) => (event) => this.set({ own: { ...this.values.own, [name]: Number(event.target.value) } }, false); // The user is typing.
    const number = (name) => html`<label class="field">${t(`setup.${name}`)}<input type="number" min="0" max="600" required .value=${String(own[name])} @input=${change(name)} /></label>`;
    return html`<div class="stack">
      ${selectField(t("setup.clock"), entries, clock, (chosen) => this.set({ clock: chosen }))}
      ${clock === "own" ? html`<div class="thirds">${["main", "byoyomi", "increment"].map(number)}</div>` : nothing}
    </div>`;
  }

  givenView({ moves }) {
    const text = moves.length ? t("setup.given", { count: moves.length }) : t("setup.given.sfen");
    return html`<div class="row given"><span>${text}</span><button type="button" class="quiet" @click=${() => this.play.give(null)}>${t("setup.given.drop")}</button></div>`;
  }

  lessonView() {
    const { lesson, threshold } = this.values;
    const entries = this.options.thresholds.map((value) => [value, t("setup.threshold.value", { percent: Math.round(100 * value) })]);
    const more = () => html`<span class="muted small">${t("setup.lesson.note")}</span>${selectField(t("setup.threshold"), entries, threshold, (value) => this.set({ threshold: Number(value) }))}`;
    return html`<div class="stack lesson-setup">
      ${checkBox(t("setup.lesson"), lesson, (isOn) => this.set({ lesson: isOn }), { name: "lesson" })}${lesson ? more() : nothing}
    </div>`;
  }

  moreView() {
    const { name, keeps } = this.values;
    const keep = checkBox(t("setup.keeps"), keeps, (isOn) => this.set({ keeps: isOn }));
    const position = () => (this.play.kind === "shogi" ? this.play.board.position.sfen : "");
    return html`<details>
      <summary class="muted small">${t("setup.more")}</summary>
      <div class="stack">${this.networkView()}${name === null ? nothing : this.meView()}${keep}${editButton(position)}</div>
    </details>`;
  }

  set(changes, redraws = true) {
    Object.assign(this.values, changes);
    this.store();
    if (redraws) this.play.draw();
  }

  store() {
    store(KEY, JSON.stringify(this.values));
  }

  async submit(event) {
    event.preventDefault();
    const { game, side, agents, handicap, clock, own, lesson, threshold } = this.values;
    const isShogi = game === "shogi";
    if (isShogi) this.set({ name: this.name.trim() }, false); // It is asked once.
    const chosen = clock === "none" ? null : clock === "own" ? own : CLOCKS[Number(clock)];
    const setup = {
      game,
      side,
      opponent: !isShogi ? agents[game] : this.userEngine() ? `${USER_ENGINE}${this.userEngine().name}` : String(this.level),
      clock: chosen && { ...chosen, main: 60 * chosen.main },
      sfen: isShogi ? this.options.handicaps[handicap].sfen : "",
    };
    if (isShogi) Object.assign(setup, { name: this.name.trim(), keeps: this.values.keeps });
    if (side === "none") Object.assign(setup, { rival: this.values.rivals[game] });
    if (isShogi && lesson && this.isOneSided) setup.lesson = { threshold };
    if (this.given) Object.assign(setup, { sfen: this.given.sfen, moves: this.given.moves, before: this.given.moves.length });
    await this.play.start(setup);
  }
}

/** Returns what the user has chosen, or one in the middle if it is not there. */
function known(chosen, names) {
  return names.includes(chosen) ? chosen : names[Math.floor(names.length / 2)];
}

/** Returns the game without the size of its board. */
function kindOf(game) {
  return game in BOARDS ? "reversi" : game;
}

function clockName({ main, byoyomi, increment }) {
  if (increment) return t("setup.clock.fischer", { main, increment });
  return main ? t("setup.clock.byoyomi", { main, byoyomi }) : t("setup.clock.only", { byoyomi });
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}
