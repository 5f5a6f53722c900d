// A reviewed game: board, graph, judgements, moves. The page and the files of `goryu analyze --html` show it.

import { Board } from "./board.js";
import { Chart } from "./chart.js";
import { h, redraw, whenReleased } from "./dom.js";
import { penButton } from "./drawing.js";
import * as i18n from "./i18n.js";
import { changeText, lineButton, lineOf, MISTAKES, percent } from "./judgement.js";
import { Losses } from "./losses.js";
import { badge, COLOURED, colorName, kindName } from "./move-classes.js";
import { SecondOpinion } from "./second-opinion.js";
import { afterMove } from "./sfen.js";
import { Threat } from "./threat.js";

const SIDES = ["▲", "△"];
const MOST_ARROWS = 5;
const LEAST_SHARE = 0.03;
const MOST_ROWS = 6;
const DOTS = { great: 7, inaccuracy: 6, dubious: 8, mistake: 10, blunder: 12 };

/** Returns the name of an ending, such as that of a record, in the language of the page. */
export function endingName(ending) {
  return i18n.has(`ending.${ending}`) ? i18n.t(`ending.${ending}`) : ending;
}

function headerName(key) {
  return i18n.has(`header.${key}`) ? i18n.t(`header.${key}`) : key;
}

function pick(pair) {
  return pair ? pair[i18n.current()] : "";
}

function clock(seconds) {
  if (seconds === null || seconds === undefined) return "";
  return `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, "0")}`;
}

/**
 * Shows one game in a section.
 *
 * options.explore(moves): returns a promise of the position after these moves (`review.explore`); without it no
 *   moves can be tried on the board. options.live(moves or null): begins or ends the live analysis; its results come
 *   by `showLive`. options.threat(moves or null): the same for the position with the turn passed, with `showThreat`.
 *   options.opinion(engine, moves): see `SecondOpinion`. options.actions: elements below the graph.
 */
export class ReviewPanel {
  constructor(section, options = {}) {
    this.options = options;
    this.data = null;
    this.at = 0;
    this.drawn = null; // The moves to the position whose candidates are drawn.
    this.branch = null; // {at, usi, ja, en, depth}: moves that leave the game at `at`; `depth` of them are played.
    this.limit = null; // While the user guesses the moves, the last position of the game that is shown.
    this.guess = null; // What asks for them; it has mayAnswer(), answer(move), next() and arrows().
    this.liveResults = new Map();
    this.isLive = false;
    this.build(section);
    i18n.onChange(() => this.data && this.draw());
    document.addEventListener("keydown", (event) => this.onKey(event));
  }

  // The parts.

  build(section) {
    this.section = section;
    const button = (key, text, call) =>
      h("button", { type: "button", class: "quiet icon", on: { click: call }, dataset: { i18nLabel: key }, text });
    const toggle = (key, call, pressed) =>
      h("button", { type: "button", "aria-pressed": String(pressed), on: { click: call }, dataset: { i18n: key } });
    this.names = [h("div", { class: "side-name" }), h("div", { class: "side-name" })];
    const stage = h("div", { class: "stage" });
    this.showsArrows = true;
    this.showsHeat = false;
    this.arrowsButton = toggle("review.arrows", () => this.toggle("showsArrows", this.arrowsButton), true);
    this.heatButton = toggle("review.heat", () => this.toggle("showsHeat", this.heatButton), false);
    this.liveButton = toggle("review.live", () => this.toggleLive(), false);
    this.liveButton.hidden = !this.options.live;
    this.returnButton = h("button", { type: "button", class: "primary", hidden: true, on: { click: () => this.leaveBranch() }, dataset: { i18n: "review.return" } });
    this.branchLine = h("div", { class: "branch small", "aria-live": "polite" });
    this.threat = new Threat({ ask: this.options.threat, onChange: () => this.data && this.drawPosition(), onEnd: () => this.follow() });
    this.threat.button.addEventListener("click", () => this.threat.toggle(this.line()));
    const { opinion } = this.options;
    const enter = (line, depth) => this.enter(line, depth);
    this.opinion = opinion && new SecondOpinion({ ask: opinion, place: () => this.data && this.line(), enter, lineButton });
    const navigation = h(
      "div",
      { class: "row navigation" },
      button("review.first", "«", () => this.go(0)),
      button("review.back", "‹", () => this.step(-1)),
      button("review.forward", "›", () => this.step(1)),
      button("review.last", "»", () => this.go(this.data.game.moves.length)),
      button("review.flip", "⇅", () => this.flip()),
      penButton(() => this.board),
    );
    const toggles = h("div", { class: "row toggles" }, this.arrowsButton, this.heatButton, this.liveButton, this.threat.button, this.returnButton);
    const controls = h("div", { class: "controls" }, navigation, toggles);
    this.graph = h("div", { class: "graph", role: "img", dataset: { i18nLabel: "review.graph" } });
    this.judgement = h("div", { class: "panel judgement", "aria-live": "polite" });
    this.candidates = h("div", { class: "panel candidates" });
    this.mistakes = h("ol", { class: "mistakes" });
    this.moves = h("ol", { class: "game-moves", tabindex: "0" });
    this.players = h("div", { class: "panel accuracies" });
    this.facts = h("div", { class: "facts small muted" });
    stage.append(this.names[1]);
    const boardPlace = h("div");
    stage.append(boardPlace, this.names[0], controls, this.branchLine, this.threat.line);
    this.losses = new Losses();
    const graphPanel = h("div", { class: "panel win-rates" }, h("h2", { dataset: { i18n: "review.graph.title" } }), this.graph);
    const lossesPanel = h("div", { class: "panel losses-panel" }, this.losses.root, this.facts);
    const left = h("div", { class: "left" }, stage, lossesPanel, this.players);
    const side = h(
      "div",
      { class: "side" },
      graphPanel,
      ...(this.options.actions ?? []),
      this.judgement,
      this.candidates,
      this.opinion?.root ?? [],
      h("div", { class: "panel mistakes-panel" }, h("h2", { dataset: { i18n: "review.mistakes" } }), this.mistakes),
      h("div", { class: "panel moves-panel" }, h("h2", { dataset: { i18n: "review.moves" } }), this.moves),
    );
    this.root = h("div", { class: "columns review-columns", hidden: true }, left, side);
    section.append(this.root);
    this.board = new Board(boardPlace, { onMove: (move) => this.onMove(move) });
    this.chart = new Chart(
      this.graph,
      [
        { label: "win rate", color: "--accent", width: 2 },
        ...COLOURED.map((kind) => ({ label: kind, color: colorName(kind), width: 0, points: true, size: DOTS[kind] })),
      ],
      { yRange: [0, 100], format: (value) => `${value}`, onClick: (x) => this.go(x) },
    );
  }

  toggle(name, button) {
    this[name] = !this[name];
    button.setAttribute("aria-pressed", String(this[name]));
    this.drawPosition();
  }

  flip() {
    this.board.flip();
    this.drawNames();
  }

  // The game.

  /** Shows a game from its start. data: {game, positions, plies, summary}. */
  load(data) {
    this.data = data;
    this.at = 0;
    this.drawn = null;
    this.branch = null;
    this.liveResults.clear();
    this.threat.end();
    this.opinion?.clear();
    this.explored = new Map();
    this.root.hidden = false;
    i18n.translate(this.root);
    this.draw();
    this.follow();
  }

  /** Takes the analysis of a position: {index, position, plies: {index: ply}, summary}. */
  update({ index, position, plies, summary }) {
    this.data.positions[index] = position;
    for (const [move, ply] of Object.entries(plies)) this.data.plies[move] = ply;
    this.data.summary = summary;
    this.due ??= requestAnimationFrame(() => {
      this.due = null;
      this.drawGraph();
      this.drawMistakes();
      this.drawPlayers();
      this.drawMarks();
      if (!this.branch) this.drawPosition();
    });
  }

  /** Takes a result of the live analysis. */
  showLive({ moves, position }) {
    const key = moves.join(" ");
    this.liveResults.set(key, position);
    if (key === this.line().join(" ")) this.drawPosition();
  }

  /** Takes a result of the analysis of a threat. */
  showThreat(message) {
    this.threat.show(message);
  }

  /** Returns the moves from the start of the game to the position on the board. */
  line() {
    const played = (index) => this.data.game.moves.slice(0, index).map((move) => move.usi);
    if (!this.branch) return played(this.at);
    return [...(this.branch.before ?? played(this.branch.at)), ...this.branch.usi.slice(0, this.branch.depth)];
  }

  /** Goes to position `index` of the game. */
  go(index) {
    if (!this.data) return;
    this.branch = null;
    this.at = Math.max(0, Math.min(this.limit ?? this.data.game.moves.length, index));
    this.drawPosition();
    this.scrollToMove();
    this.follow();
  }

  step(by) {
    if (!this.branch && by > 0 && this.at === this.limit) return this.guess.next();
    if (!this.branch) return this.go(this.at + by);
    const depth = this.branch.depth + by;
    if (depth <= 0) return this.leaveBranch();
    this.branch.depth = Math.min(this.branch.usi.length, depth);
    this.drawPosition();
    return this.follow();
  }

  leaveBranch() {
    this.go(this.branch ? this.branch.at : this.at);
  }

  /** Plays the first `depth` moves of a line that begins at position `at` of the game. */
  playLine(at, line, depth = 1, before = null) {
    const isMain = this.limit === null && !before && line.usi.slice(0, depth).every((move, i) => this.data.game.moves[at + i]?.usi === move);
    if (isMain) return this.go(at + depth);
    this.at = at;
    this.branch = { at, before, depth, usi: [...line.usi], ja: [...line.ja], en: [...line.en] };
    this.drawPosition();
    return this.follow();
  }

  /** Hides the moves after the position `limit`, and what tells about them, while `guess` asks for them. */
  setGuess(guess, limit) {
    this.guess = guess;
    this.limit = guess ? limit : null;
    this.root.classList.toggle("guessing", Boolean(guess));
    for (const button of [this.arrowsButton, this.heatButton]) button.hidden = Boolean(guess);
    this.liveButton.hidden = Boolean(guess) || !this.options.live;
    this.drawMarks();
    this.go(guess ? limit : this.at);
  }

  onMove(move) {
    if (this.guess) return this.guess.answer(move);
    const game = this.data.game;
    if (!this.branch) {
      if (game.moves[this.at]?.usi === move) return this.go(this.at + 1);
      return this.playLine(this.at, { usi: [move], ja: [move], en: [move] });
    }
    const { depth, usi, ja, en } = this.branch;
    if (usi[depth] !== move) {
      for (const list of [usi, ja, en]) list.splice(depth, Infinity, move);
    }
    return this.step(1);
  }

  /** Asks for the legal moves of the position on the board, and for live analysis if it is wanted. */
  async follow() {
    const { explore, live } = this.options;
    const moves = this.line();
    const key = moves.join(" ");
    this.threat.follow(moves);
    if (live && !this.threat.isOn) {
      const wants = !this.guess && (this.isLive || (this.branch && !this.liveResults.has(key)));
      live(wants ? moves : null);
    }
    if (!explore || this.explored.has(key)) return;
    const found = await explore(moves);
    this.explored.set(key, found);
    if (this.branch && found.name) {
      const number = moves.length - (this.branch.before?.length ?? this.branch.at) - 1;
      if (this.branch.usi[number] === moves.at(-1)) {
        this.branch.ja[number] = found.name.ja;
        this.branch.en[number] = found.name.en;
      }
    }
    if (key === this.line().join(" ")) this.drawPosition();
  }

  toggleLive() {
    this.isLive = !this.isLive;
    this.liveButton.setAttribute("aria-pressed", String(this.isLive));
    this.threat.end();
    if (!this.isLive) this.options.live(null);
    else this.follow();
  }

  onKey(event) {
    if (!this.data || this.section.hidden || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const steps = {
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      ArrowUp: () => this.toMistake(-1),
      ArrowDown: () => this.toMistake(1),
      Home: () => this.go(0),
      End: () => this.go(this.data.game.moves.length),
      ...(this.options.threat && !this.guess && { x: () => this.threat.toggle(this.line()) }),
    };
    if (!steps[event.key]) return;
    event.preventDefault();
    steps[event.key]();
  }

  /** Goes to the position after the next or the previous mistake. */
  toMistake(direction) {
    if (this.guess) return;
    const numbers = this.data.plies.filter((ply) => ply && MISTAKES.includes(ply.kind)).map((ply) => ply.ply);
    const found = direction > 0 ? numbers.find((number) => number > this.at) : numbers.reverse().find((number) => number < this.at);
    if (found !== undefined) this.go(found);
  }

  // Drawing.

  draw() {
    this.drawNames();
    this.drawFacts();
    this.drawMoves();
    this.drawGraph();
    this.drawMistakes();
    this.drawPlayers();
    this.drawPosition();
  }

  drawNames() {
    const { names, ratings } = this.data.game;
    const isTurned = this.board.orientation === "white";
    for (const side of [0, 1]) {
      const element = this.names[isTurned ? 1 - side : side];
      const rating = ratings[side] === null ? "" : ` (${ratings[side]})`;
      element.textContent = `${SIDES[side]} ${names[side] || i18n.t(side ? "board.white" : "board.black")}${rating}`;
    }
  }

  drawFacts() {
    const { game } = this.data;
    const castles = game.castles.map((castle, side) => castle && `${SIDES[side]}${pick(castle)}`).filter(Boolean);
    const facts = [
      pick(game.handicap),
      game.opening && i18n.labelled(i18n.t("review.opening"), pick(game.opening)),
      castles.length && i18n.labelled(i18n.t("review.castles"), castles.join(" ")),
      i18n.t("review.number", { count: game.moves.length }),
      game.winner !== null && i18n.t(`review.won.${game.winner}`),
      endingName(game.ending),
    ];
    const percents = (shares) => Object.fromEntries(Object.entries(shares).map(([name, share]) => [name, percent(share)]));
    const rule = { ...percents(game.thresholds), margin: percent(game.margin, 1), playouts: game.playouts.toLocaleString() };
    const headers = Object.entries(game.headers).map(([key, value]) => i18n.labelled(headerName(key), value)).join("  ");
    this.facts.replaceChildren(
      h("p", { class: "about", text: facts.filter(Boolean).join("　") }),
      headers ? h("p", { text: headers }) : "",
      h("p", { text: i18n.t("review.thresholds", rule) }),
      h("p", { text: i18n.t("review.great", percents(game.great)) }),
    );
  }

  drawGraph() {
    const { positions, plies } = this.data;
    const rates = positions.map((position) => (position ? 100 * position.black : null));
    const only = (kind) => rates.map((rate, i) => (i > 0 && plies[i - 1]?.kind === kind ? rate : null));
    this.chart.set(rates.map((_, i) => i), [rates, ...COLOURED.map(only)]);
    this.chart.mark(this.branch ? this.branch.at : this.at);
  }

  drawMoves() {
    const { game } = this.data;
    const item = (index, text, move) => {
      const button = h(
        "button",
        { type: "button", class: "game-move", dataset: { index }, on: { click: () => this.go(index) } },
        h("span", { class: "count", text: index || "" }),
        h("span", { class: "name", text }),
        h("span", { class: "badge" }),
        h("span", { class: "spent", text: clock(move?.seconds) }),
        h("span", { class: "rate" }),
      );
      const comment = index ? move.comment : game.comment;
      return h("li", {}, button, comment ? h("p", { class: "comment", text: comment }) : null);
    };
    const items = [item(0, i18n.t("review.start"))];
    game.moves.forEach((move, i) => items.push(item(i + 1, pick(move), move)));
    this.addVariations(items, game.variations);
    this.moves.replaceChildren(...items);
    this.drawMarks();
  }

  addVariations(items, variations) {
    for (const variation of variations) {
      const list = h("p", { class: "variation" }, h("span", { class: "muted", text: `${i18n.t("review.variation", { number: variation.ply })} ` }));
      const at = Math.min(variation.ply - 1, this.data.game.moves.length);
      variation[i18n.current()].forEach((name, i) => {
        const comment = variation.comments[i];
        list.append(lineButton(name, () => this.playLine(at, variation, i + 1, variation.before), comment), " ");
      });
      items[at + 1 < items.length ? at + 1 : items.length - 1].append(list);
      this.addVariations(items, variation.variations);
    }
  }

  drawMarks() {
    for (const button of this.moves.querySelectorAll(".game-move")) {
      const index = Number(button.dataset.index);
      button.parentElement.hidden = this.limit !== null && index > this.limit;
      const ply = index ? this.data.plies[index - 1] : null;
      const position = this.data.positions[index];
      button.querySelector(".badge").replaceWith(badge(ply));
      button.dataset.kind = ply?.kind ?? "";
      button.querySelector(".rate").textContent = position ? `${percent(position.black)}` : "";
    }
  }

  drawMistakes() {
    const found = this.data.plies.filter((ply) => ply && MISTAKES.includes(ply.kind));
    const items = found.map((ply) =>
      h(
        "li",
        {},
        h(
          "button",
          {
            type: "button",
            class: "mistake",
            dataset: { kind: ply.kind, index: ply.ply },
            "aria-current": !this.branch && ply.ply === this.at ? "true" : null,
            on: { click: () => this.go(ply.ply) },
          },
          h("span", { class: "count", text: ply.ply }),
          badge(ply),
          h("span", { class: "name", text: `${this.sign(ply.turn)}${pick(this.data.game.moves[ply.ply - 1])}` }),
          h("span", { class: "kind", text: kindName(ply.kind) }),
          h("span", { class: "number", text: `−${percent(ply.loss)} %` }),
        ),
      ),
    );
    redraw(this.mistakes, ...(items.length ? items : [h("li", { class: "muted", text: i18n.t("review.mistakes.none") })]));
  }

  sign(turn) {
    return i18n.current() === "ja" ? "" : SIDES[turn];
  }

  drawPlayers() {
    const { summary, game, plies } = this.data;
    this.losses.draw(plies, game.thresholds);
    const rows = [
      ["review.accuracy", (one) => (one.accuracy === null ? "–" : `${one.accuracy.toFixed(1)} %`)],
      ["review.agreement", (one) => `${percent(one.agreement)} %`],
      ["review.loss", (one) => `${percent(one.meanLoss, 1)} %`],
      ...["great", "inaccuracy", ...MISTAKES].map((kind) => [`judgement.kind.${kind}`, (one) => one.counts[kind]]),
    ];
    const head = [0, 1].map((side) => h("th", { scope: "col", text: `${SIDES[side]} ${game.names[side]}` }));
    this.players.replaceChildren(
      h("h2", { text: i18n.t("review.players") }),
      h(
        "table",
        { class: "accuracy-table" },
        h("thead", {}, h("tr", {}, h("td"), ...head)),
        h("tbody", {}, ...rows.map(([key, value]) => h("tr", {}, h("th", { scope: "row", text: i18n.t(key) }), ...summary.map((one) => h("td", { class: "number", text: value(one) }))))),
      ),
    );
  }

  /** Returns {sfen, check, lastMove, turn} of the position on the board. */
  shown() {
    const { game } = this.data;
    const moves = this.line();
    if (!this.branch) {
      const { sfen, check } = game.positions[this.at];
      return { sfen, check, lastMove: moves.at(-1) ?? null };
    }
    const first = this.branch.before ? 0 : this.branch.at;
    let { sfen } = game.positions[first];
    for (const move of moves.slice(first)) sfen = afterMove(sfen, move);
    return { sfen, check: this.explored.get(moves.join(" "))?.check ?? false, lastMove: moves.at(-1) };
  }

  /** Returns the best analysis of the position on the board, or null. */
  analysis() {
    const live = this.liveResults.get(this.line().join(" ")) ?? null;
    const kept = this.branch ? null : this.data.positions[this.at];
    if (!kept || !live) return live ?? kept;
    return live.playouts > kept.playouts ? live : kept;
  }

  drawPosition() {
    const key = this.line().join(" ");
    const known = this.explored.get(key);
    const isClosed = this.guess && (this.branch || this.at !== this.limit || !this.guess.mayAnswer());
    this.board.set({ ...this.shown(), legal: isClosed ? [] : (known?.legal ?? []) });
    const analysis = this.analysis();
    this.drawOverlays(analysis);
    this.drawJudgement(analysis, known);
    const draw = this.drawn === key ? whenReleased : (_element, call) => call(); // Buttons are for one position.
    this.drawn = key;
    draw(this.candidates, () => this.drawCandidates());
    this.threat.draw(this.turn());
    this.opinion?.draw();
    draw(this.branchLine, () => this.drawBranch());
    this.chart.mark(this.branch ? this.branch.at : this.at);
    for (const button of this.moves.querySelectorAll("[aria-current]")) button.removeAttribute("aria-current");
    if (!this.branch) this.moves.querySelector(`[data-index="${this.at}"]`)?.setAttribute("aria-current", "true");
    for (const button of this.mistakes.querySelectorAll("button")) {
      if (!this.branch && Number(button.dataset.index) === this.at) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  /** Returns the side to move on the board: 0 black, 1 white. */
  turn() {
    return Number(this.shown().sfen.split(" ")[1] === "w");
  }

  scrollToMove() {
    const button = this.moves.querySelector(`[data-index="${this.at}"]`);
    if (!button) return;
    const [top, bottom] = [button.offsetTop - this.moves.offsetTop, button.offsetTop - this.moves.offsetTop + button.offsetHeight];
    if (top < this.moves.scrollTop) this.moves.scrollTop = top;
    else if (bottom > this.moves.scrollTop + this.moves.clientHeight) this.moves.scrollTop = bottom - this.moves.clientHeight;
  }

  drawOverlays(analysis) {
    if (this.guess) {
      this.board.arrows(!this.branch && this.at === this.limit ? this.guess.arrows() : []);
      this.board.heat({});
      return;
    }
    const moves = analysis?.moves ?? [];
    const visits = moves.reduce((sum, move) => sum + move.visits, 0) || 1;
    const arrows = [];
    if (this.showsArrows) {
      const best = moves.filter((move, i) => i === 0 || move.visits / visits >= LEAST_SHARE).slice(0, MOST_ARROWS);
      best.forEach((move, i) => {
        const share = move.visits / visits;
        const label = move.mate ? "" : `${percent(share)} %`;
        arrows.push({ move: move.usi, width: Math.max(0.15, share), color: i === 0 ? "var(--good)" : "var(--arrow)", label });
      });
      const ply = this.branch ? null : this.data.plies[this.at];
      if (ply && MISTAKES.includes(ply.kind)) {
        arrows.push({ move: this.data.game.moves[this.at].usi, width: 0.25, color: `var(${colorName(ply.kind)})`, label: ply.mark });
      }
    }
    this.board.arrows(this.threat.isOn ? this.threat.arrows(this.turn()) : arrows);
    const heat = {};
    if (this.showsHeat) for (const move of moves) heat[move.usi.slice(2, 4)] = (heat[move.usi.slice(2, 4)] ?? 0) + move.prior;
    this.board.heat(heat);
  }

  drawJudgement(analysis, known) {
    const parts = [];
    const index = this.at - 1;
    const ply = !this.branch && index >= 0 ? this.data.plies[index] : null;
    if (ply) {
      const move = this.data.game.moves[index];
      const kind = kindName(ply.kind);
      const text = i18n.t("review.played", { number: ply.ply, move: `${this.sign(ply.turn)}${pick(move)}`, kind });
      parts.push(h("h2", {}, `${text} `, badge(ply)));
      parts.push(h("p", { class: "number", text: changeText(ply) }));
      if (ply.better.usi.length) parts.push(this.lineOf("judgement.better", index, ply.better));
      if (ply.refutation.usi.length) {
        const key = MISTAKES.includes(ply.kind) ? "judgement.refutation" : "judgement.next";
        parts.push(this.lineOf(key, index + 1, ply.refutation));
      }
    }
    const ending = analysis && !analysis.moves.length ? analysis.ending : known?.ending;
    if (analysis?.ending === "declaration") parts.push(h("p", { class: "notice-line", text: i18n.t("review.declaration") }));
    else if (ending) parts.push(h("p", { class: "notice-line", text: i18n.t("review.over", { ending: endingName(ending) }) }));
    this.judgement.hidden = !parts.length;
    redraw(this.judgement, ...parts);
  }

  lineOf(key, at, line) {
    const shown = lineOf(key, line[i18n.current()], (depth) => this.playLine(at, line, depth));
    shown.dataset.line = `${at} ${line.usi.join(" ")}`;
    return shown;
  }

  drawCandidates() {
    if (!this.data) return;
    const analysis = this.analysis();
    const parts = [h("h2", { text: i18n.t("review.candidates") })];
    if (!analysis) parts.push(h("p", { class: "muted", text: i18n.t("review.unknown") }));
    else if (analysis.moves.length) {
      const count = analysis.playouts.toLocaleString(i18n.current());
      parts[0].append(h("span", { class: "small muted number", text: ` ${i18n.t("review.playouts", { count })}` }));
      parts.push(this.candidateTable(analysis));
    }
    this.candidates.replaceChildren(...parts);
  }

  candidateTable(analysis) {
    const visits = analysis.moves.reduce((sum, move) => sum + move.visits, 0) || 1;
    const head = ["review.move", "review.winrate", "review.visits", "review.prior"];
    const rows = analysis.moves.filter((move) => move.visits || move.mate).slice(0, MOST_ROWS);
    const body = rows.flatMap((move) => {
      const share = move.visits / visits;
      const cells = [
        h("td", { class: "name" }, lineButton(move.line[i18n.current()][0], () => this.enter(move.line, 1))),
        h("td", { class: "number", text: this.rateOf(move) }),
        h("td", { class: "number share" }, h("span", { class: "bar", style: { "--share": `${100 * share}%` } }), `${percent(share)} %`),
        h("td", { class: "number", text: `${percent(move.prior)} %` }),
      ];
      const rest = move.line[i18n.current()].slice(1);
      const line = rest.map((name, i) => lineButton(name, () => this.enter(move.line, i + 2)));
      return [
        h("tr", {}, ...cells),
        rest.length ? h("tr", { class: "pv" }, h("td", { colspan: 4 }, ...line.flatMap((one) => [one, " "]))) : null,
      ];
    });
    return h("table", {}, h("thead", {}, h("tr", {}, ...head.map((key) => h("th", { scope: "col", text: i18n.t(key) })))), h("tbody", {}, ...body));
  }

  rateOf(move) {
    if (move.mate) return i18n.t(move.mate > 0 ? "review.mate.wins" : "review.mate.loses", { plies: Math.abs(move.mate) });
    return move.winRate === null ? "–" : `${percent(move.winRate, 1)} %`;
  }

  /** Plays moves of a line from the position on the board. */
  enter(line, depth) {
    if (!this.branch) return this.playLine(this.at, line, depth);
    const branch = this.branch;
    const joined = Object.fromEntries(["usi", "ja", "en"].map((key) => [key, [...branch[key].slice(0, branch.depth), ...line[key]]]));
    return this.playLine(branch.at, joined, branch.depth + depth, branch.before);
  }

  drawBranch() {
    this.returnButton.hidden = !this.branch;
    if (!this.branch) {
      this.branchLine.replaceChildren();
      return;
    }
    const { at, depth, before } = this.branch;
    const names = this.branch[i18n.current()];
    const number = (before?.length ?? at) + 1;
    const buttons = names.map((name, i) => {
      const button = lineButton(name, () => {
        this.branch.depth = i + 1;
        this.drawPosition();
        this.follow();
      });
      if (i + 1 === depth) button.setAttribute("aria-current", "true");
      return button;
    });
    this.branchLine.replaceChildren(h("span", { class: "muted", text: `${i18n.t("review.branch", { number })} ` }), ...buttons.flatMap((one) => [one, " "]));
  }
}
