// The connection to Python in a worker of this tab. It takes the place of socket.js where there is no server.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";

const query = document.querySelector('meta[name="goryu-python"]').getAttribute("content");
const isPage = new URLSearchParams(query).has("page"); // Else the textbook.
const FAULTS = { NoModificationAllowedError: "worker.taken", NotSupportedError: "worker.old" };
const COPY = "/tmp/copy.sqlite3"; // In the memory of Python.
const handlers = new Map();
const connected = new Set();
const states = new Set();
const listeners = new Set();
const pending = new Map();
let worker = null;
let ready = null; // A promise; it resolves when the worker answers.
let isReady = false;
let number = 0;
let passed = (_content) => {}; // Takes the file that Python passes next.

/** Does Python run in this tab, without a server? */
export const isTab = true;

/** The error of a request whose worker was stopped before its reply. */
export class ConnectionLost extends Error {
  constructor() {
    super("connection lost");
    this.isUnsent = false;
  }
}

/** An error in Python. line: of the reader's code, from 1; 0 if it comes from elsewhere. */
export class PythonError extends Error {
  constructor(message, line) {
    super(message);
    this.line = line;
  }
}

/** Starts Python. Returns a promise that is rejected if it cannot be loaded. */
export function start() {
  const { href } = new URL("js/python-worker.js", document.baseURI);
  // A worker from a blob keeps the page's content policy: code of the reader reaches no other host.
  const text = `globalThis.goryuQuery = ${JSON.stringify(query)}; import(${JSON.stringify(href)});`;
  const script = new Blob([text], { type: "text/javascript" });
  const one = new Worker(URL.createObjectURL(script), { type: "module" });
  worker = one;
  isReady = false;
  for (const listener of states) listener(false, i18n.t("worker.loading"));
  ready = new Promise((resolve, reject) => {
    one.onmessage = ({ data }) => {
      if (worker !== one) return;
      if (typeof data !== "string") return passed(data.content);
      const message = JSON.parse(data);
      if (message.type === "ready") {
        isReady = true;
        resolve();
        for (const listener of states) listener(true, "");
        for (const listener of connected) listener(true);
        connected.clear(); // After a stop the reader runs what comes next.
      } else if (message.type === "failed") {
        reject(new Error(message.text));
        const text = i18n.t(FAULTS[message.name] ?? "worker.failed", { reason: message.text });
        for (const listener of states) listener(false, text);
        end(new PythonError(message.text, 0));
      } else receive(message);
    };
  });
  ready.catch(() => {}); // Each request fails with it.
  return ready;
}

/** Ends Python, whatever it does, and starts it again. */
export function stop() {
  end(new ConnectionLost());
  return start();
}

function end(error) {
  worker.terminate();
  worker = null;
  for (const { reject } of pending.values()) reject(error);
  pending.clear();
  tell();
}

function receive(message) {
  if (message.type !== "reply") {
    for (const handler of handlers.get(message.type) ?? []) handler(message);
    return;
  }
  const { resolve, reject } = pending.get(message.id);
  pending.delete(message.id);
  tell();
  if (message.ok) resolve(message.value);
  else reject(new PythonError(message.error, message.line ?? 0));
}

/** Sends a message and returns a promise of the reply's value, as in socket.js. */
export async function request(type, content = {}) {
  if (!worker) start(); // It has failed.
  const one = worker;
  await ready;
  if (worker !== one) throw new ConnectionLost();
  const id = ++number;
  one.postMessage(JSON.stringify({ language: i18n.current(), ...content, type, id }));
  const reply = new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
  tell();
  return reply;
}

/** Returns {name, content}: a copy of the database for a file. */
export async function copy() {
  const { name } = await request("backup.copy");
  const content = new Promise((resolve) => (passed = resolve));
  worker.postMessage({ path: COPY });
  return { name, content: await content };
}

/** Adds what a copy of a database has, a file; returns what was added. */
export async function merge(file) {
  const content = new Uint8Array(await file.arrayBuffer());
  await ready;
  worker.postMessage({ path: COPY, content });
  return request("backup.merge");
}

/** Calls `handler(message)` for each message of this type. */
export function on(type, handler) {
  handlers.set(type, [...(handlers.get(type) ?? []), handler]);
}

/** Calls `listener(true)` once, when Python has started, or now if it has. */
export function onConnected(listener) {
  if (isReady) listener(true);
  else connected.add(listener);
}

/** Calls `listener(isConnected, text)` as in socket.js. */
export function onState(listener) {
  states.add(listener);
}

/** Calls `listener(isBusy)` when Python begins to work, and when it has nothing left to do. */
export function onBusy(listener) {
  listeners.add(listener);
}

function tell() {
  for (const listener of listeners) listener(pending.size > 0);
}

if (isPage) {
  addEventListener("pagehide", () => worker?.terminate()); // Another tab may open the files now.
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  onConnected(() => keep().catch(console.error)); // Some browsers refuse it; all else works.
  on("worker.fetched", ({ address }) => navigator.serviceWorker?.ready.then(({ active }) => active.postMessage(address)));
  showFoot();
}

/** Asks the browser to keep the page for use offline, and games for good, which Firefox asks its user. */
async function keep() {
  await navigator.serviceWorker?.register("service-worker.js");
  await navigator.storage?.persist?.();
}

/** Says below the page where it runs, and where its source is. */
function showFoot() {
  const link = (key, href) => h("a", { href, dataset: { i18n: `worker.${key}` } });
  const guides = link("guides", "../");
  const source = document.querySelector('meta[name="goryu-source"]').getAttribute("content");
  i18n.onChange(() => (guides.href = i18n.current() === "ja" ? "../ja/" : "../"));
  document.body.append(h("footer", { class: "small muted" }, h("span", { dataset: { i18n: "worker.private" } }), guides, source ? link("source", source) : null));
}
