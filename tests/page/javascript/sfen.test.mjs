import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./modules.mjs";

const { afterMove } = await load("sfen.js");

test("a move leads to the position of the rules", () => {
  const games = JSON.parse(readFileSync(process.env.GORYU_GAMES, "utf8"));
  assert.ok(games.length > 0);
  for (const { sfens, moves } of games) {
    for (const [at, move] of moves.entries()) assert.equal(afterMove(sfens[at], move), sfens[at + 1], `${sfens[at]} ${move}`);
  }
});
