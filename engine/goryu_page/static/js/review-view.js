// The parts of a review as templates: functions of its state, and of what a click calls.

import * as i18n from "./i18n.js";
import { changeText, kindName, MISTAKES, percent, SIDES } from "./judgement.js";
import { badge, lineButton, lineButtons, lineOf, reasonView } from "./lines.js";
import { compactSelect, html, nothing, repeat } from "./template.js";
import { evaluation, LINE_COUNTS, linesShown, showLines, showsCentipawns } from "./unit.js";

const { t } = i18n;

function pick(pair) {
  return pair ? pair[i18n.current()] : "";
}

/** Returns the name of a move with its side where the language does not show it. */
function moveName(move, turn) {
  return `${i18n.current() === "ja" ? "" : SIDES[turn]}${pick(move)}`;
}

function clock(seconds) {
  if (seconds === null || seconds === undefined) return "";
  return `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, "0")}`;
}

/** Returns the name of a player, 0 black, 1 white. */
export function playerName(game, side) {
  const { names, ratings } = game;
  const rating = ratings[side] === null ? "" : ` (${ratings[side]})`;
  return `${SIDES[side]} ${names[side] || i18n.ofGame(t(side ? "board.white" : "board.black"), game)}${rating}`;
}

/** What is known of the game, and how its moves are judged. */
export function factsView(game) {
  const castles = game.castles.map((castle, side) => castle && `${SIDES[side]}${pick(castle)}`).filter(Boolean);
  const facts = [
    pick(game.handicap),
    game.opening && i18n.labelled(t("review.opening"), pick(game.opening)),
    castles.length && i18n.labelled(t("review.castles"), castles.join(" ")),
    t("review.number", { count: game.moves.length }),
    game.winner !== null && i18n.ofGame(t(`review.won.${game.winner}`), game),
    i18n.word("ending", game.ending),
  ];
  const percents = (shares) => Object.fromEntries(Object.entries(shares).map(([name, share]) => [name, percent(share)]));
  const rule = { ...percents(game.thresholds), margin: percent(game.margin, 1), playouts: game.playouts.toLocaleString() };
  const headers = Object.entries(game.headers).map(([key, value]) => i18n.labelled(i18n.current() === "en" ? i18n.word("header", key) : key, value)).join("  ");
  return html`<div class="facts small muted">
    <p class="about">${i18n.inLine(...facts)}</p>
    ${headers ? html`<p>${headers}</p>` : nothing}
    <p>${t("review.thresholds", rule)}</p>
    <p>${t("review.great", percents(game.great))}</p>
  </div>`;
}

/** The moves of the game with its variations. calls: go(index), playLine(at, line, depth, before). */
export function movesView(state, calls) {
  const { game } = state;
  const variations = allVariations(game.variations);
  const names = [t("review.start"), ...game.moves.map(pick)];
  return names.map((name, index) => {
    const move = game.moves[index - 1];
    const ply = index ? state.data.plies[index - 1] : null;
    const position = state.data.positions[index];
    const comment = index ? move.comment : game.comment;
    const isShown = !state.branch && index === state.at;
    return html`<li ?hidden=${state.limit !== null && index > state.limit}>
      <button type="button" class="game-move" data-index=${index} data-kind=${ply?.kind ?? ""} aria-current=${isShown ? "true" : nothing} @click=${() => calls.go(index)}>
        <span class="count">${index || ""}</span><span class="name">${name}</span>${badge(ply)}<span class="spent">${clock(move?.seconds)}</span
        ><span class="rate">${position ? evaluation(position.black) : ""}</span>
      </button>
      ${comment ? html`<p class="comment">${commentText(comment)}</p>` : nothing}
      ${variations.filter(({ ply }) => Math.min(ply, game.moves.length) === index).map((variation) => variationView(game, variation, calls))}
    </li>`;
  });
}

/** Returns a comment of a record with what engines noted (*評価値=50, #深さ=8) in one line. */
function commentText(comment) {
  const lines = comment.split("\n");
  const notes = lines.filter((line) => /^[*#]/.test(line)).map((line) => line.replace(/^[*#]+\s*/, "").replace("=", " "));
  return [...lines.filter((line) => !/^[*#]/.test(line)), i18n.inLine(...notes)].filter(Boolean).join("\n");
}

/** Returns the variations and those inside them, in the order of the record. */
function allVariations(variations) {
  return variations.flatMap((variation) => [variation, ...allVariations(variation.variations)]);
}

function variationView(game, variation, calls) {
  const at = Math.min(variation.ply - 1, game.moves.length);
  const play = (depth) => calls.playLine(at, variation, depth, variation.before);
  const moves = pick(variation).map((name, i) => html`${lineButton(name, () => play(i + 1), { title: variation.comments[i] })} `);
  return html`<p class="variation"><span class="muted">${t("review.variation", { number: variation.ply })} </span>${moves}</p>`;
}

/** The list of the mistakes. */
export function mistakesView(state, go) {
  const found = state.mistakes();
  if (!found.length) return html`<li class="muted">${t(state.isWhole() ? "review.mistakes.none" : "review.mistakes.not.yet")}</li>`;
  const item = (ply) => html`<li>
    <button type="button" class="mistake" data-kind=${ply.kind} data-index=${ply.ply} aria-current=${!state.branch && ply.ply === state.at ? "true" : nothing} @click=${() => go(ply.ply)}>
      <span class="count">${ply.ply}</span>${badge(ply)}<span class="name">${moveName(state.game.moves[ply.ply - 1], ply.turn)}</span
      ><span class="kind">${kindName(ply.kind)}</span><span class="number">−${percent(ply.loss)} %</span>
    </button>
  </li>`;
  return repeat(found, (ply) => ply.ply, item);
}

/** The accuracy of both players. */
export function playersView({ data: { summary }, game }) {
  /** @type {[string, (one: any) => any][]} */
  const rows = [
    ["review.accuracy", (one) => (one.accuracy === null ? "–" : `${one.accuracy.toFixed(1)} %`)],
    ["review.agreement", (one) => `${percent(one.agreement)} %`],
    ["review.loss", (one) => `${percent(one.meanLoss, 1)} %`],
    ...["great", "inaccuracy", ...MISTAKES].map((kind) => /** @type {[string, (one: any) => any]} */ ([`judgement.kind.${kind}`, (one) => one.counts[kind]])),
  ];
  return html`<div class="panel accuracies">
    <h2>${t("review.players")}</h2>
    <table class="accuracy-table">
      <thead><tr><td></td>${[0, 1].map((side) => html`<th scope="col">${SIDES[side]} ${game.names[side]}</th>`)}</tr></thead>
      <tbody>${rows.map(([key, value]) => html`<tr><th scope="row">${t(key)}</th>${summary.map((one) => html`<td class="number">${value(one)}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;
}

/** The judgement of the move that led to the position on the board. */
export function judgementView(state, playLine) {
  const ply = state.judged();
  const ending = state.ending();
  const line = (text, at, moves) => (moves.usi.length ? lineOf(text, `${at} ${moves.usi[0]}`, pick(moves), (depth) => playLine(at, moves, depth)) : nothing);
  const move = ply && moveName(state.game.moves[ply.ply - 1], ply.turn);
  const next = ply && MISTAKES.includes(ply.kind) ? "judgement.refutation" : "judgement.next";
  const end = state.analysis()?.ending === "declaration" ? t("review.declaration") : ending && t("review.over", { ending: i18n.word("ending", ending) });
  return html`<div class="panel judgement" aria-live="polite">
    ${!ply && !end ? html`<p class="muted">${t(state.at ? "review.unjudged" : "review.begin")}</p>` : nothing}
    ${ply
      ? html`<h2>${t("review.played", { number: ply.ply, move, kind: kindName(ply.kind) })} ${badge(ply)}</h2>
          <p class="number">${changeText(ply)}</p>
          ${reasonView(ply.reason)}
          ${line("judgement.better", ply.ply - 1, ply.better)} ${line(next, ply.ply, ply.refutation)}`
      : nothing}
    ${end ? html`<p class="notice-line">${end}</p>` : nothing}
  </div>`;
}

/** The best moves of the position on the board. enter(line, depth): plays them. redraw(): their number has changed. */
export function candidatesView(state, enter, redraw) {
  const analysis = state.analysis();
  const count = analysis?.moves.length && t("review.playouts", { count: analysis.playouts.toLocaleString(i18n.current()) });
  const choose = (lines) => {
    showLines(lines);
    redraw();
  };
  const counts = LINE_COUNTS.map((lines) => [lines, t("review.lines.count", { count: lines })]);
  return html`<div class="panel candidates">
    <div class="head"><h2>${t("review.candidates")}${count ? html`<span class="small muted number"> ${count}</span>` : nothing}</h2>
      ${compactSelect(t("review.lines"), counts, linesShown(), choose)}</div>
    ${analysis ? nothing : html`<p class="muted">${t("review.unknown")}</p>`} ${count ? candidateTable(state.key(), analysis, enter) : nothing}
  </div>`;
}

function candidateTable(key, analysis, enter) {
  const visits = analysis.moves.reduce((sum, move) => sum + move.visits, 0) || 1;
  const rows = analysis.moves.filter((move) => move.visits || move.mate).slice(0, linesShown());
  const row = (move) => {
    const share = move.visits / visits;
    const [name, ...rest] = pick(move.line);
    const line = rest.length ? lineButtons(`${key} ${move.usi}`, rest, (depth) => enter(move.line, depth + 1)) : null;
    return html`<tr>
        <td class="name">${lineButton(name, () => enter(move.line, 1))}</td>
        <td class="number">${rateOf(move)}</td>
        <td class="number share"><span class="bar" .style=${`--share: ${100 * share}%`}></span>${percent(share)} %</td>
        <td class="number">${percent(move.prior)} %</td>
      </tr>
      ${line ? html`<tr class="pv"><td colspan="4">${line}</td></tr>` : nothing}`;
  };
  const heads = ["review.move", showsCentipawns() ? "review.cp" : "review.winrate", "review.visits", "review.prior"].map((head) => html`<th scope="col">${t(head)}</th>`);
  // A button is for one move in one position: a click that has begun in another one must not play a move here.
  return html`<table><thead><tr>${heads}</tr></thead><tbody>${repeat(rows, (move) => `${key} ${move.usi}`, row)}</tbody></table>`;
}

function rateOf(move) {
  if (move.mate) return t(move.mate > 0 ? "review.mate.wins" : "review.mate.loses", { plies: Math.abs(move.mate) });
  return move.winRate === null ? "–" : `${evaluation(move.winRate, 1)}${showsCentipawns() ? "" : " %"}`;
}

/** The moves that have left the game. look(depth): shows the position after so many of them. */
export function branchView({ branch }, look) {
  if (!branch) return nothing;
  const start = branch.before?.length ?? branch.at;
  return html`<span class="muted">${t("review.branch", { number: start + 1 })} </span>${lineButtons(start, pick(branch), look, branch.depth)}`;
}
