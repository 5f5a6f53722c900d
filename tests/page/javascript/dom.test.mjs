import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { load } from "./modules.mjs";

const { setAddress } = await load("dom.js");

test("an address is written late, but not over one to which the user goes meanwhile", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const location = { hash: "#review" };
  const history = { replaceState: (_state, _title, address) => (location.hash = address) };
  Object.assign(globalThis, { location, history });

  setAddress({ hidden: false }, "#review/7/12");
  mock.timers.tick(1000);
  assert.equal(location.hash, "#review/7/12");

  setAddress({ hidden: true }, "#review/7/13");
  mock.timers.tick(1000);
  assert.equal(location.hash, "#review/7/12");

  setAddress({ hidden: false }, "#review/7/13");
  location.hash = "#play"; // The browser says so later, and the old view is shown until then.
  mock.timers.tick(1000);
  assert.equal(location.hash, "#play");
});
