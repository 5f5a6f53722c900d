// How the user develops: accuracy and mistakes by month, problems solved by day; small charts as SVG.

import * as i18n from "./i18n.js";
import { MISTAKES } from "./judgement.js";
import * as socket from "./socket.js";
import { html, nothing, svg } from "./template.js";

const { t } = i18n;
const PHASES = ["opening", "middlegame", "endgame"];
const HEIGHT = 190;
const NARROW = matchMedia("(max-width: 560px)"); // Fewer units make the same text larger.
const LEFT = 36;
const BOTTOM = 24;
const TOP = 8;
const DAY_MS = 86_400_000;
const CELL = 12;

/** games: the view "My games". */
export class ProgressCharts {
  constructor(games) {
    this.games = games;
    this.found = null;
    NARROW.addEventListener("change", () => games.draw());
  }

  async load() {
    this.found = await socket.request("games.progress", { minutes: -new Date().getTimezoneOffset() });
    this.games.draw();
  }

  view(isHidden) {
    return html`<div class="stack game-progress" ?hidden=${isHidden}>${this.found && !isHidden ? chartsView(this.found) : nothing}</div>`;
  }
}

function chartsView({ months, days }) {
  const note = (key) => html`<p class="notice">${t(key)}</p>`;
  const calendar = panelView("days", days.length ? calendarView(days) : note("games.progress.days.none"));
  if (!months.length) return html`<div class="panel">${note("games.progress.none")}</div>${calendar}`;
  const all = filled(months);
  const share = (month, counts) => counts.map((count) => count / month.games);
  const ofKinds = ({ mistakes }) => MISTAKES.map((kind) => total(Object.values(mistakes[kind])));
  const ofPhases = ({ mistakes }) => PHASES.map((phase) => total(MISTAKES.map((kind) => mistakes[kind][phase])));
  return html`${panelView("accuracy", accuracyView(all))}
    ${panelView("kinds", barsView("kinds", all, "kind", MISTAKES, (month) => share(month, ofKinds(month))), legendView("kind", MISTAKES))}
    ${panelView("phases", barsView("phases", all, "phase", PHASES, (month) => share(month, ofPhases(month))), legendView("phase", PHASES))} ${calendar}`;
}

function panelView(name, content, legend = null) {
  return html`<div class="panel stack"><h2>${t(`games.progress.${name}`)}</h2>${content}${legend}</div>`;
}

/** Returns all months from the first to the last; those without a game have none of the other fields. */
function filled(months) {
  const known = new Map(months.map((one) => [one.month, one]));
  const number = (month) => Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1;
  const name = (at) => `${String(Math.floor(at / 12)).padStart(4, "0")}-${String((at % 12) + 1).padStart(2, "0")}`;
  if (!months.length) return [];
  const [first, last] = [number(months[0].month), number(months.at(-1).month)];
  // A wrong date in one record must not make thousands of empty months.
  if (last - first > 600) return months;
  return Array.from({ length: last - first + 1 }, (_, i) => known.get(name(first + i)) ?? { month: name(first + i), games: 0 });
}

function total(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Returns where values lie in a chart by month, {x(i), y(value), step}. least, most: at its border. */
function scaleOf(months, least, most) {
  const width = NARROW.matches ? 360 : 660;
  const step = (width - LEFT - 8) / months.length;
  const y = (value) => HEIGHT - BOTTOM - ((value - least) / (most - least)) * (HEIGHT - BOTTOM - TOP);
  return { width, step, least, most, y, x: (i) => LEFT + (i + 0.5) * step };
}

/** Returns a chart with its axes around `content`. */
function frameView(name, months, { width, step, least, most, x, y }, content) {
  const every = Math.ceil(70 / step);
  const line = (part) => {
    const value = least + part * (most - least);
    return svg`<line x1=${LEFT} x2=${width} y1=${y(value)} y2=${y(value)} class="grid" /><text x=${LEFT - 6} y=${y(value) + 4} text-anchor="end">${value.toFixed(0)}</text>`;
  };
  const label = ({ month }, i) => (i % every === 0 ? svg`<text x=${x(i)} y=${HEIGHT - 6} text-anchor="middle">${month.replace("-", "/")}</text>` : nothing);
  return html`<svg viewBox=${`0 0 ${width} ${HEIGHT}`} class="bars" role="img" aria-label=${t(`games.progress.${name}`)}>${[0, 0.5, 1].map(line)}${months.map(label)}${content}</svg>`;
}

function accuracyView(months) {
  const values = months.map((one) => one.accuracy ?? null);
  const known = values.filter((value) => value !== null);
  const least = Math.max(0, Math.floor((Math.min(...known) - 5) / 10) * 10);
  const scale = scaleOf(months, least, 100);
  const points = values.map((value, i) => [value, i]).filter(([value]) => value !== null);
  const curve = points.map(([value, i]) => `${scale.x(i)},${scale.y(value)}`).join(" ");
  const dot = ([value, i]) => {
    const text = t("games.progress.month", { month: months[i].month, value: value.toFixed(1), games: months[i].games });
    return svg`<circle cx=${scale.x(i)} cy=${scale.y(value)} r="4" class="dot"><title>${text}</title></circle>`;
  };
  return frameView("accuracy", months, scale, svg`<polyline class="curve" points=${curve} />${points.map(dot)}`);
}

/** Returns stacked bars. values(month) -> one number for each of `names`. */
function barsView(name, months, group, names, values) {
  const rows = months.map((one) => (one.games ? values(one) : names.map(() => 0)));
  const most = 2 * Math.max(1, Math.ceil(Math.max(...rows.map(total)) / 2));
  const scale = scaleOf(months, 0, most);
  const width = Math.min(40, scale.step * 0.7);
  const bar = (row, i) => {
    let below = 0;
    return row.map((value, at) => {
      if (!value) return nothing;
      const text = t("games.progress.part", { month: months[i].month, name: t(`games.${group}.${names[at]}`), value: value.toFixed(1) });
      const [low, high] = [scale.y(below), scale.y(below + value)];
      below += value;
      return svg`<rect x=${scale.x(i) - width / 2} y=${high} width=${width} height=${low - high} class=${`part-${names[at]}`}><title>${text}</title></rect>`;
    });
  };
  return frameView(name, months, scale, svg`${rows.map(bar)}`);
}

function legendView(group, names) {
  return html`<p class="row small legend">${names.map((name) => html`<span class=${`mark-${name}`}>${t(`games.${group}.${name}`)}</span>`)}</p>`;
}

/** Returns the last year, or on a narrow window half of it, as squares: a column for each week, darker for more right answers. */
function calendarView(days) {
  const weeks = NARROW.matches ? 28 : 53;
  const known = new Map(days.map((one) => [one.day, one]));
  const most = Math.max(...days.map((one) => one.right), 1);
  const local = new Date();
  const today = Date.UTC(local.getFullYear(), local.getMonth(), local.getDate());
  const first = today - ((weeks - 1) * 7 + new Date(today).getUTCDay()) * DAY_MS;
  const parts = [];
  let month = "";
  for (let at = first, i = 0; at <= today; at += DAY_MS, i += 1) {
    const day = new Date(at).toISOString().slice(0, 10);
    const [column, row] = [Math.floor(i / 7), i % 7];
    if (row === 0 && day.slice(0, 7) !== month) {
      month = day.slice(0, 7);
      const hasRoom = column < weeks - 2 && (column > 0 || day.slice(8) < "15");
      const name = new Date(at).toLocaleString(i18n.current(), { month: "short", timeZone: "UTC" });
      if (hasRoom) parts.push(svg`<text x=${column * CELL} y="9">${name}</text>`);
    }
    const one = known.get(day);
    const level = one ? 1 + Math.min(3, Math.floor((3.999 * one.right) / most)) : 0;
    const title = one ? svg`<title>${t("games.progress.day", one)}</title>` : nothing;
    parts.push(svg`<rect x=${column * CELL} y=${16 + row * CELL} width=${CELL - 2} height=${CELL - 2} rx="2" class=${`level-${level}`}>${title}</rect>`);
  }
  return html`<svg viewBox=${`0 0 ${weeks * CELL} ${7 * CELL + 16}`} class="calendar" role="img" aria-label=${t("games.progress.days")}>${parts}</svg>`;
}
