// The connection to the server: one WebSocket and one session per tab.

import * as i18n from "./i18n.js";
import { recall, store } from "./memory.js";

const MOST_BYTES = 2 << 20; // The server closes the connection at a larger message.
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5000;
const KEY = "goryu.session";
const REVOKED = 4001; // The close code for a device of the local network that is not paired any more.

const STALE = 4002; // For a page of an earlier start of the server.

const token = document.querySelector('meta[name="goryu-token"]').getAttribute("content");
const handlers = new Map();
const connected = new Set();
const states = new Set();
const pending = new Map();
const early = []; // What calls the requests that were made before the first connection.
let socket = null;
let number = 0;
let delay = FIRST_DELAY_MS;
let timer = 0; // Of the next attempt to connect.
let isReady = false;
let wasReady = false;
let isNew = false; // Of the session, when the last connection was made.
let hasOpened = false; // The newest connection.
let hasEnded = false;
let language = () => "en";

/** Connects, and connects again whenever the connection is lost. getLanguage: returns "ja" or "en". */
export function start(getLanguage) {
  language = getLanguage;
  connect();
  // The server stops this tab's searches at once when the tab says goodbye. A page in the browser's
  // back-forward cache may come back.
  addEventListener("pagehide", () => {
    hasEnded = true;
    socket?.close(1000);
  });
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    hasEnded = false;
    connect();
  });
  addEventListener("online", () => {
    if (!isReady && socket?.readyState !== WebSocket.CONNECTING) connect();
  });
}

function connect() {
  clearTimeout(timer);
  if (isReady) return;
  const one = new WebSocket(`ws://${location.host}/socket`);
  socket = one;
  hasOpened = false;
  one.onopen = () => {
    hasOpened = true;
    const session = recall(KEY, true) ?? "";
    one.send(JSON.stringify({ type: "hello", token, session, language: language() }));
  };
  one.onmessage = (event) => {
    if (socket === one) receive(JSON.parse(event.data));
  };
  one.onclose = (event) => {
    if (socket === one) lost(event);
  };
}

function lost(event) {
  isReady = false;
  for (const { reject } of pending.values()) reject(new ConnectionLost());
  pending.clear();
  if (hasEnded) return;
  if (event.code === REVOKED) {
    hasEnded = true;
    store("goryu.revoked", "", true);
    location.replace("/pair");
    return;
  }
  if (event.code === STALE) {
    hasEnded = true;
    setTimeout(() => location.reload(), delay);
    return;
  }
  if (!hasOpened) leaveIfNotPaired();
  const text = event.code === 1008 ? i18n.t("connection.refused", { reason: event.reason }) : "";
  for (const listener of states) listener(false, text);
  timer = setTimeout(connect, delay);
  delay = Math.min(delay * 2, LONGEST_DELAY_MS);
}

/** Goes to the page for pairing if the server wants that: it was started again, or this device was revoked. */
async function leaveIfNotPaired() {
  try {
    const answer = await fetch("/", { redirect: "manual" });
    if (answer.type === "opaqueredirect") location.replace("/pair");
  } catch {
    // No server answers; `connect` goes on trying.
  }
}

function receive(message) {
  if (message.type === "reply") {
    const waiting = pending.get(message.id);
    pending.delete(message.id);
    if (message.ok) waiting?.resolve(message.value);
    else waiting?.reject(new Error(message.error));
  } else if (message.type === "session.welcome") {
    store(KEY, message.session, true);
    isReady = true;
    isNew = message.new;
    delay = FIRST_DELAY_MS;
    for (const listener of states) listener(true, "");
    for (const listener of connected) listener(isNew);
    wasReady = true;
    for (const send of early.splice(0)) send();
  } else if (message.type === "session.alive") {
    socket.send('{"type":"session.alive"}');
  } else {
    for (const handler of handlers.get(message.type) ?? []) handler(message);
  }
}

/** Does Python run in this tab, without a server? */
export const isTab = false;

/** The error of a request whose connection was lost before its reply. isUnsent: the server does not know of it. */
export class ConnectionLost extends Error {
  constructor(isUnsent = false) {
    super("connection lost");
    this.isUnsent = isUnsent;
  }
}

/**
 * Sends a message and returns a promise of the reply's value; it is rejected with the server's error. What the user
 * does before the first connection waits for it; a request while the connection is lost is rejected.
 */
export function request(type, content = {}) {
  if (!wasReady && !isReady) return new Promise((resolve) => early.push(() => resolve(request(type, content))));
  if (!isReady) return Promise.reject(new ConnectionLost(true));
  const id = ++number;
  const text = JSON.stringify({ ...content, type, id });
  if (new Blob([text]).size > MOST_BYTES) return Promise.reject(new Error(i18n.t("socket.too.large")));
  socket.send(text);
  return new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
}

/** Returns {name, content}: a copy of the database for a file. */
export async function copy() {
  const response = await backup("GET");
  const [, name] = /filename="(.+)"/.exec(response.headers.get("Content-Disposition"));
  return { name, content: await response.blob() };
}

/** Adds what a copy of a database has, a file; returns what was added. */
export async function merge(file) {
  return (await backup("POST", file)).json();
}

/** Copies are larger than messages may be. */
async function backup(method, body) {
  const response = await fetch(`/backup?language=${language()}`, { method, body, headers: { "X-Goryu-Token": token } });
  if (!response.ok) throw new Error(await response.text());
  return response;
}

/** Calls `handler(message)` for each message of this type that the server sends; several views may ask. */
export function on(type, handler) {
  handlers.set(type, [...(handlers.get(type) ?? []), handler]);
}

/**
 * Calls `listener(isNew)` after each connection, also now if there is one. Read the state of your view there: messages sent
 * while there was no connection are lost. isNew: the session has no state yet (the first visit, or the server
 * was started again).
 */
export function onConnected(listener) {
  connected.add(listener);
  if (isReady) listener(isNew);
}

/** Calls `listener(isConnected, text)` whenever the connection is lost or made. text: what to show, or "". */
export function onState(listener) {
  states.add(listener);
}
