import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./modules.mjs";

const { afterMove, boxOf } = await load("sfen.js");

test("a move leads to the position of the rules", () => {
  const games = JSON.parse(readFileSync(process.env.GORYU_GAMES, "utf8"));
  assert.ok(games.length > 0);
  for (const { sfens, moves } of games) {
    for (const [at, move] of moves.entries()) assert.equal(afterMove(sfens[at], move), sfens[at + 1], `${sfens[at]} ${move}`);
  }
});

test("the box holds what is neither on the board nor in a hand", () => {
  assert.deepEqual(boxOf("4k4/4+P4/9/9/9/9/9/9/9 b R2r16p 1"), { k: 1, r: -1, b: 2, g: 4, s: 4, n: 4, l: 4, p: 1 });
});
