// How the user develops: accuracy and mistakes by month, problems solved by day; small charts as SVG.

import { h, svg } from "./dom.js";
import * as i18n from "./i18n.js";
import * as socket from "./socket.js";

const KINDS = ["dubious", "mistake", "blunder"];
const PHASES = ["opening", "middlegame", "endgame"];
const HEIGHT = 190;
const NARROW = matchMedia("(max-width: 560px)"); // Fewer units make the same text larger.
const LEFT = 36;
const BOTTOM = 24;
const TOP = 8;
const DAY_MS = 86_400_000;
const CELL = 12;

export class ProgressCharts {
  constructor() {
    this.found = null;
    NARROW.addEventListener("change", () => this.draw());
    this.root = h("div", { class: "stack game-progress", hidden: true });
    i18n.onChange(() => this.draw());
  }

  async load() {
    this.found = await socket.request("games.progress", { minutes: -new Date().getTimezoneOffset() });
    this.draw();
  }

  draw() {
    if (!this.found) return;
    const { months, days } = this.found;
    const panel = (name, content, legend) => h("div", { class: "panel stack" }, h("h2", { text: i18n.t(`games.progress.${name}`) }), content, legend);
    const note = (key) => h("p", { class: "notice", text: i18n.t(key) });
    const all = filled(months);
    const sums = (month, of) => of.map((count) => count / month.games);
    const charts = months.length
      ? [
          panel("accuracy", accuracyChart(all)),
          panel(
            "kinds",
            barChart("kinds", all, "kind", KINDS, (month) => sums(month, KINDS.map((kind) => total(Object.values(month.mistakes[kind]))))),
            legendOf("kind", KINDS),
          ),
          panel(
            "phases",
            barChart("phases", all, "phase", PHASES, (month) => sums(month, PHASES.map((phase) => total(KINDS.map((kind) => month.mistakes[kind][phase]))))),
            legendOf("phase", PHASES),
          ),
        ]
      : [h("div", { class: "panel" }, note("games.progress.none"))];
    this.root.replaceChildren(...charts, panel("days", days.length ? calendar(days) : note("games.progress.days.none")));
  }
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

function frame(name, months, most, least, format) {
  const chartWidth = NARROW.matches ? 360 : 660;
  const root = svg("svg", { viewBox: `0 0 ${chartWidth} ${HEIGHT}`, class: "bars", role: "img", "aria-label": i18n.t(`games.progress.${name}`) });
  const step = (chartWidth - LEFT - 8) / months.length;
  const x = (i) => LEFT + (i + 0.5) * step;
  const y = (value) => HEIGHT - BOTTOM - ((value - least) / (most - least)) * (HEIGHT - BOTTOM - TOP);
  for (const part of [0, 0.5, 1]) {
    const value = least + part * (most - least);
    root.append(svg("line", { x1: LEFT, x2: chartWidth, y1: y(value), y2: y(value), class: "grid" }));
    root.append(svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end", text: format(value) }));
  }
  const every = Math.ceil(70 / step);
  months.forEach((one, i) => {
    if (i % every === 0) root.append(svg("text", { x: x(i), y: HEIGHT - 6, "text-anchor": "middle", text: one.month.replace("-", "/") }));
  });
  return { root, x, y, step };
}

function accuracyChart(months) {
  const values = months.map((one) => one.accuracy ?? null);
  const known = values.filter((value) => value !== null);
  const least = Math.max(0, Math.floor((Math.min(...known) - 5) / 10) * 10);
  const { root, x, y } = frame("accuracy", months, 100, least, (value) => value.toFixed(0));
  const points = values.map((value, i) => [value, i]).filter(([value]) => value !== null);
  root.append(svg("polyline", { class: "curve", points: points.map(([value, i]) => `${x(i)},${y(value)}`).join(" ") }));
  for (const [value, i] of points) {
    const text = i18n.t("games.progress.month", { month: months[i].month, value: value.toFixed(1), games: months[i].games });
    root.append(svg("circle", { cx: x(i), cy: y(value), r: 4, class: "dot" }, svg("title", { text })));
  }
  return root;
}

/** Returns stacked bars. values(month) -> one number for each of `names`. */
function barChart(name, months, group, names, values) {
  const rows = months.map((one) => (one.games ? values(one) : names.map(() => 0)));
  const most = 2 * Math.max(1, Math.ceil(Math.max(...rows.map(total)) / 2));
  const { root, x, y, step } = frame(name, months, most, 0, (value) => value.toFixed(0));
  const width = Math.min(40, step * 0.7);
  rows.forEach((row, i) => {
    let below = 0;
    row.forEach((value, at) => {
      if (!value) return;
      const text = i18n.t("games.progress.part", { month: months[i].month, name: i18n.t(`games.${group}.${names[at]}`), value: value.toFixed(1) });
      const box = { x: x(i) - width / 2, y: y(below + value), width, height: y(below) - y(below + value), class: `part-${names[at]}` };
      root.append(svg("rect", box, svg("title", { text })));
      below += value;
    });
  });
  return root;
}

function legendOf(group, names) {
  return h("p", { class: "row small legend" }, ...names.map((name) => h("span", { class: `mark-${name}`, text: i18n.t(`games.${group}.${name}`) })));
}

/** Returns the last year, or on a narrow window half of it, as squares: a column for each week, darker for more right answers. */
function calendar(days) {
  const weeks = NARROW.matches ? 28 : 53;
  const known = new Map(days.map((one) => [one.day, one]));
  const most = Math.max(...days.map((one) => one.right), 1);
  const root = svg("svg", { viewBox: `0 0 ${weeks * CELL} ${7 * CELL + 16}`, class: "calendar", role: "img", "aria-label": i18n.t("games.progress.days") });
  const local = new Date();
  const today = Date.UTC(local.getFullYear(), local.getMonth(), local.getDate());
  const first = today - ((weeks - 1) * 7 + new Date(today).getUTCDay()) * DAY_MS;
  let month = "";
  for (let at = first, i = 0; at <= today; at += DAY_MS, i += 1) {
    const day = new Date(at).toISOString().slice(0, 10);
    const [column, row] = [Math.floor(i / 7), i % 7];
    if (row === 0 && day.slice(0, 7) !== month) {
      month = day.slice(0, 7);
      const hasRoom = column < weeks - 2 && (column > 0 || day.slice(8) < "15");
      if (hasRoom) root.append(svg("text", { x: column * CELL, y: 9, text: new Date(at).toLocaleString(i18n.current(), { month: "short", timeZone: "UTC" }) }));
    }
    const one = known.get(day);
    const level = one ? 1 + Math.min(3, Math.floor((3.999 * one.right) / most)) : 0;
    const box = { x: column * CELL, y: 16 + row * CELL, width: CELL - 2, height: CELL - 2, rx: 2, class: `level-${level}` };
    root.append(svg("rect", box, ...(one ? [svg("title", { text: i18n.t("games.progress.day", one) })] : [])));
  }
  return root;
}
