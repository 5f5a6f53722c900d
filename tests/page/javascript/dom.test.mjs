import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { load } from "./modules.mjs";

const { setAddress } = await load("dom.js");

test("an address is written late, but not over one to which the user goes meanwhile", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const location = { hash: "#review" };
  const history = { replaceState: (_state, _title, address) => (location.hash = address), pushState: () => assert.fail() };
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

test("another game or problem becomes a new entry of the history, and what changes in it does not", () => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  const location = { hash: "#train" };
  const history = {
    entries: ["#train"],
    pushState: (_state, _title, address) => history.entries.push((location.hash = address)),
    replaceState: (_state, _title, address) => history.entries.splice(-1, 1, (location.hash = address)),
  };
  Object.assign(globalThis, { location, history });
  const write = (address, isAnother) => setAddress({ hidden: false }, address, isAnother);
  const all = [["#train/1", true], ["#train/2", true], ["#train/2"], ["#review/7/0"], ["#review/7/1"], ["#review/7/2", true], ["#review/8/0", true], ["#review", true]];
  for (const [address, isAnother] of all) {
    write(address, isAnother);
    mock.timers.tick(1000);
  }
  assert.deepEqual(history.entries, ["#train/1", "#review/7/2", "#review/8/0", "#review"]);
  write("#review/9/0", true);
  write("#review/9/4");
  mock.timers.tick(1000);
  location.hash = "#review/8/0"; // Back.
  write("#review/8/0");
  mock.timers.tick(1000);
  assert.equal(location.hash, "#review/8/0");
});
