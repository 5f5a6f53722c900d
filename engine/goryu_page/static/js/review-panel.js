// A reviewed game: board, graph, judgements, moves. The page and the files of `goryu review --html` show it.

import { Board } from "./board.js";
import { Chart } from "./chart.js";
import { h, onKeys, reveal } from "./dom.js";
import { penButton } from "./drawing.js";
import * as i18n from "./i18n.js";
import { COLOURED, colorName, MISTAKES, percent } from "./judgement.js";
import { lossesView } from "./losses-view.js";
import { ReviewState } from "./review-state.js";
import { branchView, candidatesView, factsView, judgementView, mistakesView, movesView, playerName, playersView } from "./review-view.js";
import { SecondOpinion } from "./second-opinion.js";
import { button, html, iconButton, render } from "./template.js";
import { Threat } from "./threat.js";
import { changeUnit, graphed, linesShown, MOST_CENTIPAWNS, showsCentipawns } from "./unit.js";

const { t } = i18n;
const LEAST_SHARE = 0.03;
const DOTS = { great: 7, inaccuracy: 6, dubious: 8, mistake: 10, blunder: 12 };

/**
 * Shows one game in a section. view: the view "Review", which asks the server; without it no moves can be tried on the board.
 *
 * Results of view.live(moves or null), which begins or ends the live analysis, come by `showLive`; those of view.threat(moves or
 * null), of the position with the turn passed, by `Threat.show`.
 */
export class ReviewPanel {
  /** @param {HTMLElement} section @param {any} [view] */
  constructor(section, view = null) {
    this.section = section;
    this.review = view;
    this.state = null; // A ReviewState, while a game is shown.
    this.guess = null; // What asks for the moves; it has mayAnswer(), answer(move), next() and arrows().
    this.isLive = false;
    this.showsArrows = true;
    this.showsHeat = false;
    this.threat = new Threat(this);
    this.opinion = view && new SecondOpinion(this);
    this.build();
    i18n.onChange(() => {
      this.draw();
      this.drawGraph();
    });
    onKeys(document, () => (this.state && !this.section.hidden ? this.keys() : {}));
  }

  build() {
    this.root = h("div", { class: "columns review-columns", hidden: true });
    this.section.append(this.root);
    this.boardPlace = h("div", { class: "board-place" });
    this.board = new Board(this.boardPlace, { onMove: (move) => this.onMove(move) });
    this.pen = penButton(() => this.board);
    this.graph = h("div", { class: "graph", role: "img" });
    this.root.append(this.boardPlace); // Until it is drawn.
    this.chart = new Chart(
      this.graph,
      [
        { color: "--accent", width: 2 },
        ...COLOURED.map((kind) => ({ color: colorName(kind), size: DOTS[kind] })),
      ],
      { range: () => (showsCentipawns() ? [-MOST_CENTIPAWNS, MOST_CENTIPAWNS] : [0, 100]), onClick: (x) => this.show(x) },
    );
  }

  // The game.

  /** Shows a game from its start. data: {game, positions, plies, summary}. */
  load(data) {
    this.state = new ReviewState(data, this.state?.limit);
    this.threat.end();
    this.opinion?.clear();
    this.root.hidden = false;
    this.draw();
    this.drawGraph();
    this.follow();
  }

  /** Shows no game. */
  close() {
    this.state = null;
    this.root.hidden = true;
  }

  /** Takes the analysis of a position (see `ReviewState.update`). */
  update(message) {
    this.state.update(message);
    this.due ??= requestAnimationFrame(() => {
      this.due = null;
      this.draw();
      this.drawGraph();
    });
  }

  /** Takes a result of the live analysis. */
  showLive({ moves, position }) {
    if (!this.state) return;
    this.state.live.set(moves.join(" "), position);
    this.draw();
  }

  // The place.

  /** Goes to position `index` of the game. */
  go(index) {
    if (!this.state) return;
    this.state.go(index);
    this.moved();
    this.scrollToMove();
  }

  /** Goes to a position that the user has chosen in a list; on a phone the board comes back into sight. */
  show(index) {
    this.go(index);
    reveal(this.boardPlace);
  }

  step(by) {
    const { branch, at, limit } = this.state;
    if (!branch && by > 0 && at === limit) {
      this.guess.next();
      return;
    }
    this.state.step(by);
    this.moved();
    if (!this.state.branch) this.scrollToMove();
  }

  leaveBranch() {
    this.go(this.state.place);
  }

  /** Plays the first `depth` moves of a line that begins at position `at` of the game. */
  playLine(at, line, depth = 1, before = null) {
    this.state.playLine(at, line, depth, before);
    this.moved();
  }

  /** Plays moves of a line from the position on the board. */
  enter(line, depth) {
    this.state.enter(line, depth);
    this.moved();
  }

  onMove(move) {
    if (this.guess) return this.guess.answer(move);
    this.state.play(move);
    return this.moved();
  }

  /** Shows another position and asks for what is not known of it. */
  moved() {
    this.draw();
    this.review?.setAddress();
    return this.follow();
  }

  /** Hides the moves after the position `limit`, and what tells about them, while `guess` asks for them. */
  setGuess(guess, limit = null) {
    this.guess = guess;
    if (!this.state) return;
    this.state.limit = guess ? limit : null;
    this.go(guess ? limit : this.state.at);
  }

  /** Asks for the legal moves of the position on the board, and for live analysis if it is wanted. */
  async follow() {
    const { state, review } = this;
    const [moves, key] = [state.line(), state.key()];
    this.threat.follow(moves);
    if (!review) return;
    const wants = !this.guess && (this.isLive || (state.branch && !state.live.has(key)));
    if (!this.threat.isOn) review.live(wants ? moves : null);
    if (state.explored.has(key)) return;
    state.enterExplored(moves, await review.explore(moves));
    if (state === this.state) this.draw();
  }

  toggle(name) {
    this[name] = !this[name];
    this.draw();
  }

  toggleLive() {
    this.isLive = !this.isLive;
    this.threat.end();
    this.draw();
    if (!this.isLive) this.review.live(null);
    else this.follow();
  }

  flip() {
    this.board.flip();
    this.draw();
  }

  keys() {
    return {
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      ArrowUp: () => this.toMistake(-1),
      ArrowDown: () => this.toMistake(1),
      Home: () => this.go(0),
      End: () => this.go(Infinity),
      x: this.review && !this.guess && (() => this.threat.toggle()),
    };
  }

  toMistake(direction) {
    const found = this.guess ? null : this.state.mistakeFrom(direction);
    if (found !== null) this.go(found);
  }

  // Drawing.

  draw() {
    if (!this.state) return;
    this.root.classList.toggle("guessing", Boolean(this.guess));
    this.graph.title = i18n.ofGame(t("review.graph"), this.state.game);
    this.graph.setAttribute("aria-label", this.graph.title);
    render(this.view(), this.root);
    this.drawBoard();
    this.chart.mark(this.state.place);
  }

  view() {
    const { state } = this;
    const [bottom, top] = this.board.orientation === "white" ? [1, 0] : [0, 1];
    const name = (side) => html`<div class="side-name">${playerName(state.game, side)}</div>`;
    const go = (index) => this.show(index);
    const playLine = (at, line, depth, before) => this.playLine(at, line, depth, before);
    const look = (depth) => {
      state.branch.depth = depth;
      this.moved();
    };
    const { review } = this;
    return html`<div class="left">
        <div class="stage">
          ${name(top)}${this.boardPlace}${name(bottom)}${this.controlsView()}
          <div class="branch small" aria-live="polite">${branchView(state, look)}</div>
          ${this.threat.lineView(state.turn())}
        </div>
      </div>
      <div class="side">
        <div class="now stack">
          ${review?.guess.view()}
          <div class="panel win-rates">
            <div class="row"><h2>${i18n.ofGame(t(showsCentipawns() ? "review.graph.cp" : "review.graph.title"), state.game)}</h2>${button(showsCentipawns() ? "review.winrate" : "review.cp", () => this.changeUnit(), { className: "small quiet", title: t("review.unit") })}</div>
            ${this.graph}${review?.progressView()}
          </div>
          ${judgementView(state, playLine)}
          <div class="panel mistakes-panel"><h2>${t("review.mistakes")}</h2><ol class="mistakes">${mistakesView(state, go)}</ol></div>
          ${candidatesView(state, (line, depth) => this.enter(line, depth), () => this.draw())} ${this.opinion?.view()}
        </div>
        <div class="rest stack">
          <div class="panel moves-panel"><h2>${t("review.moves")}</h2><ol class="game-moves" tabindex="0">${movesView(state, { go, playLine })}</ol></div>
          ${review?.actionsView()} ${playersView(state)}
          <div class="panel losses-panel">${lossesView(state.data.plies, state.game.thresholds)}${factsView(state.game)}</div>
        </div>
      </div>`;
  }

  /** Shows centipawns instead of win rates, or these again. */
  changeUnit() {
    changeUnit();
    this.draw();
    this.drawGraph();
  }

  controlsView() {
    const isGuessing = Boolean(this.guess);
    return html`<div class="controls">
      <div class="row navigation">
        ${iconButton("review.first", "«", () => this.go(0))}${iconButton("review.back", "‹", () => this.step(-1))}
        ${iconButton("review.forward", "›", () => this.step(1))}${iconButton("review.last", "»", () => this.go(Infinity))}
        ${this.mistakeButton("review.mistake.back", -1)}${this.mistakeButton("review.mistake.forward", 1)}
        ${iconButton("review.flip", "⇅", () => this.flip())}${this.pen}
      </div>
      <div class="row toggles">
        ${button("review.arrows", () => this.toggle("showsArrows"), { pressed: this.showsArrows, isHidden: isGuessing })}
        ${button("review.heat", () => this.toggle("showsHeat"), { pressed: this.showsHeat, isHidden: isGuessing })}
        ${button("review.live", () => this.toggleLive(), { pressed: this.isLive, isHidden: isGuessing || !this.review })}
        ${this.threat.buttonView()}
        ${button("review.return", () => this.leaveBranch(), { className: "primary", isHidden: !this.state.branch })}
      </div>
    </div>`;
  }

  mistakeButton(key, direction) {
    return button(key, () => this.toMistake(direction), { isDisabled: this.state.mistakeFrom(direction) === null, isHidden: Boolean(this.guess) });
  }

  drawGraph() {
    if (!this.state) return;
    const lines = [null, ...COLOURED].map((kind) => this.state.rates(kind).map(graphed));
    this.chart.set(lines[0].map((_, i) => i), lines);
  }

  drawBoard() {
    const { state, guess } = this;
    const isAsked = guess && !state.branch && state.at === state.limit;
    const isClosed = guess && !(isAsked && guess.mayAnswer());
    this.board.set({ ...state.shown(), legal: isClosed ? [] : (state.explored.get(state.key())?.legal ?? []) });
    if (guess) {
      this.board.arrows(isAsked ? guess.arrows() : []);
      this.board.heat({});
      return;
    }
    const moves = state.analysis()?.moves ?? [];
    this.board.arrows(this.threat.isOn ? this.threat.arrows(state.turn()) : this.showsArrows ? this.arrows(moves) : []);
    const heat = {};
    if (this.showsHeat) for (const move of moves) heat[move.usi.slice(2, 4)] = (heat[move.usi.slice(2, 4)] ?? 0) + move.prior;
    this.board.heat(heat);
  }

  /** Returns the arrows of the best moves, and of a mistake that follows in the game. */
  arrows(moves) {
    const { state } = this;
    const visits = moves.reduce((sum, move) => sum + move.visits, 0) || 1;
    const best = moves.filter((move, i) => i === 0 || move.visits / visits >= LEAST_SHARE).slice(0, linesShown());
    const arrows = best.map((move, i) => {
      const share = move.visits / visits;
      return { move: move.usi, width: Math.max(0.15, share), color: i === 0 ? "var(--good)" : "var(--arrow)", label: move.mate ? "" : `${percent(share)} %` };
    });
    const ply = state.branch ? null : state.data.plies[state.at];
    if (ply && MISTAKES.includes(ply.kind)) {
      arrows.push({ move: state.game.moves[state.at].usi, width: 0.25, color: `var(${colorName(ply.kind)})`, label: ply.mark });
    }
    return arrows;
  }

  scrollToMove() {
    const list = this.root.querySelector(".game-moves");
    const shown = list.children[this.state.at].firstElementChild;
    const [top, bottom] = [shown.offsetTop - list.offsetTop, shown.offsetTop - list.offsetTop + shown.offsetHeight];
    if (top < list.scrollTop) list.scrollTop = top;
    else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
  }
}
