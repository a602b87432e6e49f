/** Run the tests in this folder: node --test */

import assert from "node:assert";
import test from "node:test";

import { choose } from "./bot.js";

test("it wants nigiri", () => {
  assert.equal(choose({ hand: ["tempura", "pudding", "squid_nigiri"] }), "squid_nigiri");
});

test("it plays an unwanted card if it has no other", () => {
  assert.equal(choose({ hand: ["pudding"] }), "pudding");
});
