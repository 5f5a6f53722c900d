// The template library lit-html, and the small templates that several views share.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import * as i18n from "./i18n.js";

export { html, nothing, render, svg } from "../vendor/lit-html/lit-html.js";
export { live } from "../vendor/lit-html/directives/live.js";
export { repeat } from "../vendor/lit-html/directives/repeat.js";

const { t } = i18n;

/**
 * @typedef {{ className?: string, title?: string, isDisabled?: boolean, isHidden?: boolean, pressed?: boolean }} Options
 *
 * Returns a button with a text. pressed: of a switch.
 * @type {(key: string, call: (event: any) => any, options?: Options) => any}
 */
export function button(key, call, { className, title, isDisabled = false, isHidden = false, pressed } = {}) {
  return html`<button type="button" class=${className || nothing} title=${title || nothing} aria-pressed=${pressed ?? nothing}
    ?disabled=${isDisabled} ?hidden=${isHidden} @click=${call}>${t(key)}</button>`;
}

/** Returns a button with a sign; its text is read out and shown as a tooltip. @type {(key: string, sign: string, call: () => any, options?: Options) => any} */
export function iconButton(key, sign, call, { isDisabled = false } = {}) {
  return html`<button type="button" class="quiet icon" aria-label=${t(key)} title=${t(key)} ?disabled=${isDisabled} @click=${call}>${sign}</button>`;
}
