// Small helpers for elements, messages and files.

/**
 * Returns a new element. attributes: `class`, `text`, `on` ({event: listener}), `dataset`; booleans set or leave
 * out an attribute; everything else is set as it is. Text is never parsed as HTML.
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name === "on") for (const [event, call] of Object.entries(value)) element.addEventListener(event, call);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Returns an unseen field for files, whose `click()` opens the dialog. call(files): the user has chosen some. */
export function fileField(attributes, call) {
  const field = h("input", { type: "file", class: "unseen", tabindex: "-1", "aria-hidden": "true", ...attributes });
  field.addEventListener("change", () => {
    const files = [...field.files];
    field.value = "";
    if (files.length) call(files);
  });
  return field;
}

/** Calls `call(dataTransfer)` with what is dropped on a section, which has the class "dropping" meanwhile. */
export function onDrop(section, call) {
  section.addEventListener("dragover", (event) => {
    event.preventDefault();
    section.classList.add("dropping");
  });
  section.addEventListener("dragleave", () => section.classList.remove("dropping"));
  section.addEventListener("drop", (event) => {
    event.preventDefault();
    section.classList.remove("dropping");
    return call(event.dataTransfer);
  });
}

const SURE_MS = 3000;

/** A button whose first click asks, and whose second one, if it comes soon, does what cannot be undone. */
export class TwoClicks {
  /** draw(): shows what `asked` says, the thing that the button is about, or null. */
  constructor(draw) {
    this.draw = draw;
    this.ask(null);
  }

  ask(thing) {
    clearTimeout(this.timer);
    this.asked = thing;
  }

  /** Takes a click on the button of a thing; returns whether it is the second one. */
  click(thing) {
    const isSure = this.asked === thing;
    this.ask(isSure ? null : thing);
    if (!isSure) {
      this.timer = setTimeout(() => {
        this.ask(null);
        this.draw();
      }, SURE_MS);
    }
    this.draw();
    return isSure;
  }
}

/** Scrolls an element into view on narrow windows, where board and panels are below each other. @type {(element: Element, block?: ScrollLogicalPosition) => void} */
export function reveal(element, block = "nearest") {
  if (matchMedia("(max-width: 900px)").matches) element.scrollIntoView({ block });
}

/**
 * Lets keys do what `keys()` says, {key: call}, while nobody types: the keys of a field, and those with Ctrl and the like, are left
 * alone. others: a selector of more elements that have their own keys.
 * @type {(target: any, keys: () => Record<string, (() => any) | false>, others?: string) => void}
 */
export function onKeys(target, keys, others = "") {
  target.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest(`input, select, textarea${others}`)) return;
    const call = keys()[event.key];
    if (!call) return;
    event.preventDefault();
    call();
  });
}

/** Scrolls a list, whose place is that of its elements, so that an item of it is in the middle. */
export function centre(list, item) {
  list.scrollTop = item.offsetTop - list.offsetTop - list.clientHeight / 2;
}

let due = 0;
/** @type {string | null} */
let left = null; // The address of a game, problem or search after which the user has asked for another one.

/** Returns the game, problem or search that an address #VIEW/KEY names, or undefined. */
function keyOf(address) {
  return address.split("/")[1];
}

/**
 * Writes what a view shows into the address, but not too often, or the browser refuses it; and not if the view is hidden or the
 * address has changed: then the user goes elsewhere, and the browser may be about to say so. isAnother: has the user asked for another
 * game, problem or search? Then "Back" returns to the one before.
 */
export function setAddress(section, address, isAnother = false) {
  clearTimeout(due);
  const { hash } = location;
  left = isAnother ? hash : left;
  due = setTimeout(() => {
    const pushes = left === hash && keyOf(hash) && keyOf(hash) !== keyOf(address);
    left = null;
    if (section.hidden || location.hash !== hash || hash === address) return;
    if (pushes) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  }, 200);
}

const SVG = "http://www.w3.org/2000/svg";

/** Returns a new SVG element. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") element.textContent = value;
    else if (value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Shows a message for some seconds, or until it is clicked, but not beside the same one. kind: "info" or "error". */
export function toast(text, kind = "info") {
  for (const old of document.querySelectorAll("#toasts .toast")) if (old.textContent === text) old.remove();
  const box = h("div", { class: `toast ${kind}`, text, on: { click: () => box.remove() } });
  document.getElementById("toasts").append(box);
  setTimeout(() => box.remove(), kind === "error" ? 8000 : 4000);
}

/** Removes the messages about errors: what the user has done now was right. */
export function clearErrors() {
  for (const box of document.querySelectorAll("#toasts .error")) box.remove();
}

/** Saves a file on the user's machine. content: text or bytes. */
export function download(name, content, type = "text/plain;charset=utf-8") {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Returns bytes as Base64, the form in which messages carry files. */
export function toBase64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
