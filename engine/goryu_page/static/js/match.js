// The page of a match, which `goryu match` writes: the result, the course of the score, and every game on a board.

import { Board } from "./board.js";
import { Chart } from "./chart.js";
import { centre, h, onKeys } from "./dom.js";
import * as i18n from "./i18n.js";
import { SIDES } from "./judgement.js";
import { afterMove } from "./sfen.js";
import { show } from "./standalone.js";
import { html, iconButton, nothing, render } from "./template.js";

const { t } = i18n;
const MOST_CP = 2000;

class MatchPage {
  constructor(section, data) {
    this.data = data;
    this.game = null;
    this.root = section;
    this.boardPlace = h("div");
    this.courseGraph = h("div", { class: "graph", role: "img" });
    this.scores = h("div", { class: "graph", role: "img" });
    section.append(this.boardPlace); // Until it is drawn.
    this.board = new Board(this.boardPlace);
    this.course = new Chart(
      this.courseGraph,
      [
        { color: "--accent", width: 2 },
        { color: "--muted", width: 1 },
        { color: "--muted", width: 1 },
      ],
      { range: () => [0, 100] },
    );
    this.evaluations = new Chart(
      this.scores,
      [
        { color: "--accent", width: 3 },
        { color: "--arrow", width: 1.5 },
      ],
      { range: () => [-MOST_CP, MOST_CP], onClick: (x) => this.go(x) },
    );
    i18n.onChange(() => this.draw());
    onKeys(document, () => this.keys());
    addEventListener("hashchange", () => this.openAddressed());
    this.course.set(data.course.map(([games]) => games), [1, 2, 3].map((at) => data.course.map((point) => point[at])));
    this.openAddressed();
  }

  // The games.

  /** Opens the game that the address names, such as #12, or the first one. */
  openAddressed() {
    const number = Number(location.hash.slice(1));
    const game = this.data.games.find((one) => one.number === number) ?? this.data.games[0];
    if (!game) return;
    this.game = game;
    this.usi = game.usi ? game.usi.split(" ") : [];
    this.positions = [game.start];
    for (const move of this.usi) this.positions.push(afterMove(this.positions.at(-1), move));
    this.evaluations.set(this.positions.map((_, index) => index), [this.evaluationsOf(0), this.evaluationsOf(1)]);
    this.go(game.opening);
  }

  go(index) {
    if (!this.game) return;
    this.at = Math.max(0, Math.min(this.positions.length - 1, index));
    this.draw();
    const list = this.root.querySelector(".game-moves");
    centre(list, list.children[this.at].firstElementChild);
  }

  flip() {
    this.board.flip();
    this.draw();
  }

  keys() {
    const go = (index) => () => this.go(index);
    return { ArrowLeft: go(this.at - 1), ArrowRight: go(this.at + 1), Home: go(0), End: go(Infinity) };
  }

  /** Returns the name of the engine on a side, 0 black or 1 white. */
  name(game, side) {
    return this.data.names[(game.black - 1 + side) % 2];
  }

  ending(game) {
    const name = i18n.word("ending", game.reason);
    return game.winner === null ? `${t("match.draw")} (${name})` : name;
  }

  /** Returns the score of each move of an engine where its position is; undefined leaves no gap. */
  evaluationsOf(engine) {
    const { game } = this;
    const turn = game.start.split(" ")[1] === "w" ? 1 : 0;
    return this.positions.map((_, index) => {
      const cp = game.cps[index - 1 - game.opening] ?? null;
      const isPlayer = (game.black - 1 + ((turn + index - 1) % 2)) % 2 === engine;
      return cp === null || !isPlayer ? undefined : Math.max(-MOST_CP, Math.min(MOST_CP, cp));
    });
  }

  // Drawing.

  draw() {
    render(this.view(), this.root);
    this.courseGraph.setAttribute("aria-label", t("match.course", { name: this.data.names[0] }));
    this.scores.setAttribute("aria-label", this.about());
    if (!this.game) return;
    this.board.set({ sfen: this.positions[this.at], lastMove: this.usi[this.at - 1] ?? null });
    this.evaluations.mark(this.at);
  }

  about() {
    const [first, second] = this.data.names;
    return t("match.cp", { most: MOST_CP, first, second });
  }

  view() {
    const { data, game } = this;
    const [bottom, top] = this.board.orientation === "white" ? [1, 0] : [0, 1];
    const name = (side) => html`<div class="side-name">${game ? `${SIDES[side]} ${this.name(game, side)}` : ""}</div>`;
    const head = ["", ...SIDES, t("match.end"), t("match.plies")].map((text) => html`<th>${text}</th>`);
    return html`<div class="match-top">
        <div class="panel result">${this.resultView()}</div>
        <div class="panel"><h2>${t("match.course", { name: data.names[0] })}</h2>${this.courseGraph}</div>
      </div>
      <div class="columns review-columns">
        <div class="left">
          <div class="stage">${name(top)}${this.boardPlace}${name(bottom)}${this.navigationView()}</div>
          <div class="panel win-rates"><p class="small muted">${game ? this.about() : ""}</p>${this.scores}</div>
        </div>
        <div class="side">
          <div class="panel">
            <h2>${t("match.games")}</h2>
            <div class="game-list-frame"><table class="game-list"><thead><tr>${head}</tr></thead><tbody>${data.games.map((one) => this.rowView(one))}</tbody></table></div>
          </div>
          <div class="panel moves-panel">${game ? this.movesView(game) : nothing}</div>
        </div>
      </div>
      <details class="panel report"><summary>${t("match.report")}</summary><pre>${data.report}</pre></details>`;
  }

  navigationView() {
    return html`<div class="row navigation">
      ${iconButton("review.first", "«", () => this.go(0))}${iconButton("review.back", "‹", () => this.go(this.at - 1))}
      ${iconButton("review.forward", "›", () => this.go(this.at + 1))}${iconButton("review.last", "»", () => this.go(Infinity))}
      ${iconButton("review.flip", "⇅", () => this.flip())}
    </div>`;
  }

  resultView() {
    const { names, limits, elo, summary, course } = this.data;
    const { wins, draws, losses } = summary;
    const number = (value, digits = 0) => (value === null ? "–" : value.toLocaleString("en", { maximumFractionDigits: digits }));
    const row = (engine, won, lost) => {
      const stats = summary.engines[engine];
      const cells = [won + draws / 2, won, draws, lost, number(stats.nps), number(stats.depth, 1)];
      return html`<tr><th scope="row">${names[engine]}</th>${cells.map((cell) => html`<td class="number">${cell}</td>`)}<td class="small">${limits[engine]}</td></tr>`;
    };
    const heads = [...["engine", "points", "won", "drawn", "lost"].map((key) => t(`match.${key}`)), "nps", t("match.depth"), t("match.limits")];
    const [name] = names;
    const about = course.length
      ? [t("match.elo", { elo, name, games: summary.games }), t("match.los", { name, los: (100 * summary.los).toFixed(1) })]
      : [t("match.few")];
    return html`<h2>${t("match.result")}</h2>
      <table class="result-table"><thead><tr>${heads.map((text) => html`<th>${text}</th>`)}</tr></thead><tbody>${row(0, wins, losses)}${row(1, losses, wins)}</tbody></table>
      ${about.map((text) => html`<p>${text}</p>`)} ${summary.warnings.map((text) => html`<p class="small muted">${text}</p>`)}`;
  }

  rowView(game) {
    const cell = (side) => html`<td class=${game.winner === side ? "winner" : nothing}>${this.name(game, side)}</td>`;
    const open = () => (location.hash = game.number);
    return html`<tr data-number=${game.number} aria-current=${game === this.game ? "true" : nothing} @click=${open}>
      <td class="number"><a href=${`#${game.number}`}>${game.number}</a></td>
      ${cell(0)}${cell(1)}
      <td title=${game.detail || nothing}>${this.ending(game)}</td>
      <td class="number">${game.usi ? game.usi.split(" ").length : 0}</td>
    </tr>`;
  }

  movesView(game) {
    const names = game[i18n.current()] ? game[i18n.current()].split(" ") : [];
    const won = game.winner !== null && t(`review.won.${game.winner}`);
    const item = (name, index) => {
      const at = index - 1 - game.opening;
      const spent = at >= 0 ? `${(game.ms[at] / 1000).toFixed(1)} s` : "";
      return html`<li>
        <button type="button" class="game-move" aria-current=${index === this.at ? "true" : nothing} @click=${() => this.go(index)}>
          <span class="count">${index || ""}</span><span class="name">${name}</span><span></span><span class="spent">${spent}</span
          ><span class="rate">${at >= 0 ? (game.cps[at] ?? "") : ""}</span>
        </button>
      </li>`;
    };
    return html`<h2>${game.number}. ${[won, this.ending(game)].filter(Boolean).join(t("match.colon"))}</h2>
      <ol class="game-moves" tabindex="0">${[t("review.start"), ...names].map(item)}</ol>`;
  }
}

show("review match", (section, data) => new MatchPage(section, data));
