import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./modules.mjs";

const { anotherGame, bottomOf, clockOf, clocksAfter, discsOf, keptGame, shownAt } = await load("play-state.js");

test("the person sits at the bottom, Black where there are two or none", () => {
  const sides = [[true, false], [false, true], [true, true], [false, false]];
  assert.deepEqual(sides.map((people) => bottomOf({ people }, false)), [0, 1, 0, 0]);
  assert.equal(bottomOf({ people: [false, true] }, true), 0);
});

test("only the clock of the side to move runs", () => {
  assert.deepEqual(clocksAfter({ left: [60, 50], running: 1 }, 2.5), [60, 47.5]);
  assert.deepEqual(clocksAfter({ left: [60, 50], running: null }, 2.5), [60, 50]);
});

test("a clock counts main time in minutes and byoyomi in seconds, and never below nothing", () => {
  assert.equal(clockOf(3599.2, 30).text, "1:00:00");
  assert.equal(clockOf(61, 0).text, "1:01");
  assert.deepEqual(clockOf(-10, 30), { seconds: 20, text: "20" });
  assert.equal(clockOf(-40, 30).seconds, 0);
});

test("a position that is looked at has no legal moves", () => {
  const state = { position: "now", start: "start", legal: [1], check: true, moves: [{ name: "a", position: "after a" }, { name: "b", position: "now" }] };
  assert.equal(shownAt(state, null).legal.length, 1);
  assert.deepEqual(shownAt(state, 1), { position: "after a", legal: [], move: state.moves[0], check: false });
  assert.equal(shownAt(state, 0).position, "start");
});

test("a tab keeps the moves, their times and the clocks, and what a teaching game has asked", () => {
  const moves = [{ name: "7g7f", seconds: 3, left: [60, 60] }];
  const lesson = { threshold: 0.1, moves: [], isJudging: false, question: { ply: 1 } };
  const kept = keptGame({ game: "shogi" }, { moves, over: null, clock: {}, lesson, kept: 7 }, [57, 60]);
  assert.deepEqual(kept, {
    game: "shogi", over: null, kept: 7, moves: ["7g7f"], seconds: [3], clocks: [[60, 60], [57, 60]],
    lesson: { threshold: 0.1, moves: [], isDue: true },
  });
});

test("discs are counted by side", () => {
  assert.deepEqual([0, 1].map((side) => discsOf("..XOX", side)), [2, 1]);
});

test("another game begins where this one began, also after a reload", () => {
  const setup = { game: "shogi", opponent: "5", side: "first", moves: ["2g2f"], before: 1, lesson: { threshold: 0.1 } };
  const moves = ["2g2f", "8c8d"].map((name) => ({ name, seconds: 1 }));
  const lesson = { threshold: 0.1, moves: [{}], isJudging: false, question: null };
  const kept = keptGame(setup, { moves, over: { ending: "time", winner: 1 }, clock: null, lesson, kept: 7 }, null);
  assert.deepEqual(anotherGame(kept), setup);
  assert.deepEqual(anotherGame({ game: "tictactoe", moves: ["4"], seconds: [1], over: {}, kept: null }), { game: "tictactoe" });
});
