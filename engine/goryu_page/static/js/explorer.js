// The view "Explorer": what was played in a position; lines that meet in it are one.

import { Board } from "./board.js";
import { h, toast } from "./dom.js";
import { playFrom } from "./handoff.js";
import * as i18n from "./i18n.js";
import { editButton } from "./position-editor.js";
import * as socket from "./socket.js";
import { button, html, nothing, render, repeat, selectField } from "./template.js";

const { t } = i18n;
const SCORES = ["black", "draw", "white"];
const MOST_ARROWS = 5;

let view = null;

export function mount(section) {
  view = new ExplorerView(section);
}

/** argument: perhaps an SFEN, and the moves of a line in USI, separated by commas; without one the line stays. */
export function show(argument) {
  if (argument !== undefined) {
    view.line = argument.split(",").filter(Boolean);
    view.start = view.line[0]?.includes(" ") ? view.line.shift() : "";
  } else history.replaceState(null, "", view.addressOf(view.line));
  view.look();
}

class ExplorerView {
  constructor(section) {
    this.start = ""; // An SFEN, or "" for the usual start.
    this.line = this.known = []; // In USI; the newest that can be played.
    this.found = null;
    this.chosen = { games: "all", side: "any" };
    this.stage = h("div", { class: "stage" });
    this.root = h("div", { class: "columns explorer-columns" }, this.stage);
    section.append(this.root);
    this.board = new Board(this.stage, { onMove: (usi) => this.play(usi) });
    section.tabIndex = -1;
    section.addEventListener("keydown", (event) => {
      if (event.key === "Backspace" && !event.target.closest("select, input")) this.goTo(this.line.length - 1);
    });
    socket.onConnected(() => section.hidden || this.look());
    socket.on("explorer.message", ({ text }) => toast(text));
    socket.on("games.changed", () => section.hidden || this.look());
    i18n.onChange(() => this.draw());
  }

  addressOf(line) {
    return `#explorer/${[this.start && encodeURIComponent(this.start), ...line].filter(Boolean).join(",")}`;
  }

  play(usi) {
    location.hash = this.addressOf([...this.line, usi]);
  }

  goTo(length) {
    location.hash = this.addressOf(this.line.slice(0, Math.max(0, length)));
  }

  async look() {
    const request = (this.asked = { start: this.start, moves: [...this.line], ...this.chosen });
    const found = await socket.request("explorer.look", request).catch((error) => {
      this.line = this.known; // An address may have named a wrong one.
      throw error;
    });
    if (this.asked !== request) return; // The user went on meanwhile.
    this.known = request.moves;
    this.found = found;
    this.draw();
  }

  async learn(moves, learns) {
    await socket.request("explorer.learn", { start: this.start, moves, learns });
    await this.look();
  }

  // Drawing.

  draw() {
    render(this.view(), this.root);
    if (this.found) this.drawBoard();
  }

  drawBoard() {
    const { sfen, legal, check, moves } = this.found;
    this.board.set({ sfen, legal, lastMove: this.line.at(-1) ?? null, check });
    const most = Math.max(1, ...moves.map(({ games }) => games));
    this.board.arrows(
      moves.slice(0, MOST_ARROWS).map(({ move, games, book }) => ({
        move,
        width: games ? 0.3 + (0.7 * games) / most : 0.25,
        color: games || !book ? "var(--arrow)" : "var(--warn)",
      })),
    );
  }

  view() {
    const { found } = this;
    return html`${this.stage}
      <div class="side">
        <div class="panel stack">
          <div class="row filters">${this.selectView("games", ["all", "mine", "records"])}${this.selectView("side", ["any", "black", "white"])}</div>
          <div class="row">
            ${button("explorer.start", () => this.goTo(0))}${button("explorer.back", () => this.goTo(this.line.length - 1))}
            ${button("explorer.flip", () => this.board.flip())}${button("explorer.play", () => playFrom({ sfen: this.start, moves: [...this.line] }))}${editButton(() => this.board.position.sfen)}
            ${found && this.line.length ? button(found.isLastLearnt ? "explorer.forget.last" : "explorer.learn.last", () => this.learn(this.line, !found.isLastLearnt)) : nothing}
          </div>
          <div class="line-moves row">${found ? this.lineView() : nothing}</div>
          <p class="opening">${found?.opening[i18n.current()]}</p>
        </div>
        <div class="panel"><h2>${t("explorer.moves")}</h2><div class="explored">${found ? this.movesView() : nothing}</div></div>
        <div class="panel">${found ? this.gamesView() : nothing}</div>
      </div>`;
  }

  selectView(name, values) {
    const choose = (value) => {
      this.chosen[name] = value;
      this.look();
    };
    const entries = values.map((value) => [value, t(`explorer.${name}.${value}`)]);
    return selectField(t(`explorer.${name}.label`), entries, this.chosen[name], choose);
  }

  lineView() {
    const names = this.found.line[i18n.current()];
    const one = (name, at) => {
      const current = at === this.line.length - 1 ? "true" : nothing;
      return html`<button type="button" class="line-move quiet" aria-current=${current} @click=${() => this.goTo(at + 1)}>${name}</button>`;
    };
    return repeat(names, (_, at) => names.slice(0, at + 1).join(" "), one);
  }

  movesView() {
    const { moves, count, hasGames, line } = this.found;
    if (!moves.length) return html`<p class="muted">${t(hasGames ? "explorer.none" : "explorer.empty")}</p>`;
    const head = (name) => {
      const about = `explorer.${name}.about`;
      return html`<th title=${i18n.has(about) ? t(about) : nothing}>${t(`explorer.${name}`)}</th>`;
    };
    const place = line.en.join(" "); // A click that has begun in another position must not play a move here.
    return html`<table>
        <thead><tr>${["move", "count", "score", "value", "book", "last"].map(head)}</tr></thead>
        <tbody>${repeat(moves, ({ move }) => `${place} ${move}`, (one) => this.rowView(one))}</tbody>
      </table>
      <p class="small muted score-legend" ?hidden=${!count}>${SCORES.map((name) => html`<span><i class=${name}></i>${t(`explorer.score.${name}`)}</span>`)}</p>`;
  }

  rowView(one) {
    const others = one.meeting - one.games;
    const name = one[i18n.current()];
    const cell = (text, className = "number") => html`<td class=${className}>${text}</td>`;
    const learn = t(one.learnt ? "explorer.learnt" : "explorer.learn");
    const meets = others > 0 && one.games;
    return html`<tr>
      <td class="name">
        <button type="button" class="learn quiet" aria-pressed=${one.learnt} aria-label=${`${name} ${learn}`} title=${learn} @click=${() => this.learn([...this.line, one.move], !one.learnt)}>${one.learnt ? "★" : "☆"}</button
        ><button type="button" class="line-move" @click=${() => this.play(one.move)}>${name}</button
        >${meets ? html`<span class="meeting small" title=${t("explorer.meeting.about", { count: others })}>${t("explorer.meeting", { count: one.meeting })}</span>` : nothing}
      </td>
      ${cell(one.games ? String(one.games) : others > 0 ? `(${one.meeting})` : "")}
      <td>${one.games ? scoreView(one) : nothing}</td>
      ${cell(one.win_rate === null ? "" : `${Math.round(100 * one.win_rate)} %`)} ${cell(!one.book ? "" : one.book[0] === null ? "○" : `${one.book[0] > 0 ? "+" : ""}${one.book[0]}`)}
      ${cell(one.last?.[1]?.slice(2) ?? "", "number small")}
    </tr>`;
  }

  gamesView() {
    const { games, count } = this.found;
    const some = games.length < count ? ` (${t("explorer.list.first", { count: games.length })})` : "";
    const name = (text) => text || t("explorer.unnamed");
    const sign = (winner, side) => (winner === side ? "○" : winner === 1 - side ? "●" : "");
    const text = ({ date, winner, black, white }) => `${date || "–"}  ${sign(winner, 0)}${name(black)} – ${sign(winner, 1)}${name(white)}`;
    const item = (game) => html`<li><button type="button" class="quiet" title=${t("explorer.open")} @click=${() => (location.hash = `#review/${game.id}/${game.ply}`)}>${text(game)}</button></li>`;
    return html`<h2>${t("explorer.list", { count })}${some}</h2><ul class="explored-games">${repeat(games, ({ id }) => id, item)}</ul>`;
  }
}

/** The results of the games with a move, as a bar. */
function scoreView({ games, black_wins, white_wins }) {
  const results = [black_wins, games - black_wins - white_wins, white_wins];
  const label = results.map((count, at) => `${t(`explorer.score.${SCORES[at]}`)} ${count}`).join(", ");
  const parts = results.map((count, at) => html`<span class=${SCORES[at]} .style=${`--share: ${(100 * count) / Math.max(1, games)}%`}></span>`);
  return html`<div class="score" role="img" aria-label=${label} title=${label}>${parts}</div>`;
}
