// Imports modules of the page; the test that starts Node.js says where they lie.

import { pathToFileURL } from "node:url";

/** Returns the exports of a module of the page. */
export function load(name) {
  return import(new URL(name, pathToFileURL(`${process.env.GORYU_JS}/`)));
}
