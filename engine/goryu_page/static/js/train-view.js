// The task, the result and the list of the day in the view "Train", as templates.

import * as i18n from "./i18n.js";
import { percent, SIDES } from "./judgement.js";
import { time } from "./games-reviewing.js";
import { lineButtons, reasonView } from "./lines.js";
import { afterMove } from "./sfen.js";
import { button, html, nothing } from "./template.js";

const { t } = i18n;

/** What is asked, and where the problem comes from. */
export function taskView(problem) {
  if (!problem) return html`<h2>${t("train.welcome")}</h2><p class="muted small">${t("train.about")}</p>`;
  const names = problem.names?.some(Boolean) ? problem.names.map((name, side) => `${SIDES[side]}${name || i18n.ofGame(t(side ? "board.white" : "board.black"), problem)}`).join(" ") : "";
  const source = [problem.title, names, problem.date, problem.ply && problem.names && t("train.ply", { ply: problem.ply })];
  const task = t(`train.task.${problem.kind}`, { length: problem.length });
  return html`<h2>${task} ${i18n.ofGame(t(problem.turn ? "train.white" : "train.black"), problem)}</h2><p class="muted small">${i18n.inLine(...source)}</p>`;
}

/** What the answer was worth, and what may be told. view: the view "Train". */
export function resultView(state, view) {
  const { answer, told, problem } = state;
  const isShown = problem !== null && Boolean(answer || told);
  return html`<div class="panel stack train-result" aria-live="polite" ?hidden=${!isShown}>
    ${isShown ? html`${answer ? answerView(state, view) : nothing} ${told ? toldView(state, view) : nothing} ${state.isGoingOn ? nothing : buttonsView(state, view)}` : nothing}
  </div>`;
}

function answerView(state, view) {
  const { answer, position } = state;
  const { isRight, refutation } = answer;
  const after = isRight || !refutation.usi.length ? null : afterMove(position.sfen, answer.move.usi[0]);
  return html`<h2 class=${isRight ? "right" : "wrong"}>${verdict(answer, state.problem)}</h2>
    ${isRight ? nothing : reasonView(answer.reason)} ${answer.allowsMate && !isRight && !answer.reason ? html`<p>${t("train.allows", { plies: answer.allowsMate })}</p>` : nothing}
    ${after ? html`<p>${t("train.refuted")}</p>${lineView(state, after, refutation, view)}` : nothing}`;
}

function verdict(answer, problem) {
  const move = answer.move[i18n.current()][0];
  if (problem.kind === "tsume") {
    if (!answer.isOver) return i18n.labelled(move, answer.text);
    return answer.plies > answer.shortest ? t("train.tsume.longer", { plies: answer.plies, shortest: answer.shortest }) : t("train.tsume.solved", { plies: answer.plies });
  }
  if (answer.text) return i18n.labelled(move, answer.text);
  const loss = percent(answer.loss ?? 0);
  if (!answer.isRight) return t("train.wrong", { move, loss });
  if (answer.loss && answer.loss >= 0.01) return t(answer.isListed ? "train.right.listed" : "train.right.loss", { move, loss });
  return t("train.right", { move });
}

function toldView(state, view) {
  const { answer, problem, told } = state;
  const shown = (line) => (answer?.hasIdea ? firstMove(line) : line); // What follows may still be found.
  return html`<h3>${t(told.solutions.length > 1 ? "train.answers" : "train.answer")}</h3>
    ${told.solutions.map(({ line, winRate }) => lineView(state, problem.sfen, shown(line), view, winRate))} ${told.played ? playedView(state, view) : nothing}
    ${told.before ? beforeView(told.before) : nothing}`;
}

function firstMove({ usi, en, ja }) {
  return { usi: usi.slice(0, 1), en: en.slice(0, 1), ja: ja.slice(0, 1) };
}

function beforeView(before) {
  const values = { date: new Date(before.at).toLocaleDateString(i18n.current()), move: before.move?.[i18n.current()][0] };
  const key = !before.move ? "train.before.none" : before.isRight ? "train.before.right" : "train.before.wrong";
  return html`<p class="small muted">${t(key, values)}</p>`;
}

/** What was played in the game, and what punishes it. */
function playedView(state, view) {
  const { problem } = state;
  const { played } = state.told;
  const key = played.isMine ? "train.played.me" : "train.played";
  const other = problem.names?.[1 - problem.turn] || t("train.somebody");
  const sentences = [t(key, { move: played.move[i18n.current()][0], date: problem.date || t("train.some.day"), name: other })];
  if (played.isAnswer) sentences.push(t("train.played.right"));
  else if (played.loss !== null && played.loss !== undefined) sentences.push(t("train.played.loss", { loss: percent(played.loss) }));
  if (problem.allowsMate && !played.reason) sentences.push(t("train.allows", { plies: problem.allowsMate }));
  const isPunished = !played.isAnswer && played.refutation.usi.length > 0;
  return html`<p>${sentences.join(" ")}</p>${reasonView(played.reason)}
    ${isPunished ? lineView(state, afterMove(problem.sfen, played.move.usi[0]), played.refutation, view) : nothing}`;
}

/** A line whose moves are buttons that show the position on the board. */
function lineView(state, sfen, line, view, winRate = null) {
  const buttons = lineButtons(sfen, line[i18n.current()], (depth) => view.playLine(sfen, line.usi, depth), state.depthOf(sfen, line.usi));
  const rate = winRate === null || winRate === undefined ? nothing : html`<span class="muted number"> ${t("train.rate", { percent: percent(winRate) })}</span>`;
  return html`<p class="line">${buttons}${rate}</p>`;
}

function buttonsView({ answer, told, problem }, view) {
  const remove = view.removing.asked === problem.id ? "train.remove.sure" : "train.remove";
  return html`<div class="row">
    ${button("train.next", () => view.next(), { className: "primary" })} ${answer?.isRight ? nothing : button("train.retry", () => view.retry())}
    ${answer?.hasIdea ? button("train.idea", () => view.goOn()) : nothing} ${told && !answer?.hasIdea ? nothing : button("train.solution", () => view.solve())}
    ${told && (problem.game || problem.kind !== "tsume") ? button("train.play.on", () => view.playOn()) : nothing}
    ${told && problem.game ? button("train.open.game", () => view.review()) : nothing} ${button(remove, () => view.remove(), { className: "quiet" })}
  </div>`;
}

/** The clock and the score of three minutes of mate problems. best: the highest score. view: the view "Train". */
export function stormView(storm, now, best, view) {
  const { right, wrong, isOver } = storm;
  return html`<div class="row storm">
    <p class="number" role="timer">${isOver ? t("train.storm.over", { right, wrong, best }) : t("train.storm.score", { left: storm.left(now), right, wrong })}</p>
    ${isOver ? button("train.storm.again", () => view.storms(), { className: "primary small" }) : nothing}${button(isOver ? "train.storm.close" : "train.storm.stop", () => view.stopStorm(), { className: "small" })}
  </div>`;
}

/** The list of the day. isToday: does the board show a problem of it? */
export function dayView(state, isToday, start) {
  const { waiting } = state;
  return html`<div class="panel stack day">
    <h2>${t("train.today")}</h2>
    ${dayParts(state, isToday, start)}
    ${waiting ? html`<p class="small muted">${waitingText(state)}</p>` : nothing} ${refusedView(state.refused)}
    ${state.failure ? html`<p class="small wrong">${state.failure}</p>` : nothing}
  </div>`;
}

function waitingText({ isChecking, waiting, seconds }) {
  if (!isChecking) return t("train.waiting.paused", { count: waiting });
  return seconds === null ? t("train.waiting", { count: waiting }) : t("train.waiting.timed", { count: waiting, time: time(seconds) });
}

/** How many candidates are not asked, and why. refused: counts by reason, the most first. */
function refusedView(refused) {
  const found = Object.entries(refused);
  const count = found.reduce((sum, [, number]) => sum + number, 0);
  const why = found.map(([reason, number]) => i18n.labelled(t(`train.refused.${reason}`), number)).join(i18n.current() === "ja" ? "、" : ", ");
  return count ? html`<details class="small muted"><summary>${t("train.refused", { count })}</summary>${why}</details>` : nothing;
}

function dayParts({ day, settings, waiting }, isToday, start) {
  if (!settings.is_scheduled) return html`<p>${t("train.off")}</p>`;
  if (day.left) {
    const isTimed = settings.unit === "minutes";
    const done = isTimed ? Math.floor(day.seconds / 60) : day.done;
    const all = isTimed ? settings.amount : day.done + day.left;
    const text = t(isTimed ? "train.minutes" : "train.progress", { done, all, left: day.left, right: day.right });
    return html`<div class="row"><progress max=${all} .value=${done} aria-label=${t("train.today")}></progress></div>
      <p class="number">${text}</p>
      ${isToday ? nothing : button(day.done ? "train.continue" : "train.start", start, { className: "primary" })}`;
  }
  if (!day.done) return html`<p>${t(waiting ? "train.empty.waiting" : "train.empty")}</p>`;
  return html`<p class="done">${t("train.done")}</p>
    <p class="number">${t("train.done.count", { done: day.done, right: day.right })}</p>
    <p class="small muted">${t("train.tomorrow", { count: day.tomorrow })}</p>`;
}
