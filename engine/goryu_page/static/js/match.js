// The page of a match, which `goryu match` writes: the result, the course of the score, and every game on a board.

import { Board } from "./board.js";
import { Chart } from "./chart.js";
import { h } from "./dom.js";
import * as i18n from "./i18n.js";
import { afterMove } from "./sfen.js";
import { show } from "./standalone.js";

const MOST_CP = 2000;
const SIDES = ["▲", "△"];

class MatchPage {
  constructor(section, data) {
    this.data = data;
    this.root = section;
    this.build();
    i18n.onChange(() => this.draw());
    document.addEventListener("keydown", (event) => this.onKey(event));
    addEventListener("hashchange", () => this.openAddressed());
    this.openAddressed();
  }

  build() {
    const button = (key, text, call) =>
      h("button", { type: "button", class: "quiet icon", on: { click: call }, dataset: { i18nLabel: key }, text });
    this.result = h("div", { class: "panel result" });
    this.courseTitle = h("h2", {});
    this.courseGraph = h("div", { class: "graph", role: "img" });
    this.names = [h("div", { class: "side-name" }), h("div", { class: "side-name" })];
    const place = h("div");
    this.scores = h("div", { class: "graph", role: "img" });
    this.about = h("p", { class: "small muted" });
    this.games = h("tbody");
    this.moves = h("ol", { class: "game-moves", tabindex: "0" });
    this.head = h("h2", {});
    const navigation = h(
      "div",
      { class: "row navigation" },
      button("review.first", "«", () => this.go(0)),
      button("review.back", "‹", () => this.go(this.at - 1)),
      button("review.forward", "›", () => this.go(this.at + 1)),
      button("review.last", "»", () => this.go(this.positions.length - 1)),
      button("review.flip", "⇅", () => this.flip()),
    );
    const columns = ["", "▲", "△", "match.end", "match.plies"].map((key) =>
      i18n.has(key) ? h("th", { dataset: { i18n: key } }) : h("th", { text: key }),
    );
    const list = h("table", { class: "game-list" }, h("thead", {}, h("tr", {}, ...columns)), this.games);
    this.root.append(
      h("div", { class: "match-top" }, this.result, h("div", { class: "panel" }, this.courseTitle, this.courseGraph)),
      h(
        "div",
        { class: "columns review-columns" },
        h(
          "div",
          { class: "left" },
          h("div", { class: "stage" }, this.names[1], place, this.names[0], navigation),
          h("div", { class: "panel win-rates" }, this.about, this.scores),
        ),
        h(
          "div",
          { class: "side" },
          h("div", { class: "panel" }, h("h2", { dataset: { i18n: "match.games" } }), h("div", { class: "game-list-frame" }, list)),
          h("div", { class: "panel moves-panel" }, this.head, this.moves),
        ),
      ),
      h("details", { class: "panel report" }, h("summary", { dataset: { i18n: "match.report" } }), h("pre", { text: this.data.report })),
    );
    this.board = new Board(place);
    this.course = new Chart(
      this.courseGraph,
      [
        { label: "score", color: "--accent", width: 2 },
        { label: "low", color: "--muted", width: 1 },
        { label: "high", color: "--muted", width: 1 },
      ],
      { yRange: [0, 100] },
    );
    this.evaluations = new Chart(
      this.scores,
      [
        { label: "first", color: "--accent", width: 3 },
        { label: "second", color: "--arrow", width: 1.5 },
      ],
      { yRange: [-MOST_CP, MOST_CP], format: String, onClick: (x) => this.go(x) },
    );
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
    this.drawGame();
    this.go(game.opening);
  }

  go(index) {
    if (!this.game) return;
    this.at = Math.max(0, Math.min(this.positions.length - 1, index));
    this.board.set({ sfen: this.positions[this.at], lastMove: this.usi[this.at - 1] ?? null });
    this.evaluations.mark(this.at);
    for (const button of this.moves.querySelectorAll("[aria-current]")) button.removeAttribute("aria-current");
    const button = this.moves.children[this.at].firstChild;
    button.setAttribute("aria-current", "true");
    this.moves.scrollTop = button.offsetTop - this.moves.offsetTop - this.moves.clientHeight / 2;
  }

  flip() {
    this.board.flip();
    this.drawNames();
  }

  onKey(event) {
    if (!this.game || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: this.positions.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    this.go(steps[event.key]);
  }

  // Drawing.

  draw() {
    this.drawResult();
    this.drawList();
    if (!this.game) return;
    this.drawGame();
    this.go(this.at);
  }

  drawResult() {
    const { names, limits, elo, summary, course } = this.data;
    const { wins, draws, losses } = summary;
    const number = (value, digits = 0) => (value === null ? "–" : value.toLocaleString("en", { maximumFractionDigits: digits }));
    const row = (engine, won, lost) => {
      const stats = summary.engines[engine];
      const cells = [won + draws / 2, won, draws, lost, number(stats.nps), number(stats.depth, 1)];
      return h(
        "tr",
        {},
        h("th", { scope: "row", text: names[engine] }),
        ...cells.map((cell) => h("td", { class: "number", text: cell })),
        h("td", { class: "small", text: limits[engine] }),
      );
    };
    const heads = ["match.engine", "match.points", "match.won", "match.drawn", "match.lost", "nps", "match.depth", "match.limits"];
    const [name] = names;
    const about = course.length
      ? [i18n.t("match.elo", { elo, name, games: summary.games }), i18n.t("match.los", { name, los: (100 * summary.los).toFixed(1) })]
      : [i18n.t("match.few")];
    this.result.replaceChildren(
      h("h2", { text: i18n.t("match.result") }),
      h(
        "table",
        { class: "result-table" },
        h("thead", {}, h("tr", {}, ...heads.map((key) => h("th", { text: i18n.has(key) ? i18n.t(key) : key })))),
        h("tbody", {}, row(0, wins, losses), row(1, losses, wins)),
      ),
      ...about.map((text) => h("p", { text })),
      ...summary.warnings.map((text) => h("p", { class: "small muted", text })),
    );
    const title = i18n.t("match.course", { name });
    this.courseTitle.textContent = title;
    this.courseGraph.setAttribute("aria-label", title);
    this.course.set(course.map(([games]) => games), [1, 2, 3].map((at) => course.map((point) => point[at])));
  }

  drawList() {
    const cell = (game, side) => {
      const isWinner = game.winner === side;
      return h("td", { class: isWinner ? "winner" : null, text: this.name(game, side) });
    };
    this.games.replaceChildren(
      ...this.data.games.map((game) =>
        h(
          "tr",
          { dataset: { number: game.number }, on: { click: () => (location.hash = game.number) } },
          h("td", { class: "number" }, h("a", { href: `#${game.number}`, text: game.number })),
          cell(game, 0),
          cell(game, 1),
          h("td", { title: game.detail || null, text: this.ending(game) }),
          h("td", { class: "number", text: game.usi ? game.usi.split(" ").length : 0 }),
        ),
      ),
    );
  }

  /** Returns the name of the engine on a side, 0 black or 1 white. */
  name(game, side) {
    return this.data.names[(game.black - 1 + side) % 2];
  }

  ending(game) {
    const name = i18n.word("ending", game.reason);
    return game.winner === null ? `${i18n.t("match.draw")} (${name})` : name;
  }

  drawNames() {
    const isTurned = this.board.orientation === "white";
    for (const side of [0, 1]) this.names[isTurned ? 1 - side : side].textContent = `${SIDES[side]} ${this.name(this.game, side)}`;
  }

  drawGame() {
    const { game } = this;
    this.drawNames();
    for (const row of this.games.children) {
      if (Number(row.dataset.number) === game.number) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
    const won = game.winner !== null && i18n.t(`review.won.${game.winner}`);
    this.head.textContent = `${game.number}. ${[won, this.ending(game)].filter(Boolean).join(i18n.t("match.colon"))}`;
    const names = game[i18n.current()] ? game[i18n.current()].split(" ") : [];
    const item = (index, text) => {
      const at = index - 1 - game.opening;
      const spent = at >= 0 ? `${(game.ms[at] / 1000).toFixed(1)} s` : "";
      return h(
        "li",
        {},
        h(
          "button",
          { type: "button", class: "game-move", on: { click: () => this.go(index) } },
          h("span", { class: "count", text: index || "" }),
          h("span", { class: "name", text }),
          h("span", {}),
          h("span", { class: "spent", text: spent }),
          h("span", { class: "rate", text: at >= 0 ? (game.cps[at] ?? "") : "" }),
        ),
      );
    };
    this.moves.replaceChildren(item(0, i18n.t("review.start")), ...names.map((name, i) => item(i + 1, name)));
    const [first, second] = this.data.names;
    this.about.textContent = i18n.t("match.cp", { most: MOST_CP, first, second });
    this.scores.setAttribute("aria-label", this.about.textContent);
    this.drawEvaluations();
  }

  /** Draws the score of each move where its position is, for the engine that played it. */
  drawEvaluations() {
    const { game } = this;
    const turn = game.start.split(" ")[1] === "w" ? 1 : 0;
    const of = (engine) =>
      this.positions.map((_, index) => {
        const cp = game.cps[index - 1 - game.opening] ?? null;
        const side = (turn + index - 1) % 2;
        const isPlayer = (game.black - 1 + side) % 2 === engine;
        return cp === null || !isPlayer ? undefined : Math.max(-MOST_CP, Math.min(MOST_CP, cp)); // undefined: no gap.
      });
    this.evaluations.set(this.positions.map((_, index) => index), [of(0), of(1)]);
  }
}

show("review match", (section, data) => new MatchPage(section, data));
