// Lines of moves as buttons, the marks of moves, and why they are mistakes.

import * as i18n from "./i18n.js";
import { kindName } from "./judgement.js";
import { html, nothing, repeat } from "./template.js";

/** Returns a button for one move of a line. It may move while it is pressed, so the mouse counts when it goes down. */
export function lineButton(name, call, { title = "", isCurrent = false } = {}) {
  const onMouse = (event) => event.button === 0 && call();
  const onKey = (event) => event.detail === 0 && call();
  return html`<button type="button" class="line-move" title=${title || nothing} aria-current=${isCurrent ? "true" : nothing} @mousedown=${onMouse} @click=${onKey}>${name}</button>`;
}

/**
 * Returns the moves of a line as buttons. key: says where the line begins; a button is kept while its move leads to the same
 * position. call(depth): the move number `depth` was clicked, from 1. depth: of the move that is shown, 0 for none.
 */
export function lineButtons(key, names, call, depth = 0) {
  const keyOf = (_, at) => `${key} ${names.slice(0, at + 1).join(" ")}`;
  return repeat(names, keyOf, (name, at) => html`${lineButton(name, () => call(at + 1), { isCurrent: at + 1 === depth })} `);
}

/** Returns a line of moves as buttons after a text. text: its key; for the others see `lineButtons`. */
export function lineOf(text, key, names, call, depth = 0) {
  return html`<p class="line"><span class="muted">${i18n.t(text)} </span>${lineButtons(key, names, call, depth)}</p>`;
}

/** Returns the mark of a judgement, such as "??", on the colour of its class; empty without one. */
export function badge(ply) {
  const { kind = "", mark = "" } = ply ?? {};
  return html`<span class="badge" data-kind=${kind} title=${mark ? kindName(kind) : nothing}>${mark}</span>`;
}

/** Returns why a move is a mistake, if that was proved. reason: {en, ja}, or null. */
export function reasonView(reason) {
  return reason ? html`<p class="reason">${reason[i18n.current()]}</p>` : nothing;
}
