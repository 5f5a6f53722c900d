import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./modules.mjs";

const { ReviewState } = await load("review-state.js");
const { afterMove } = await load("sfen.js");
const { centipawns, evaluation } = await load("unit.js");

const START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
const MOVES = ["7g7f", "3c3d", "2g2f", "8c8d"];

function reviewed(limit = null) {
  const positions = [{ sfen: START, check: false }];
  for (const move of MOVES) positions.push({ sfen: afterMove(positions.at(-1).sfen, move), check: false });
  const game = { start: START, positions, moves: MOVES.map((usi) => ({ usi, ja: usi, en: usi })) };
  const plies = [null, { ply: 2, kind: "blunder" }, { ply: 3, kind: "good" }, { ply: 4, kind: "dubious" }];
  return new ReviewState({ game, positions: positions.map(() => null), plies, summary: [] }, limit);
}

const line = (...usi) => ({ usi, ja: [...usi], en: [...usi] });

test("one goes through the game and not beyond its ends", () => {
  const state = reviewed();
  state.step(1);
  assert.deepEqual(state.line(), ["7g7f"]);
  state.go(Infinity);
  state.step(1);
  assert.equal(state.at, 4);
  for (const before of [-3, NaN]) {
    state.go(before);
    assert.equal(state.at, 0);
  }
});

test("a line that follows the game stays in it", () => {
  const state = reviewed();
  state.playLine(1, line("3c3d", "2g2f", "4c4d"), 2);
  assert.equal(state.branch, null);
  assert.equal(state.at, 3);
});

test("a move beside the game is a branch, which a step back leaves", () => {
  const state = reviewed();
  state.go(1);
  state.play("8c8d");
  assert.deepEqual(state.line(), ["7g7f", "8c8d"]);
  assert.equal(state.shown().sfen, afterMove(afterMove(START, "7g7f"), "8c8d"));
  state.play("2g2f");
  state.step(-1);
  assert.deepEqual(state.line(), ["7g7f", "8c8d"]);
  state.play("2g2f");
  assert.equal(state.branch.usi.length, 2);
  state.step(-1);
  state.play("6g6f"); // Another move instead: what followed is forgotten.
  assert.deepEqual(state.line(), ["7g7f", "8c8d", "6g6f"]);
  state.go(1);
  assert.equal(state.branch, null);
});

test("a line from a branch goes on behind the moves that are played in it", () => {
  const state = reviewed();
  state.playLine(1, line("8c8d", "2g2f", "8d8e"), 1);
  state.enter(line("6g6f", "8d8e"), 2);
  assert.deepEqual(state.line(), ["7g7f", "8c8d", "6g6f", "8d8e"]);
  assert.equal(state.place, 1);
});

test("a variation of the record has its own way from the start", () => {
  const state = reviewed();
  state.playLine(2, line("6g6f"), 1, ["7g7f", "8c8d"]);
  assert.deepEqual(state.line(), ["7g7f", "8c8d", "6g6f"]);
  assert.equal(state.shown().sfen, ["7g7f", "8c8d", "6g6f"].reduce((sfen, move) => afterMove(sfen, move), START));
});

test("while moves are guessed, nothing beyond the limit is shown, and its move is a branch", () => {
  const state = reviewed(2);
  state.go(4);
  assert.equal(state.at, 2);
  state.playLine(2, line("2g2f"));
  assert.deepEqual(state.branch.usi, ["2g2f"]);
});

test("the deeper analysis counts", () => {
  const state = reviewed();
  const kept = { playouts: 100, moves: [] };
  state.update({ index: 1, position: kept, plies: { 0: { ply: 1, kind: "best" } }, summary: [1] });
  state.go(1);
  assert.equal(state.analysis(), kept);
  assert.equal(state.judged().kind, "best");
  state.live.set("7g7f", { playouts: 50, moves: [] });
  assert.equal(state.analysis(), kept);
  const deeper = { playouts: 500, moves: [] };
  state.live.set("7g7f", deeper);
  assert.equal(state.analysis(), deeper);
});

test("half of the games won are no centipawns, and a win rate at odds of e : 1 is what the engine writes for it", () => {
  assert.equal(centipawns(0.5), 0);
  assert.equal(centipawns(Math.E / (1 + Math.E)), 285);
  assert.equal(centipawns(1 / (1 + Math.E)), -285);
  assert.equal(evaluation(0.734), "73");
});

test("mistakes are found before and behind the place", () => {
  const state = reviewed();
  assert.equal(state.mistakeFrom(1), 2);
  state.go(2);
  assert.equal(state.mistakeFrom(1), 4);
  assert.equal(state.mistakeFrom(-1), null);
  state.go(3);
  assert.equal(state.mistakeFrom(-1), 2);
});

test("the name of a tried move comes with its legal moves, also when the user has gone on", () => {
  const state = reviewed();
  state.go(1);
  state.play("8c8d");
  state.play("2g2f");
  state.enterExplored(["7g7f", "8c8d"], { legal: [], check: false, name: { ja: "△８四歩", en: "P-8d" } });
  assert.deepEqual(state.branch.en, ["P-8d", "2g2f"]);
});
