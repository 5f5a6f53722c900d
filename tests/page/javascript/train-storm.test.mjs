import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./modules.mjs";

const { Storm } = await load("train-storm.js");

test("the time runs out once, and what comes later does not count", () => {
  const storm = new Storm(1000, [1, 3]);
  assert.equal(storm.left(1001), "3:00");
  assert.equal(storm.left(176_001), "0:05");
  storm.count(true);
  assert.deepEqual([storm.tick(180_999), storm.tick(181_000), storm.tick(181_001)], [false, true, false]);
  storm.count(true);
  assert.deepEqual([storm.right, storm.wrong, storm.left(200_000)], [1, 0, "0:00"]);
});

test("problems get longer with the right answers, up to the longest", () => {
  const storm = new Storm(0, [1, 5]);
  const lengths = Array.from({ length: 20 }, () => (storm.count(true), storm.length));
  assert.deepEqual([lengths[3], lengths[4], lengths[9], lengths[19]], [1, 3, 5, 5]);
});
