// The parts of the view "Play" as templates: the players, the status, the moves.

import * as i18n from "./i18n.js";
import { clockOf, discsOf } from "./play-state.js";
import { html, nothing } from "./template.js";

const { t } = i18n;
const REVERSI = ["play.black", "play.white"];
const DISCS = ["●", "○"];
const MARKS = { shogi: ["☗", "☖"], reversi: DISCS, reversi6: DISCS, reversi4: DISCS, tictactoe: ["×", "○"] };
const SIDES = { shogi: ["play.black", "play.white"], reversi: REVERSI, reversi6: REVERSI, reversi4: REVERSI, tictactoe: ["play.cross", "play.ring"] };

function sideName(state, side) {
  return i18n.ofGame(t(SIDES[state.game][side]), state);
}

/**
 * A player beside the board. opponent: the name of the engine, if one plays this side. cells: of the position that is shown. clocks: what both
 * show now. isThinking: does the engine think?
 */
export function playerView(state, side, { opponent, cells, clocks, isThinking }) {
  const { game, people, clock } = state;
  const isPerson = people[side];
  const mark = MARKS[game][side];
  const name = isPerson ? (people[1 - side] ? sideName(state, side) : t("play.you")) : opponent;
  return html`${name === mark ? nothing : html`<span class=${`mark ${game.replace(/\d/, "")} side-${side}`} aria-hidden="true">${mark}</span>`}<span class="name">${name}</span>
    ${isPerson ? nothing : html`<span class="dots" ?hidden=${!isThinking} title=${t("play.thinking")}><i></i><i></i><i></i></span>`}
    ${game.startsWith("reversi") ? html`<span class="discs number">${discsOf(cells, side)}</span>` : nothing} ${clock ? clockView(clock, side, clocks[side]) : nothing}`;
}

function clockView(clock, side, left) {
  const { text, seconds } = clockOf(left, clock.byoyomi);
  return html`<time class=${`clock number${clock.running === side && seconds < 10 ? " short" : ""}`} data-side=${side}>${text}</time>`;
}

/** Returns [status, detail] of the game. at: the move that is looked at, or null. waiting: why the opponent waits, or "". */
export function statusOf(state, at, waiting) {
  const [status, detail] = statusNow(state, waiting);
  if (at === null) return [status, detail];
  const looking = t("play.looking", { ply: at, count: state.moves.length });
  return [status, i18n.inLine(state.over && detail, looking)];
}

function statusNow(state, waiting) {
  const { over, people, turn, check, failed } = state;
  const isOneOfEach = people[0] !== people[1];
  if (over) return [verdictOf(state), reasonOf(state)];
  if (failed) return [t("play.failed"), t("play.failed.about")];
  if (!people[turn] && isOneOfEach) return [waiting || t("play.turn.engine"), ""];
  const status = isOneOfEach ? t("play.turn.you") : t("play.turn.side", { side: sideName(state, turn) });
  return [status, check ? t("play.check") : ""];
}

/** Returns who has won. */
export function verdictOf(state) {
  const { over, people } = state;
  if (over.winner === null) return t("play.draw");
  if (people[0] === people[1]) return t("play.wins", { side: sideName(state, over.winner) });
  return t(people[over.winner] ? "play.won" : "play.lost");
}

/** Returns how the game has ended. */
export function reasonOf({ over, game, position }) {
  if (over.ending) return t(`over.${over.ending}`);
  if (game === "shogi") return "";
  if (game === "tictactoe") return t(over.winner === null ? "over.full" : "over.line");
  return t("over.discs", { first: discsOf(position, 0), second: discsOf(position, 1) });
}

/** The moves of the game. names: in the notation of the user. current: the number of the move that is shown. */
export function movesView(names, current, look) {
  const item = (name, at) => html`<li>
    <button type="button" aria-current=${at + 1 === current ? "true" : nothing} @click=${() => look(at + 1)}><span class="ply">${at + 1}</span><span>${name}</span></button>
  </li>`;
  return html`<ol class="moves">${names.map(item)}</ol>`;
}

/** The moves that the engine would play. nameOf(move): in the notation of the user. */
export function hintsView(hints, nameOf) {
  const item = (hint) => html`<li><b>${nameOf(hint)}</b><span class="number muted">${hint.rate.toFixed(0)} %</span></li>`;
  return html`<ol class="hints" ?hidden=${!hints?.length}>${hints ? html`<li class="muted small">${t("play.hint.title")}</li>${hints.map(item)}` : nothing}</ol>`;
}
