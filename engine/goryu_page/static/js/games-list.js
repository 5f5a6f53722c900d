// The list of the user's games: filters, a table that can be sorted, and pages. The server does the work.

import { TwoClicks } from "./dom.js";
import * as i18n from "./i18n.js";
import { SIDES } from "./judgement.js";
import * as socket from "./socket.js";
import { html, iconButton, live, nothing, repeat, selectField } from "./template.js";

const { t } = i18n;
const PAGE = 50; // As in views/games.py.
const INITIAL = { text: "", collection: "mine", side: "", result: "", opening: "", reviewed: "", since: "", until: "" };
const TYPING_MS = 200;

const COLUMNS = [
  { name: "date", sort: "date" },
  { name: "players", sort: "black" },
  { name: "result", sort: "result" },
  { name: "opening", sort: "opening" },
  { name: "accuracy", sort: "accuracy" },
  { name: "mistakes", sort: "mistakes" },
  { name: "moves", sort: null },
];

/** games: the view "My games". */
export class GameList {
  constructor(games) {
    this.games = games;
    this.filters = { ...INITIAL };
    this.sort = { sort: "date", isDescending: true };
    this.first = 0;
    this.found = null;
    this.deleting = new TwoClicks(() => games.draw());
  }

  /** Forgets the chosen opening if no game has it any more. */
  checkOpening() {
    const { openings } = this.games.state;
    if (!openings.some(({ code }) => code === this.filters.opening)) this.filters.opening = "";
  }

  filter(changes) {
    Object.assign(this.filters, changes);
    return this.go(0);
  }

  type(text) {
    this.filters.text = text;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.go(0), TYPING_MS);
  }

  sortBy(sort) {
    const isSame = this.sort.sort === sort;
    this.sort = { sort, isDescending: isSame ? !this.sort.isDescending : !["black", "opening"].includes(sort) };
    return this.go(0);
  }

  go(first) {
    this.first = Math.max(0, first);
    return this.load();
  }

  /** Reads the page of the list anew. */
  async load() {
    const asked = (this.asked = { ...this.filters });
    const found = await socket.request("games.list", { ...asked, ...this.sort, first: this.first });
    if (this.asked !== asked) return; // The user has asked for something else meanwhile.
    this.found = found;
    this.isFiltered = Object.entries(asked).some(([name, value]) => value !== INITIAL[name]);
    if (this.first && this.first >= found.total) await this.go(Math.floor((found.total - 1) / PAGE) * PAGE);
    else this.games.draw();
  }

  /** Deletes a game at the second click; the focus goes to the game that takes its place. */
  async delete(game) {
    if (!this.deleting.click(game.id)) return;
    const at = this.found.games.indexOf(game);
    await socket.request("games.delete", { game: game.id });
    await this.load();
    const rest = this.games.section.querySelectorAll(".of-delete button");
    if (document.activeElement === document.body) rest[Math.min(at, rest.length - 1)]?.focus();
  }

  // Drawing.

  view(isHidden) {
    const { total, games } = this.found ?? { total: 0, games: [] };
    const isEmpty = this.found !== null && !total;
    const place = t("games.page", { first: this.first + 1, last: this.first + games.length, total: total.toLocaleString() });
    return html`<div class="panel stack" ?hidden=${isHidden}>
      ${this.filtersView()}
      <table class="game-list" ?hidden=${isEmpty}>
        <thead><tr>${COLUMNS.map((column) => this.headView(column))}<td class="of-delete"></td></tr></thead>
        <tbody>${repeat(games, ({ id }) => id, (game) => this.rowView(game))}</tbody>
      </table>
      <p class="notice" ?hidden=${!isEmpty}>${t(this.isFiltered ? "games.none" : this.games.isNarrow ? "games.empty.narrow" : "games.empty")}</p>
      <div class="row pages" ?hidden=${!total}>
        ${iconButton("games.page.back", "‹", () => this.go(this.first - PAGE), { isDisabled: !this.first })}<span class="small muted number" role="status">${place}</span
        >${iconButton("games.page.next", "›", () => this.go(this.first + PAGE), { isDisabled: this.first + PAGE >= total })}
      </div>
    </div>`;
  }

  filtersView() {
    const { filters } = this;
    const search = t("games.search");
    const fixed = (name, values) => this.selectView(name, values.map((value) => [value, t(`games.${name}.${value || "all"}`)]));
    const date = (name) => html`<label class="field"><span>${t(`games.${name}`)}</span><input type="date" .value=${filters[name]} @change=${(event) => this.filter({ [name]: event.target.value })} /></label>`;
    const isEmpty = this.found !== null && !this.games.state.games;
    const openings = this.games.state.openings.map((one) => [one.code, one[i18n.current()]]);
    return html`<div class="game-filters" ?hidden=${isEmpty}>
      <input type="text" class="game-search" placeholder=${search} aria-label=${search} title=${search} .value=${live(filters.text)} @input=${(event) => this.type(event.target.value)} />
      ${fixed("collection", ["mine", "records"])} ${fixed("side", ["", "me", "black", "white"])} ${fixed("result", ["", "won", "lost", "drawn"])}
      ${this.selectView("opening", [["", t("games.opening.all")], ...openings])} ${fixed("reviewed", ["", "yes", "no"])} ${date("since")} ${date("until")}
      <button type="button" class="quiet small" ?hidden=${this.found !== null && !this.isFiltered} @click=${() => this.filter(INITIAL)}>${t("games.clear")}</button>
    </div>`;
  }

  selectView(name, values) {
    return selectField(t(`games.${name}`), values, this.filters[name], (value) => this.filter({ [name]: value }));
  }

  headView({ name, sort }) {
    const isSorted = this.sort.sort === sort;
    const { isDescending } = this.sort;
    const text = t(`games.${name}`);
    const label = isSorted ? `${text} ${isDescending ? "↓" : "↑"}` : text;
    const order = isDescending ? "descending" : "ascending";
    return html`<th class=${`of-${name}`} scope="col" aria-sort=${isSorted ? order : nothing}>
      ${sort ? html`<button type="button" class="quiet" @click=${() => this.sortBy(sort)}>${label}</button>` : text}
    </th>`;
  }

  rowView(game) {
    const cells = {
      date: game.date || "–",
      players: html`<button type="button" class="quiet" title=${game.file}>${[game.black, game.white].map((name, side) => ofSide(game, side, name || t("games.nobody")))}</button>`,
      result: html`${resultView(game)}${game.tags.map((tag) => html` <span class="tag" title=${t(`games.tag.${tag}.about`)}>${t(`games.tag.${tag}`)}</span>`)}`,
      opening: this.games.state.openings.find(({ code }) => code === game.opening)?.[i18n.current()] ?? "",
      accuracy: pairView(game, game.accuracy, (value) => value.toFixed(0)),
      mistakes: pairView(game, game.mistakes, String),
      moves: i18n.current() === "ja" ? `${game.moves}手` : String(game.moves),
    };
    // With a ply the game opens there; without one it would begin with the first mistake.
    const open = (event) => !event.target.closest(".of-delete") && (location.hash = `#review/${game.id}/0`);
    return html`<tr data-game=${game.id} data-reviewed=${game.reviewed ?? ""} @click=${open}>
      ${COLUMNS.map(({ name }) => html`<td class=${`of-${name}`} data-label=${t(`games.${name}`)}>${cells[name]}</td>`)}
      <td class="of-delete">${this.deleteView(game)}</td>
    </tr>`;
  }

  deleteView(game) {
    const isSure = this.deleting.asked === game.id;
    const label = t(isSure ? "games.delete.sure" : "games.delete");
    return html`<button type="button" class=${`quiet small${isSure ? " sure" : ""}`} aria-label=${label} title=${t("games.delete")} @click=${() => this.delete(game)}>${isSure ? label : "×"}</button>`;
  }
}

function ofSide(game, side, text) {
  return html`<span class=${game.side === side ? "own" : ""}>${SIDES[side]}${text}</span>`;
}

function pairView(game, values, format) {
  if (game.reviewed === null) return html`<span class="muted">–</span>`;
  return html`<span class="pair">${values.map((value, side) => ofSide(game, side, value === null ? "–" : format(value)))}</span>`;
}

function resultView({ winner, isDraw, side }) {
  if (winner === null) return isDraw ? t("games.result.drawn") : "–";
  if (side === null) return html`<span class="winner">${t(winner ? "games.white.won" : "games.black.won")}</span>`;
  const name = winner === side ? "won" : "lost";
  return html`<span class=${name}>${t(`games.result.${name}`)}</span>`;
}
