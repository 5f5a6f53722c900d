import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./modules.mjs";

const { TrainState } = await load("train-state.js");
const { afterMove } = await load("sfen.js");

const START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
const PROBLEM = { sfen: START, legal: ["7g7f", "2g2f"] };

function asked() {
  const state = new TrainState();
  state.begin(PROBLEM);
  return state;
}

test("a move waits for its judgement, and the board shows it", () => {
  const state = asked();
  assert.ok(state.isOpen);
  state.play("7g7f");
  assert.ok(!state.isOpen);
  assert.deepEqual(state.board, { sfen: afterMove(START, "7g7f"), lastMove: "7g7f" });
});

test("a judgement that fails gives the position back", () => {
  const state = asked();
  state.play("7g7f");
  state.judge(null, "7g7f");
  assert.equal(state.board, PROBLEM);
  assert.ok(state.isOpen);
});

test("a right answer may tell the solutions, a wrong one shows what punishes it", () => {
  const right = asked();
  right.play("7g7f");
  right.judge({ isRight: true, solutions: [] }, "7g7f");
  assert.ok(right.told);
  const wrong = asked();
  wrong.play("2g2f");
  wrong.judge({ isRight: false, refutation: { usi: ["3c3d", "8h2b+"] } }, "2g2f");
  assert.equal(wrong.told, null);
  assert.equal(wrong.arrows[0].move, "3c3d");
  wrong.step(5);
  assert.equal(wrong.depthOf(afterMove(START, "2g2f"), ["3c3d", "8h2b+"]), 2);
  wrong.step(-5);
  assert.equal(wrong.board.sfen, afterMove(START, "2g2f"));
  wrong.retry();
  assert.equal(wrong.board, PROBLEM);
  assert.ok(wrong.isOpen);
});

test("a mate goes on from the defender's answer", () => {
  const state = asked();
  const next = { isRight: true, isOver: false, sfen: afterMove(afterMove(START, "7g7f"), "3c3d"), legal: ["2g2f"] };
  state.play("7g7f");
  state.judge(next, "7g7f");
  assert.ok(state.isGoingOn && state.isOpen);
  assert.equal(state.position, next);
});

test("the solution shows its first move from the start of the problem", () => {
  const state = asked();
  state.tell({ solutions: [{ line: { usi: ["2g2f", "8c8d"] } }] });
  assert.ok(!state.isOpen);
  assert.deepEqual(state.board, { sfen: afterMove(START, "2g2f"), lastMove: "2g2f" });
});

test("a page that is loaded again shows what was said of the answer", () => {
  const answer = { isRight: false, refutation: { usi: ["3c3d"] } };
  const wrong = new TrainState();
  wrong.begin({ ...PROBLEM, isAnswered: true, reply: { move: "2g2f", answer } });
  assert.equal(wrong.answer, answer);
  assert.ok(wrong.isAnswered && !wrong.isOpen);
  const told = new TrainState();
  told.begin({ ...PROBLEM, isAnswered: true, reply: { told: { solutions: [{ line: { usi: ["2g2f"] } }] } } });
  assert.equal(told.board.lastMove, "2g2f");
  const open = new TrainState();
  open.begin({ ...PROBLEM, isAnswered: true, reply: null });
  assert.ok(open.isAnswered && open.isOpen);
});
