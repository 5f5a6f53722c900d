// The template library lit-html, and the small templates that several views share.

import { live } from "../vendor/lit-html/directives/live.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { html, nothing, render, svg } from "../vendor/lit-html/lit-html.js";
import * as i18n from "./i18n.js";

export { html, live, nothing, render, repeat, svg };

const { t } = i18n;

/** @typedef {{ className?: string, title?: string, isDisabled?: boolean, isHidden?: boolean, pressed?: boolean }} Options */

/**
 * Returns a button with a text. options.pressed: of a switch.
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

/** Returns the choices of a select. entries: [[value, text, isDisabled]]. @type {(entries: any[][], chosen: any) => any} */
export function options(entries, chosen) {
  return entries.map(([value, text, isDisabled = false]) => html`<option value=${value} ?disabled=${isDisabled} .selected=${live(value === chosen)}>${text}</option>`);
}

/** Returns the choices for the user's engines, the replies of "engines.list"; a missing program cannot be chosen. @type {(engines: { name: string, isThere: boolean }[]) => any[][]} */
export function engineEntries(engines) {
  return engines.map(({ name, isThere }) => [name, isThere ? name : t("setup.engine.missing", { name }), !isThere]);
}
