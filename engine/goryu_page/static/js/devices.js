// The devices of the local network (`goryu web --lan`): a button in the bar and a dialog, on the computer only.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";
import * as socket from "./socket.js";
import { button, html, nothing, render, repeat } from "./template.js";

const { t } = i18n;

const TICK_MS = 1000;
const REFRESH_TICKS = 15; // After so many seconds the times of the list are read again.

const icon = html`<svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.8" aria-hidden="true">
  <rect x="6.5" y="2.5" width="11" height="19" rx="2.2" /><path d="M10.5 18.5h3" stroke-linecap="round" />
</svg>`;

let state = null; // Of the server: null on a page that may not see the devices.
let tools = null; // The bar with the button, which comes first.
let second = null; // What follows the button.
let dialog = null;
let timer = null;
let ticks = 0;
let expiresAt = 0; // performance.now() when the code expires.

/** Adds the button to the bar. It is shown if the server says that this page may see the devices. */
export function mount(bar) {
  tools = bar;
  second = bar.firstElementChild;
  socket.onConnected(refresh);
  socket.on("devices.changed", () => {
    if (dialog?.open) refresh();
  });
  i18n.onChange(draw);
}

async function open() {
  if (!dialog) document.body.append((dialog = h("dialog", { id: "devices", "aria-labelledby": "devices-title", on: { close: () => clearInterval(timer) } })));
  await refresh();
  if (!state) return;
  if (!state.code) update(await socket.request("devices.code"));
  dialog.showModal();
  ticks = 0;
  timer = setInterval(tick, TICK_MS);
}

async function refresh() {
  update(await socket.request("devices.state"));
}

function update(newest) {
  state = newest;
  if (state?.code) expiresAt = performance.now() + 1000 * state.code.seconds;
  draw();
}

function tick() {
  ticks += 1;
  draw();
  if (ticks % REFRESH_TICKS === 0 || (state?.code && performance.now() > expiresAt)) refresh();
}

function timeLeft() {
  const seconds = Math.max(0, Math.ceil((expiresAt - performance.now()) / 1000));
  return t("devices.left", { minutes: Math.floor(seconds / 60), seconds: seconds % 60 });
}

function draw() {
  const title = t("devices.title");
  const opener = html`<button id="devices-button" class="quiet icon" type="button" aria-label=${title} title=${title} ?hidden=${!state} @click=${open}>${icon}</button>`;
  render(opener, tools, { renderBefore: second });
  if (dialog && state) render(dialogView(), dialog);
}

function dialogView() {
  const close = t("devices.close");
  return html`<div class="row head">
      <h2 id="devices-title">${t("devices.title")}</h2>
      <button class="quiet icon" type="button" aria-label=${close} title=${close} @click=${() => dialog.close()}>✕</button>
    </div>
    <div class="stack">
      <p class="warning">${t("devices.warning")}</p>
      ${state.code ? codeView() : endingView()}
      <h3>${t("devices.list")}</h3>
      ${state.devices.length ? html`<ul>${repeat(state.devices, ({ id }) => id, deviceView)}</ul>` : html`<p class="muted">${t("devices.none")}</p>`}
    </div>`;
}

function codeView() {
  return html`<div class="invitation">
    <img class="qr" src=${state.code.picture} width="200" height="200" alt=${t("devices.qr")} />
    <div class="stack">
      <p class="address">${t("devices.how", { url: state.url })}</p>
      <p class="code">${state.code.text}</p>
      <p class="left small muted">${timeLeft()}</p>
    </div>
  </div>`;
}

function endingView() {
  const again = async () => update(await socket.request("devices.code"));
  return html`<div class="row">${state.ending ? html`<p>${t(`devices.${state.ending}`)}</p>` : nothing}${button("devices.new", again)}</div>`;
}

function deviceView({ id, name, address, seconds, connected }) {
  const minutes = Math.floor(seconds / 60);
  const seen = t(connected ? "devices.connected" : minutes ? "devices.seen" : "devices.just", { minutes });
  const revoke = t("devices.revoke");
  const send = () => socket.request("devices.revoke", { device: id });
  return html`<li>
    <div><div>${name}</div><div class="small muted">${address} · ${seen}</div></div>
    <button type="button" aria-label=${i18n.labelled(revoke, name)} @click=${send}>${revoke}</button>
  </li>`;
}
