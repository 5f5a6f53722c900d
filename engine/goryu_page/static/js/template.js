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

/**
 * Returns a select with its label. entries: see `options`. call(value): the user has chosen it. note: a text below.
 * @type {(label: string, entries: any[][], chosen: any, call: (value: string) => any, more?: { note?: any, isHidden?: boolean }) => any}
 */
export function selectField(label, entries, chosen, call, { note, isHidden = false } = {}) {
  return html`<label class="field" ?hidden=${isHidden}><span>${label}</span><select aria-label=${label} @change=${(event) => call(event.target.value)}>${options(entries, chosen)}</select>
    ${note ? html`<span class="muted small">${note}</span>` : nothing}</label>`;
}

/** Returns a small select without a label; its text is read out and shown as a tooltip. @type {(label: string, entries: any[][], chosen: any, call: (value: string) => any, isHidden?: boolean) => any} */
export function compactSelect(label, entries, chosen, call, isHidden = false) {
  return html`<select class="compact" aria-label=${label} title=${label} ?hidden=${isHidden} @change=${(event) => call(event.target.value)}>${options(entries, chosen)}</select>`;
}

/** Returns a switch with a text. call(isOn): the user has changed it. @type {(text: string, isOn: boolean, call: (isOn: boolean) => any, more?: { name?: string, className?: string }) => any} */
export function checkBox(text, isOn, call, { name, className = "" } = {}) {
  return html`<label class=${`check ${className}`}><input type="checkbox" name=${name ?? nothing} .checked=${live(isOn)} @change=${(event) => call(event.target.checked)} /><span>${text}</span></label>`;
}

/** Returns the choices of which one is taken. entries: [[value, text]]. @type {(legend: string, name: string, entries: any[][], chosen: any, call: (value: any) => any) => any} */
export function choice(legend, name, entries, chosen, call) {
  const one = ([value, text]) => html`<label><input type="radio" name=${name} value=${value} .checked=${live(chosen === value)} @change=${() => call(value)} /><span>${text}</span></label>`;
  return html`<fieldset><legend>${legend}</legend><div class="choice">${entries.map(one)}</div></fieldset>`;
}

/** Returns the choices for the user's engines, the replies of "engines.list"; a missing program cannot be chosen. @type {(engines: { name: string, isThere: boolean }[]) => any[][]} */
export function engineEntries(engines) {
  return engines.map(({ name, isThere }) => [name, isThere ? name : t("setup.engine.missing", { name }), !isThere]);
}
