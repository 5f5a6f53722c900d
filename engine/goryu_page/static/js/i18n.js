// Japanese and English texts. They are data: the server writes those of `locale/page.*.toml` into the page.

import { recall, store } from "./memory.js";

const KEY = "goryu.language";
const LANGUAGES = ["ja", "en"];
/** @type {Set<(language: string) => void>} */
const listeners = new Set();
/** @type {Record<string, Record<string, string>>} */
let texts = { ja: {}, en: {} };
let language = "en";

/**
 * Takes the texts, {en: {"play.new": "New game"}, ja: {"play.new": "新しい対局"}}, and the language to begin with.
 * @type {(given: Record<string, Record<string, string>>, name?: string) => void}
 */
export function start(given, name = preferred()) {
  texts = given;
  language = name;
}

/** Returns the texts that are part of the page. */
export function textsOfPage() {
  return JSON.parse(document.getElementById("texts")?.textContent ?? "{}");
}

/** Returns the language that the user has chosen, or else that of the browser. */
function preferred() {
  const chosen = recall(KEY);
  if (chosen && LANGUAGES.includes(chosen)) return chosen;
  return (navigator.languages?.[0] ?? navigator.language ?? "en").toLowerCase().startsWith("ja") ? "ja" : "en";
}

/** Returns "ja" or "en". */
export function current() {
  return language;
}

/**
 * Returns a text in the current language; a value replaces each `{name}` in it: `t("review.number", {count: 3})`. Of `{count:move|moves}`
 * the first word stands for 1, the second for all other values.
 * @type {(key: string, values?: Record<string, any>) => string}
 */
export function t(key, values = {}) {
  const text = texts[language][key] ?? texts.en[key];
  if (text === undefined) {
    console.error(`no text ${key}`);
    return key;
  }
  return text.replace(/\{(\w+)(?::([^{}|]*)\|([^{}]*))?\}/g, (whole, name, one, many) => {
    if (one === undefined) return values[name] ?? whole;
    return String(values[name]) === "1" ? one : many;
  });
}

/** Returns "name: value" with the colon of the current language. @type {(name: string, value: string) => string} */
export function labelled(name, value) {
  return language === "ja" ? `${name}：${value}` : `${name}: ${value}`;
}

/**
 * Returns a text about Black and White; in a game with a handicap Japanese has other names for them.
 * @type {(text: string, game: { isHandicap?: boolean }) => string}
 */
export function ofGame(text, { isHandicap }) {
  return isHandicap ? text.replaceAll("先手", "下手").replaceAll("後手", "上手") : text;
}

/** Returns the parts that are there, one after the other in a line. @type {(...parts: any[]) => string} */
export function inLine(...parts) {
  return parts.filter(Boolean).join(language === "ja" ? "　" : " · ");
}

/**
 * Returns the text for a word of the server or of a record, or the word itself if the table has none.
 * @type {(table: string, name: string) => string}
 */
export function word(table, name) {
  const key = `${table}.${name}`;
  return has(key) ? t(key) : name;
}

/** Is there a text with this key? @type {(key: string) => boolean} */
export function has(key) {
  return key in texts[language];
}

/** Changes the language, and calls the listeners. @type {(name: string) => void} */
export function choose(name) {
  language = name;
  store(KEY, name);
  apply();
}

/**
 * Calls `listener` now and after each change of the language. Returns a function that ends this.
 * @type {(listener: (language: string) => void) => () => void}
 */
export function onChange(listener) {
  listeners.add(listener);
  listener(language);
  return () => listeners.delete(listener);
}

/**
 * Translates the elements below `root` that no template draws: `data-i18n` names the key of the text, `data-i18n-label`
 * that of `aria-label` and `title`.
 * @type {(root?: ParentNode) => void}
 */
export function translate(root = document) {
  for (const element of root.querySelectorAll("[data-i18n]")) element.textContent = t(element.getAttribute("data-i18n") ?? "");
  for (const element of root.querySelectorAll("[data-i18n-label]")) {
    const text = t(element.getAttribute("data-i18n-label") ?? "");
    element.setAttribute("aria-label", text);
    if (element.tagName !== "NAV" && element.tagName !== "SECTION") element.setAttribute("title", text);
  }
}

/** Translates the whole page and calls the listeners. */
export function apply() {
  document.documentElement.lang = language;
  translate();
  for (const listener of listeners) listener(language);
}
