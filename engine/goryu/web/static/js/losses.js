// The histogram of what the moves of both players lost.

import { h, svg } from "./dom.js";
import * as i18n from "./i18n.js";
import { MISTAKES } from "./judgement.js";
import { kindName } from "./move-classes.js";

const FINE = [0, 0.01, 0.02];
const SIDES = ["▲", "△"];
const [WIDE, TALL, BAR] = [40, 64, 15];

/** A histogram by the size of the loss; the limits of the classes are among those of its bars. */
export class Losses {
  constructor() {
    this.chart = h("div", { class: "losses-chart" });
    this.root = h("div", { class: "losses" }, h("h2", { dataset: { i18n: "review.losses" } }), this.chart);
  }

  /** plies: judgements or null. thresholds: the least loss of each class. */
  draw(plies, thresholds) {
    const least = Object.values(thresholds).sort((one, other) => one - other);
    const limits = [...FINE.filter((limit) => limit < least[0]), ...least];
    // Of each class, the mildest first: a loss that a short search may have overestimated is in a milder one.
    const none = Object.fromEntries(["good", "inaccuracy", ...MISTAKES].map((kind) => [kind, 0]));
    const counts = limits.map(() => [{ ...none }, { ...none }]);
    for (const ply of plies) {
      if (!ply) continue;
      const bar = counts[limits.findLastIndex((limit) => limit <= ply.loss)][ply.turn];
      bar[ply.kind in thresholds ? ply.kind : "good"] += 1;
    }
    const totals = counts.map((bars) => bars.map((bar) => Object.values(bar).reduce((sum, count) => sum + count, 0)));
    const most = Math.max(1, ...totals.flat());
    const percents = limits.map((limit) => Math.round(100 * limit));
    const groups = limits.map((_, at) => {
      const range = at + 1 < limits.length ? `${percents[at]}–${percents[at + 1]}` : `≥ ${percents[at]}`;
      const bars = counts[at].map((bar, side) => {
        const title = i18n.t("review.losses.bar", { side: SIDES[side], range, count: totals[at][side] });
        return this.bar(at, side, bar, totals[at][side], most, title);
      });
      const label = svg("text", { class: "limit", x: (at + 0.5) * WIDE, y: TALL + 24, "text-anchor": "middle", text: range });
      return svg("g", {}, ...bars, label);
    });
    const numbers = [0, 1].map((side) => totals.map((one) => one[side]).join(", "));
    const label = i18n.labelled(i18n.t("review.losses.about"), `▲ ${numbers[0]}; △ ${numbers[1]} (${percents.join(", ")} %)`);
    const axis = svg("line", { class: "axis", x1: 0, x2: limits.length * WIDE, y1: TALL + 12.5, y2: TALL + 12.5 });
    const view = { viewBox: `0 0 ${limits.length * WIDE} ${TALL + 30}`, role: "img", "aria-label": label };
    this.chart.replaceChildren(svg("svg", view, ...groups, axis), h("p", { class: "small muted", text: i18n.t("review.losses.about") }));
  }

  /** Returns a bar with a part for each class. */
  bar(at, side, classes, total, most, title) {
    const x = at * WIDE + WIDE / 2 + (side ? 1 : -BAR - 1);
    const height = (count) => (TALL * count) / most;
    let y = TALL + 12;
    const parts = Object.entries(classes).filter(([, count]) => count).map(([kind, count]) => {
      y -= height(count);
      const text = kind === "good" ? title : `${title}　${kindName(kind)} ${count}`;
      return svg("rect", { class: `side-${side} of-${kind}`, x, y, width: BAR, height: height(count), rx: 1.5 }, svg("title", { text }));
    });
    const number = total ? [svg("text", { class: "count", x: x + BAR / 2, y: y - 3, "text-anchor": "middle", text: total })] : [];
    return svg("g", { class: "loss-bar" }, ...parts, ...number);
  }
}
