// The connection to Python in a worker of this tab. It takes the place of socket.js in the textbook that runs.

import * as i18n from "./i18n.js";

const handlers = new Map();
const connected = new Set();
const listeners = new Set();
const pending = new Map();
let worker = null;
let ready = null; // A promise; it resolves when the worker answers.
let isReady = false;
let number = 0;

/** The error of a request whose worker was stopped before its reply. */
export class ConnectionLost extends Error {
  constructor() {
    super("connection lost");
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
  const script = JSON.stringify(new URL("js/python-worker.js", document.baseURI).href);
  // A worker from a blob keeps the page's content policy: code of the reader reaches no other host.
  const one = new Worker(URL.createObjectURL(new Blob([`import ${script};`], { type: "text/javascript" })), { type: "module" });
  worker = one;
  isReady = false;
  ready = new Promise((resolve, reject) => {
    one.onmessage = ({ data }) => {
      if (worker !== one) return;
      if (data.type === "ready") {
        isReady = true;
        resolve();
        for (const listener of connected) listener(true);
        connected.clear(); // After a stop the reader runs what comes next.
      } else if (data.type === "failed") {
        reject(new Error(data.text));
        end(new PythonError(data.text, 0));
      } else receive(data);
    };
  });
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
  const { value, error, line } = JSON.parse(message.text);
  const { resolve, reject } = pending.get(message.id);
  pending.delete(message.id);
  tell();
  if (error === undefined) resolve(value);
  else reject(new PythonError(error, line));
}

/** Sends a message and returns a promise of the reply's value, as in socket.js. */
export async function request(type, content = {}) {
  if (!worker) start(); // It has failed.
  const one = worker;
  await ready;
  if (worker !== one) throw new ConnectionLost();
  const id = ++number;
  one.postMessage({ id, text: JSON.stringify({ language: i18n.current(), ...content, type }) });
  const reply = new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
  tell();
  return reply;
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

/** Calls `listener(isBusy)` when Python begins to work, and when it has nothing left to do. */
export function onBusy(listener) {
  listeners.add(listener);
}

function tell() {
  for (const listener of listeners) listener(pending.size > 0);
}
