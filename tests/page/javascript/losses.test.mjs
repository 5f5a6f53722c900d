import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./modules.mjs";

const { lossBars, total } = await load("losses.js");

const THRESHOLDS = { inaccuracy: 0.05, dubious: 0.1, mistake: 0.2, blunder: 0.3 };

test("every judged move is in one bar, and the limits of the classes are among those of the bars", () => {
  const plies = Array.from({ length: 101 }, (_, i) => ({ loss: i / 100, kind: "good", turn: i % 2 }));
  const bars = lossBars([null, ...plies], THRESHOLDS);
  assert.deepEqual(bars.map(({ from }) => from), [0, 1, 2, 5, 10, 20, 30]);
  assert.deepEqual(bars.map(({ to }) => to), [1, 2, 5, 10, 20, 30, null]);
  assert.equal(total(bars.map(({ sides }) => total(sides[0]) + total(sides[1]))), 101);
  assert.equal(total(bars.at(-1).sides[0]), 36);
});

test("a move counts in its class, which may be milder than its loss", () => {
  const bars = lossBars([{ loss: 0.35, kind: "mistake", turn: 1 }, { loss: 0.01, kind: "best", turn: 0 }], THRESHOLDS);
  assert.equal(bars.at(-1).sides[1].mistake, 1);
  assert.equal(bars[1].sides[0].good, 1);
});
