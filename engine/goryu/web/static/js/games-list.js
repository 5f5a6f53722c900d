// The list of the user's games: filters, a table that can be sorted, and pages. The server does the work.

import { h, redraw } from "./dom.js";
import * as handoff from "./handoff.js";
import * as i18n from "./i18n.js";
import * as socket from "./socket.js";

const PAGE = 50;
const INITIAL = { collection: "mine" }; // Of the filters; the others are empty.
const TYPING_MS = 200;
const SURE_MS = 3000; // The second click on "delete" must come in this time.

const COLUMNS = [
  { name: "date", sort: "date", text: "games.date" },
  { name: "players", sort: "black", text: "games.players" },
  { name: "result", sort: "result", text: "games.result" },
  { name: "opening", sort: "opening", text: "games.opening" },
  { name: "accuracy", sort: "accuracy", text: "games.accuracy" },
  { name: "mistakes", sort: "mistakes", text: "games.mistakes" },
  { name: "moves", text: "games.moves" },
];

export class GameList {
  constructor() {
    this.sort = { sort: "date", isDescending: true };
    this.first = 0;
    this.found = null;
    this.openings = [];
    this.hasGames = false;
    this.buildFilters();
    this.head = h("tr", {});
    this.body = h("tbody", {});
    this.notice = h("p", { class: "notice", hidden: true });
    this.table = h("table", { class: "game-list" }, h("thead", {}, this.head), this.body);
    const step = (name, by, sign) =>
      h("button", { type: "button", class: "quiet icon", dataset: { i18nLabel: `games.page.${name}` }, on: { click: () => this.go(this.first + by * PAGE) }, text: sign });
    this.back = step("back", -1, "‹");
    this.next = step("next", 1, "›");
    this.place = h("span", { class: "small muted number", role: "status" });
    this.pages = h("div", { class: "row pages" }, this.back, this.place, this.next);
    this.root = h("div", { class: "panel stack" }, this.filters, this.table, this.notice, this.pages);
    i18n.onChange(() => this.draw());
  }

  buildFilters() {
    this.fields = {};
    const changed = () => this.go(0);
    const typed = () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(changed, TYPING_MS);
    };
    const labelled = (name, element) => {
      this.fields[name] = element;
      return h("label", { class: "field" }, h("span", { dataset: { i18n: `games.${name}` } }), element);
    };
    const select = (name, values) =>
      labelled(
        name,
        h("select", { on: { change: changed } }, ...values.map((value) => h("option", { value, dataset: { i18n: `games.${name}.${value || "all"}` } }))),
      );
    const date = (name) => labelled(name, h("input", { type: "date", on: { change: changed } }));
    this.fields.text = h("input", { type: "text", class: "game-search", dataset: { i18nPlaceholder: "games.search", i18nLabel: "games.search" }, on: { input: typed } });
    this.clear = h("button", { type: "button", class: "quiet small", dataset: { i18n: "games.clear" }, on: { click: () => this.clearFilters() } });
    this.filters = h(
      "div",
      { class: "game-filters" },
      this.fields.text,
      select("collection", ["mine", "records"]),
      select("side", ["", "me", "black", "white"]),
      select("result", ["", "won", "lost", "drawn"]),
      select("opening", [""]),
      select("reviewed", ["", "yes", "no"]),
      date("since"),
      date("until"),
      this.clear,
    );
  }

  clearFilters() {
    for (const [name, field] of Object.entries(this.fields)) field.value = INITIAL[name] ?? "";
    this.go(0);
  }

  /** Takes the openings, and whether there is a game. */
  setState({ openings, games }) {
    this.openings = openings;
    this.hasGames = games > 0;
    this.drawOpenings();
  }

  drawOpenings() {
    const field = this.fields.opening;
    const chosen = field.value;
    field.replaceChildren(
      h("option", { value: "", text: i18n.t("games.opening.all") }),
      ...this.openings.map((one) => h("option", { value: one.code, text: one[i18n.current()] })),
    );
    field.value = this.openings.some(({ code }) => code === chosen) ? chosen : "";
  }

  go(first) {
    this.first = Math.max(0, first);
    return this.load();
  }

  /** Reads the page of the list anew. */
  async load() {
    const values = Object.fromEntries(Object.entries(this.fields).map(([name, field]) => [name, field.value]));
    const asked = (this.asked = {});
    const found = await socket.request("games.list", { ...values, ...this.sort, first: this.first });
    if (this.asked !== asked) return; // The user has asked for something else meanwhile.
    this.found = found;
    this.isFiltered = Object.entries(values).some(([name, value]) => value !== (INITIAL[name] ?? ""));
    if (this.first && this.first >= found.total) await this.go(Math.floor((found.total - 1) / PAGE) * PAGE);
    else this.draw();
  }

  draw() {
    this.drawOpenings();
    this.drawHead();
    if (!this.found) return;
    const { total, games } = this.found;
    // A row that is being deleted keeps its question while the list is read anew.
    const sure = this.body.querySelector(".sure")?.closest("tr").dataset.game;
    redraw(this.body, ...games.map((game) => this.row(game, sure === String(game.id))));
    this.clear.hidden = !this.isFiltered;
    this.filters.hidden = !this.hasGames;
    this.table.hidden = !total;
    this.notice.hidden = total > 0;
    this.notice.textContent = i18n.t(this.isFiltered ? "games.none" : "games.empty");
    this.pages.hidden = !total;
    this.back.disabled = !this.first;
    this.next.disabled = this.first + PAGE >= total;
    this.place.textContent = i18n.t("games.page", { first: this.first + 1, last: this.first + games.length, total: total.toLocaleString() });
  }

  drawHead() {
    const { sort, isDescending } = this.sort;
    redraw(
      this.head,
      ...COLUMNS.map((column) => {
        const isSorted = column.sort === sort;
        const text = i18n.t(column.text);
        const label = isSorted ? `${text} ${isDescending ? "↓" : "↑"}` : text;
        const button = column.sort ? h("button", { type: "button", class: "quiet", text: label, on: { click: () => this.sortBy(column.sort) } }) : text;
        const order = isDescending ? "descending" : "ascending";
        return h("th", { class: `of-${column.name}`, scope: "col", "aria-sort": isSorted ? order : undefined }, button);
      }),
      h("th", { class: "of-delete" }),
    );
  }

  sortBy(sort) {
    const isSame = this.sort.sort === sort;
    this.sort = { sort, isDescending: isSame ? !this.sort.isDescending : !["black", "opening"].includes(sort) };
    return this.go(0);
  }

  row(game, isSure) {
    const name = (side, sign) => h("span", { class: game.side === side ? "own" : "", text: sign + (game[side ? "white" : "black"] || i18n.t("games.nobody")) });
    const players = h("button", { type: "button", class: "quiet", title: game.file }, name(0, "▲"), name(1, "△"));
    const pair = (values, format) =>
      game.reviewed === null
        ? h("span", { class: "muted", text: "–" })
        : h("span", { class: "pair" }, ...values.map((value, side) => h("span", { class: game.side === side ? "own" : "", text: "▲△"[side] + (value === null ? "–" : format(value)) })));
    const cells = {
      date: game.date || "–",
      players,
      result: this.result(game),
      opening: this.openings.find(({ code }) => code === game.opening)?.[i18n.current()] ?? "",
      accuracy: pair(game.accuracy, (value) => value.toFixed(0)),
      mistakes: pair(game.mistakes, String),
      moves: i18n.current() === "ja" ? `${game.moves}手` : String(game.moves),
    };
    const row = h(
      "tr",
      { dataset: { game: game.id, reviewed: game.reviewed ?? "" } },
      ...COLUMNS.map((column) => h("td", { class: `of-${column.name}`, dataset: { label: i18n.t(column.text) } }, cells[column.name])),
      h("td", { class: "of-delete" }, this.deleteButton(game, isSure)),
    );
    row.addEventListener("click", (event) => {
      if (!event.target.closest(".of-delete")) this.open(game);
    });
    return row;
  }

  result(game) {
    const known = game.winner !== null;
    if (!known) return game.isDraw ? i18n.t("games.result.drawn") : "–";
    if (game.side === null) return i18n.t(game.winner ? "games.white.won" : "games.black.won");
    const isWon = game.winner === game.side;
    return h("span", { class: isWon ? "won" : "lost", text: i18n.t(isWon ? "games.result.won" : "games.result.lost") });
  }

  deleteButton(game, isSure) {
    const button = h("button", { type: "button", class: "quiet small" });
    const ask = (asks) => {
      button.classList.toggle("sure", asks);
      button.textContent = asks ? i18n.t("games.delete.sure") : "×";
      button.setAttribute("aria-label", i18n.t(asks ? "games.delete.sure" : "games.delete"));
      button.title = i18n.t("games.delete");
      if (asks) setTimeout(() => ask(false), SURE_MS);
    };
    ask(isSure);
    button.addEventListener("click", () => {
      if (button.classList.contains("sure")) socket.request("games.delete", { game: game.id }).then(() => this.load());
      else ask(true);
    });
    return button;
  }

  async open(game) {
    const record = await socket.request("games.record", { game: game.id });
    handoff.review({ ...record, playouts: game.reviewed, side: game.side });
  }
}
