import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./modules.mjs";

const i18n = await load("i18n.js");
const { changeText, percent } = await load("judgement.js");

const TEXTS = {
  en: { "play.count": "{count} moves of {count}", "ending.draw": "draw", "judgement.change": "{before} → {after}", "judgement.missed": "misses {plies}" },
  ja: { "play.count": "{count}手", "ending.draw": "引き分け" },
};

test("values replace all their names, and English stands in for a text that is missing", () => {
  i18n.start(TEXTS, "ja");
  assert.equal(i18n.t("play.count", { count: 3 }), "3手");
  assert.equal(i18n.t("judgement.change", { before: 1 }), "1 → {after}");
  i18n.start(TEXTS, "en");
  assert.equal(i18n.t("play.count", { count: 3 }), "3 moves of 3");
});

test("the number decides between one and many, and the language how parts of a line are set apart", () => {
  i18n.start({ en: { "a.b": "{n} {n:game is|games are} here, {of:one|many}" }, ja: { "a.b": "{n}局、{of}" } }, "en");
  assert.equal(i18n.t("a.b", { n: 1, of: "1,001" }), "1 game is here, many");
  assert.equal(i18n.t("a.b", { n: 0, of: "1" }), "0 games are here, one");
  assert.equal(i18n.inLine("x", null, false, "y"), "x · y");
  i18n.start(TEXTS, "ja");
  assert.equal(i18n.inLine("x", "", "y"), "x　y");
});

test("in a game with a handicap Japanese has other names for the sides", () => {
  assert.equal(i18n.ofGame("先手（▲）の勝率", { isHandicap: true }), "下手（▲）の勝率");
  assert.equal(i18n.ofGame("後手の勝ち", { isHandicap: true }), "上手の勝ち");
  assert.equal(i18n.ofGame("後手の勝ち", {}), "後手の勝ち");
});

test("a word of the server is named, and an unknown one stays", () => {
  i18n.start(TEXTS, "ja");
  assert.equal(i18n.word("ending", "draw"), "引き分け");
  assert.equal(i18n.word("ending", "stalemate"), "stalemate");
  assert.equal(i18n.labelled("a", "b"), "a：b");
});

test("the change of a win rate is told in percent with the mates", () => {
  i18n.start(TEXTS, "en");
  assert.equal(percent(0.456), "46");
  assert.equal(changeText({ winRate: 0.5, playedWinRate: 0.25, missedMate: 3, allowsMate: null }), "50 → 25 · misses 3");
});
