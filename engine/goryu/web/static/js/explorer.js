// The view "Explorer": what was played in a position; lines that meet in it are one.

import { Board } from "./board.js";
import { h, toast } from "./dom.js";
import { playFrom, review } from "./handoff.js";
import * as i18n from "./i18n.js";
import * as socket from "./socket.js";

const SCORES = ["black", "draw", "white"];

let view = null;

export function mount(section) {
  view = new ExplorerView(section);
}

/** argument: the moves of a line in USI, separated by commas; the view goes there. */
export function show(argument) {
  if (argument) view.line = argument.split(",");
  view.look();
}

class ExplorerView {
  constructor(section) {
    this.line = []; // In USI.
    this.found = null;
    const stage = h("div", { class: "stage" });
    this.board = new Board(stage, { onMove: (usi) => this.play(usi) });
    this.lineText = h("div", { class: "line-moves row" });
    const button = (key, act) => h("button", { type: "button", dataset: { i18n: key }, on: { click: act } });
    const tools = h(
      "div",
      { class: "row" },
      button("explorer.start", () => this.goTo(0)),
      button("explorer.back", () => this.goTo(this.line.length - 1)),
      button("explorer.flip", () => this.board.flip()),
      button("explorer.play", () => playFrom({ moves: [...this.line] })),
    );
    this.learnLast = h("button", {
      type: "button",
      on: { click: () => this.learn(this.line, !this.found.isLastLearnt) },
    });
    tools.append(this.learnLast);
    this.games = this.select("games", ["all", "mine", "records"]);
    this.side = this.select("side", ["any", "black", "white"]);
    this.opening = h("p", { class: "opening" });
    this.moves = h("div", { class: "explored" });
    this.listTitle = h("h2");
    this.list = h("ul", { class: "explored-games" });
    const side = h(
      "div",
      { class: "side" },
      h("div", { class: "panel stack" }, h("div", { class: "row filters" }, this.games.field, this.side.field), tools, this.lineText, this.opening),
      h("div", { class: "panel" }, h("h2", { dataset: { i18n: "explorer.moves" } }), this.moves),
      h("div", { class: "panel" }, this.listTitle, this.list),
    );
    section.append(h("div", { class: "columns explorer-columns" }, stage, side));
    section.tabIndex = -1;
    section.addEventListener("keydown", (event) => {
      if (event.key === "Backspace" && !event.target.closest("select, input")) this.goTo(this.line.length - 1);
    });
    socket.onConnected(() => section.hidden || this.look());
    socket.on("explorer.message", ({ text }) => toast(text));
    socket.on("games.changed", () => section.hidden || this.look());
    i18n.onChange(() => this.draw());
  }

  select(name, values) {
    const element = h(
      "select",
      { on: { change: () => this.look() } },
      values.map((value) => h("option", { value, dataset: { i18n: `explorer.${name}.${value}` } })),
    );
    const field = h("label", { class: "field" }, h("span", { dataset: { i18n: `explorer.${name}.label` } }), element);
    return { element, field };
  }

  play(usi) {
    this.line.push(usi);
    this.look();
  }

  goTo(length) {
    this.line.length = Math.max(0, Math.min(length, this.line.length));
    this.look();
  }

  async look() {
    const request = {
      moves: [...this.line],
      games: this.games.element.value,
      side: this.side.element.value,
    };
    this.asked = request;
    const found = await socket.request("explorer.look", request);
    if (this.asked !== request) return; // The user went on meanwhile.
    this.found = found;
    this.draw();
  }

  draw() {
    const { found } = this;
    if (!found) return;
    const last = this.line.at(-1) ?? null;
    this.board.set({ sfen: found.sfen, legal: found.legal, lastMove: last, check: found.check });
    const most = Math.max(1, ...found.moves.map(({ games }) => games));
    this.board.arrows(
      found.moves.slice(0, 5).map(({ move, games, book }) => ({
        move,
        width: games ? 0.3 + (0.7 * games) / most : 0.25,
        color: games || !book ? "var(--arrow)" : "var(--warn)",
      })),
    );
    this.opening.textContent = found.opening[i18n.current()];
    this.learnLast.hidden = !this.line.length;
    this.learnLast.textContent = i18n.t(found.isLastLearnt ? "explorer.forget.last" : "explorer.learn.last");
    this.drawLine();
    this.drawMoves();
    this.drawGames();
  }

  drawLine() {
    this.lineText.replaceChildren(
      ...this.found.line[i18n.current()].map((name, at) =>
        h("button", {
          type: "button",
          class: "line-move quiet",
          "aria-current": at === this.line.length - 1 ? "true" : null,
          text: name,
          on: { click: () => this.goTo(at + 1) },
        }),
      ),
    );
  }

  drawMoves() {
    const { found } = this;
    if (!found.moves.length) {
      const key = found.count || this.line.length ? "explorer.none" : "explorer.empty";
      this.moves.replaceChildren(h("p", { class: "muted", text: i18n.t(key) }));
      return;
    }
    const head = h(
      "tr",
      {},
      ["move", "count", "score", "value", "book", "last"].map((name) =>
        h("th", {
          text: i18n.t(`explorer.${name}`),
          title: i18n.has(`explorer.${name}.about`) ? i18n.t(`explorer.${name}.about`) : null,
        }),
      ),
    );
    const legend = SCORES.map((name) => h("span", {}, h("i", { class: name }), i18n.t(`explorer.score.${name}`)));
    this.moves.replaceChildren(
      h("table", {}, h("thead", {}, head), h("tbody", {}, found.moves.map((one) => this.row(one)))),
      h("p", { class: "small muted score-legend", hidden: !found.count }, legend),
    );
  }

  row(one) {
    const others = one.meeting - one.games;
    const play = h("button", {
      type: "button",
      class: "line-move",
      text: one[i18n.current()],
      on: { click: () => this.play(one.move) },
    });
    const meets =
      others > 0 && one.games
        ? h("span", {
            class: "meeting small",
            text: i18n.t("explorer.meeting", { count: one.meeting }),
            title: i18n.t("explorer.meeting.about", { count: others }),
          })
        : null;
    const share = (part) => ({ "--share": `${(100 * part) / Math.max(1, one.games)}%` });
    const draws = one.games - one.black_wins - one.white_wins;
    const results = [one.black_wins, draws, one.white_wins];
    const label = results.map((count, at) => `${i18n.t(`explorer.score.${SCORES[at]}`)} ${count}`).join(", ");
    const parts = results.map((count, at) => h("span", { class: SCORES[at], style: share(count) }));
    const score = one.games ? h("div", { class: "score", role: "img", "aria-label": label, title: label }, parts) : null;
    const [eval_cp] = one.book ?? [];
    const book = one.book ? (eval_cp === null ? "○" : `${eval_cp > 0 ? "+" : ""}${eval_cp}`) : "";
    const cell = (text, name = "number") => h("td", { class: name, text });
    const learn = h("button", {
      type: "button",
      class: "learn quiet",
      "aria-pressed": String(one.learnt),
      "aria-label": `${one[i18n.current()]} ${i18n.t(one.learnt ? "explorer.learnt" : "explorer.learn")}`,
      title: i18n.t(one.learnt ? "explorer.learnt" : "explorer.learn"),
      text: one.learnt ? "★" : "☆",
      on: { click: () => this.learn([...this.line, one.move], !one.learnt) },
    });
    return h(
      "tr",
      {},
      h("td", { class: "name" }, learn, play, meets),
      cell(one.games ? String(one.games) : others > 0 ? `(${one.meeting})` : ""),
      h("td", {}, score),
      cell(one.win_rate === null ? "" : `${Math.round(100 * one.win_rate)} %`),
      cell(book),
      cell(one.last?.[1]?.slice(2) ?? "", "number small"),
    );
  }

  async learn(moves, learns) {
    await socket.request("explorer.learn", { moves, learns });
    await this.look();
  }

  drawGames() {
    const { games, count } = this.found;
    const some = games.length < count ? ` (${i18n.t("explorer.list.first", { count: games.length })})` : "";
    this.listTitle.textContent = i18n.t("explorer.list", { count }) + some;
    const name = (text) => text || i18n.t("explorer.unnamed");
    this.list.replaceChildren(
      ...games.map((game) =>
        h(
          "li",
          {},
          h("button", {
            type: "button",
            class: "quiet",
            title: i18n.t("explorer.open"),
            text: `${game.date || "–"}  ${game.winner === 0 ? "○" : game.winner === 1 ? "●" : ""}${name(game.black)} – ${game.winner === 1 ? "○" : game.winner === 0 ? "●" : ""}${name(game.white)}`,
            on: { click: () => this.open(game) },
          }),
        ),
      ),
    );
  }

  async open(game) {
    const record = await socket.request("games.record", { game: game.id });
    review({ ...record, ply: game.ply });
  }
}
