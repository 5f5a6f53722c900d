// Line charts as SVG. They fill their element: lines and texts keep their size, however large it is.

import { html, nothing, render, svg } from "./template.js";

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const MOST_LABELS = 10;

/**
 * A chart in an element with a height given by CSS.
 *
 * series: [{color (a CSS variable such as "--accent"), width, size}], of the line and of its dots; without a size there are none.
 * options: range() -> the least and the greatest y, onClick(x).
 *
 *     const chart = new Chart(element, [{color: "--accent", width: 2}], {range: () => [0, 100], onClick: go});
 *     chart.set([0, 1, 2], [[50, 52, null]]);  // x, then one array of y per series; null is a gap, undefined is none
 *     chart.mark(1);  // a vertical line at x = 1
 */
export class Chart {
  constructor(element, series, { range, onClick = (_x) => {} }) {
    this.element = element;
    this.series = series;
    this.range = range;
    this.onClick = onClick;
    this.x = this.ys = [];
    this.marked = this.pointed = null; // An x: of the line, and where the mouse is.
  }

  /** Shows new values. */
  set(x, ys) {
    Object.assign(this, { x, ys });
    this.draw();
  }

  /** Draws a vertical line at x. */
  mark(x) {
    this.marked = x;
    this.draw();
  }

  point(x) {
    this.pointed = x;
    this.draw();
  }

  draw() {
    render(this.view(), this.element);
  }

  view() {
    const { x, ys, series } = this;
    const [first, last] = [x[0] ?? 0, x.at(-1) ?? 0];
    const [least, most] = this.range();
    const left = (one) => (100 * (one - first)) / (last - first || 1);
    const top = (y) => (100 * (most - y)) / (most - least);
    const nearest = ({ clientX, currentTarget }) => {
      const box = currentTarget.getBoundingClientRect();
      const distance = (one) => Math.abs(left(one) - (100 * (clientX - box.left)) / box.width);
      return x.reduce((best, one) => (distance(one) < distance(best) ? one : best), first);
    };
    const step = STEPS.find((one) => (last - first) / one < MOST_LABELS) ?? Infinity;
    const labels = x.length ? Array.from({ length: Math.floor(last / step) - Math.ceil(first / step) + 1 }, (_, i) => (Math.ceil(first / step) + i) * step) : [];
    const heights = [least, (least + most) / 2, most];
    const grid = [...labels.map((one) => `M${left(one)} 0V100`), ...heights.map((y) => `M0 ${top(y)}H100`)].join("");
    const points = (i, isShown = (_x) => true) => x.map((one, at) => [left(one), isShown(one) ? ys[i][at] : null]);
    const line = (d, color, width) => svg`<path d=${d} .style=${`stroke: var(${color}); stroke-width: ${width}px`} />`;
    const ofSeries = ({ color, width = 0, size = 0 }, i) => {
      const seen = points(i, (one) => one === this.pointed);
      return svg`${line(lineOf(points(i), top), color, width)}${size ? line(dotsOf(points(i), top), color, size) : nothing}${width ? line(dotsOf(seen, top), color, 7) : nothing}`;
    };
    const vertical = (one) => (one === null ? "" : `M${left(one)} 0V100`);
    return html`<div class="chart">
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" @click=${(event) => this.onClick(nearest(event))}
        @mousemove=${(event) => this.point(nearest(event))} @mouseleave=${() => this.point(null)}>
        <rect width="100" height="100" />${line(grid, "--line", 1)}${series.map(ofSeries)}<path class="pointed" d=${vertical(this.pointed)} />${line(vertical(this.marked), "--accent", 1.5)}
      </svg>
      ${heights.map((y) => html`<span class="y" .style=${`--at: ${top(y)}`}>${y}</span>`)} ${labels.map((one) => html`<span class="x" .style=${`--at: ${left(one)}`}>${one}</span>`)}
    </div>`;
  }
}

/** Returns a path through points, [[x, y]]. top(y): where it is. */
function lineOf(points, top) {
  let pen = "M";
  let path = "";
  for (const [x, y] of points) {
    if (y !== null && y !== undefined) path += `${pen}${x} ${top(y)}`;
    if (y !== undefined) pen = y === null ? "M" : "L";
  }
  return path;
}

/** Returns a path with a dot at each point: a line without a length has round ends. */
function dotsOf(points, top) {
  return points.filter(([, y]) => y !== null && y !== undefined).map(([x, y]) => `M${x} ${top(y)}h0`).join("");
}
