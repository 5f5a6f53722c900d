// The histogram of what the moves of both players lost.

import * as i18n from "./i18n.js";
import { kindName, SIDES } from "./judgement.js";
import { lossBars, total } from "./losses.js";
import { html, nothing, svg } from "./template.js";

const [WIDE, TALL, BAR, TOP] = [40, 64, 15, 16]; // TOP: room for the number of the highest bar.

/** Returns the histogram. See `lossBars`. */
export function lossesView(plies, thresholds) {
  const bars = lossBars(plies, thresholds);
  const most = Math.max(1, ...bars.flatMap(({ sides }) => sides.map(total)));
  const numbers = [0, 1].map((side) => `${SIDES[side]} ${bars.map(({ sides }) => total(sides[side])).join(", ")}`).join("; ");
  const about = i18n.t("review.losses.about");
  const label = i18n.labelled(about, `${numbers} (${bars.map(({ from }) => from).join(", ")} %)`);
  const wide = bars.length * WIDE;
  return html`<div class="losses"><h2>${i18n.t("review.losses")}</h2>
    <div class="losses-chart">
      <svg viewBox=${`0 0 ${wide} ${TALL + TOP + 18}`} role="img" aria-label=${label}>
        ${bars.map((bar, at) => groupView(bar, at, most))}
        <line class="axis" x1="0" x2=${wide} y1=${TALL + TOP + 0.5} y2=${TALL + TOP + 0.5} />
      </svg>
      <p class="small muted">${about}</p>
    </div></div>`;
}

function groupView({ from, to, sides }, at, most) {
  const range = to === null ? `≥ ${from}` : `${from}–${to}`;
  return svg`<g>${sides.map((classes, side) => barView(classes, side, at * WIDE, most, range))}
    <text class="limit" x=${(at + 0.5) * WIDE} y=${TALL + TOP + 12} text-anchor="middle">${range}</text></g>`;
}

/** Returns a bar with a part for each class. */
function barView(classes, side, left, most, range) {
  const count = total(classes);
  const title = i18n.t("review.losses.bar", { side: SIDES[side], range, count });
  const x = left + WIDE / 2 + (side ? 1 : -BAR - 1);
  let y = TALL + TOP;
  const parts = Object.entries(classes).filter(([, moves]) => moves).map(([kind, moves]) => {
    const height = (TALL * moves) / most;
    y -= height;
    const text = kind === "good" ? title : i18n.inLine(title, `${kindName(kind)} ${moves}`);
    return svg`<rect class=${`side-${side} of-${kind}`} x=${x} y=${y} width=${BAR} height=${height} rx="1.5"><title>${text}</title></rect>`;
  });
  const number = count ? svg`<text class="count" x=${x + BAR / 2} y=${y - 3} text-anchor="middle">${count}</text>` : nothing;
  return svg`<g class="loss-bar">${parts}${number}</g>`;
}
