// Line charts, drawn by uPlot in the colours of the page.
// @ts-nocheck (the file of uPlot says nothing about its types)

import uPlot from "../vendor/uplot/uPlot.js";

/**
 * A chart that fills its element and follows its size and the theme.
 *
 * element: has a height given by CSS. series: [{label, color (a CSS variable such as "--accent"), fill, width, points, size}];
 * points, size: of its dots; width 0 leaves only these.
 * options: yRange [least, most], format(value) -> label of the y axis, onClick(x), points (boolean), height.
 *
 *     const chart = new Chart(element, [{label: "win rate", color: "--accent"}], {yRange: [0, 100], onClick: go});
 *     chart.set([0, 1, 2], [[50, 52, null]]);  // x, then one array of y per series; null is a gap
 *     chart.mark(1);  // a vertical line at x = 1
 */
export class Chart {
  constructor(element, series, options = {}) {
    this.element = element;
    this.series = series;
    this.options = options;
    this.data = [[], ...series.map(() => [])];
    this.marked = null;
    this.build();
    new ResizeObserver(() => this.resize()).observe(element);
    addEventListener("goryu:theme", () => this.build());
  }

  /** Shows new values. */
  set(x, ys) {
    this.data = [x, ...ys];
    this.plot.setData(this.data);
  }

  /** Draws a vertical line at x, or none for null. */
  mark(x) {
    this.marked = x;
    this.plot.redraw(false);
  }

  /** Removes the chart. */
  destroy() {
    this.plot.destroy();
  }

  resize() {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth && clientHeight) this.plot.setSize({ width: clientWidth, height: clientHeight });
  }

  build() {
    this.plot?.destroy();
    const color = (name) => colorOf(this.element, name);
    const axis = {
      stroke: color("--muted"),
      font: "12px system-ui, sans-serif",
      grid: { stroke: color("--line"), width: 1 },
      ticks: { show: false },
    };
    const { yRange, format, points = false } = this.options;
    this.plot = new uPlot(
      {
        width: this.element.clientWidth || 300,
        height: this.element.clientHeight || 160,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
        scales: { x: { time: false }, y: yRange ? { range: yRange } : {} },
        axes: [
          { ...axis, size: 26, incrs: [1, 2, 5, 10, 20, 50, 100] },
          { ...axis, size: 40, values: format ? (_plot, values) => values.map(format) : undefined },
        ],
        series: [
          {},
          ...this.series.map((one) => ({
            label: one.label,
            stroke: color(one.color),
            fill: one.fill && color(one.fill),
            fillTo: one.fillTo,
            width: one.width ?? 2,
            points: { show: one.points ?? points, size: one.size, fill: color(one.color) },
            spanGaps: false,
          })),
        ],
        hooks: { draw: [(plot) => this.drawMark(plot, color("--accent"))] },
      },
      this.data,
      this.element,
    );
    this.plot.over.addEventListener("click", () => {
      const at = this.plot.cursor.idx;
      if (at !== null && at !== undefined) this.options.onClick?.(this.data[0][at]);
    });
  }

  drawMark(plot, color) {
    if (this.marked === null || this.marked === undefined) return;
    const x = plot.valToPos(this.marked, "x", true);
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = color;
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  }
}

/** Returns a colour that a canvas understands. name: a CSS variable such as "--accent", or a colour. */
export function colorOf(element, name) {
  if (!name?.startsWith("--")) return name;
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
