// The histogram of what the moves of both players lost.

import { h, svg } from "./dom.js";
import * as i18n from "./i18n.js";
import { kindName } from "./move-classes.js";

const FINE = [0, 0.01, 0.02];
const SIDES = ["▲", "△"];
const [WIDE, TALL, BAR] = [40, 64, 15];

i18n.extend({
  en: {
    "review.losses": "Losses",
    "review.losses.about": "How many moves of ▲ (left) and △ (right) lost so much of the win rate, in percent",
    "review.losses.bar": "{side} {range} %: {count}",
  },
  ja: {
    "review.losses": "損失の分布",
    "review.losses.about": "勝率の損失（％）ごとの手数。左が▲、右が△",
    "review.losses.bar": "{side} {range} %：{count} 手",
  },
});

/** A histogram by the size of the loss; the limits of the classes are among those of its bars. */
export class Losses {
  constructor() {
    this.chart = h("div", { class: "losses-chart" });
    this.root = h("div", { class: "losses" }, h("h2", { dataset: { i18n: "review.losses" } }), this.chart);
  }

  /** plies: judgements or null. thresholds: the least loss of each class. */
  draw(plies, thresholds) {
    const classes = Object.entries(thresholds).sort((one, other) => one[1] - other[1]);
    const limits = [...FINE.filter((least) => least < classes[0][1]), ...classes.map((one) => one[1])];
    const counts = limits.map(() => [0, 0]);
    for (const ply of plies) if (ply) counts[limits.findLastIndex((least) => least <= ply.loss)][ply.turn]++;
    const most = Math.max(1, ...counts.flat());
    const percents = limits.map((least) => Math.round(100 * least));
    const groups = limits.map((least, at) => {
      const kind = classes.findLast((one) => one[1] <= least)?.[0] ?? "good";
      const range = at + 1 < limits.length ? `${percents[at]}–${percents[at + 1]}` : `≥ ${percents[at]}`;
      const bars = counts[at].map((count, side) => this.bar(at, side, count, most, i18n.t("review.losses.bar", { side: SIDES[side], range, count })));
      const middle = (at + 0.5) * WIDE;
      const label = svg("text", { class: "limit", x: middle, y: TALL + 24, "text-anchor": "middle", text: range });
      return svg("g", { class: `loss-group of-${kind}` }, svg("title", { text: kindName(kind) }), ...bars, label);
    });
    const total = [0, 1].map((side) => counts.map((one) => one[side]).join(", "));
    const label = i18n.labelled(i18n.t("review.losses.about"), `▲ ${total[0]}; △ ${total[1]} (${percents.join(", ")} %)`);
    const axis = svg("line", { class: "axis", x1: 0, x2: limits.length * WIDE, y1: TALL + 12.5, y2: TALL + 12.5 });
    const view = { viewBox: `0 0 ${limits.length * WIDE} ${TALL + 30}`, role: "img", "aria-label": label };
    this.chart.replaceChildren(svg("svg", view, ...groups, axis), h("p", { class: "small muted", text: i18n.t("review.losses.about") }));
  }

  bar(at, side, count, most, title) {
    const height = (TALL * count) / most;
    const x = at * WIDE + WIDE / 2 + (side ? 1 : -BAR - 1);
    const rectangle = svg("rect", { class: `side-${side}`, x, y: TALL + 12 - height, width: BAR, height, rx: 1.5 }, svg("title", { text: title }));
    const number = count ? [svg("text", { class: "count", x: x + BAR / 2, y: TALL + 9 - height, "text-anchor": "middle", text: count })] : [];
    return svg("g", {}, rectangle, ...number);
  }
}
