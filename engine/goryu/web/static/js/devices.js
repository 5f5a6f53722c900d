// The devices of the local network (`goryu web --lan`): a button in the bar and a dialog, on the computer only.

import { h, redraw, svg } from "./dom.js";
import * as i18n from "./i18n.js";
import * as socket from "./socket.js";

const TICK_MS = 1000;
const REFRESH_TICKS = 15; // After so many seconds the times of the list are read again.

let state = null;
let dialog = null;
let content = null;
let timer = null;
let ticks = 0;
let expiresAt = 0; // performance.now() when the code expires.

/** Adds the button to the bar. It is shown if the server says that this page may see the devices. */
export function mount(bar) {
  const icon = svg(
    "svg",
    { viewBox: "0 0 24 24", width: 20, height: 20, fill: "none", stroke: "currentColor", "stroke-width": 1.8, "aria-hidden": "true" },
    svg("rect", { x: 6.5, y: 2.5, width: 11, height: 19, rx: 2.2 }),
    svg("path", { d: "M10.5 18.5h3", "stroke-linecap": "round" }),
  );
  const button = h("button", { id: "devices-button", class: "quiet icon", type: "button", hidden: true, "data-i18n-label": "devices.title", on: { click: open } }, icon);
  bar.prepend(button);
  socket.onConnected(async () => {
    await refresh();
    button.hidden = state === null;
  });
  socket.on("devices.changed", () => {
    if (dialog?.open) refresh();
  });
  i18n.onChange(draw);
}

async function open() {
  dialog ??= build();
  await refresh();
  if (!state) return;
  if (!state.code) update(await socket.request("devices.code"));
  dialog.showModal();
  ticks = 0;
  timer = setInterval(tick, TICK_MS);
}

function build() {
  content = h("div", { class: "stack" });
  const close = h("button", { class: "quiet icon", type: "button", "data-i18n-label": "devices.close", text: "✕", on: { click: () => dialog.close() } });
  const title = h("h2", { id: "devices-title", dataset: { i18n: "devices.title" } });
  const box = h("dialog", { id: "devices", "aria-labelledby": "devices-title" });
  box.append(h("div", { class: "row head" }, title, close), content);
  box.addEventListener("close", () => clearInterval(timer));
  document.body.append(box);
  i18n.translate(box);
  return box;
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
  const time = content.querySelector(".left");
  if (time) time.textContent = timeLeft();
  if (ticks % REFRESH_TICKS === 0 || (state?.code && performance.now() > expiresAt)) refresh();
}

function timeLeft() {
  const seconds = Math.max(0, Math.ceil((expiresAt - performance.now()) / 1000));
  return i18n.t("devices.left", { minutes: Math.floor(seconds / 60), seconds: seconds % 60 });
}

function draw() {
  if (!content || !state) return;
  const focused = document.activeElement?.dataset.device; // A new list must not take the focus away.
  redraw(
    content,
    h("p", { class: "warning", text: i18n.t("devices.warning") }),
    state.code ? drawCode() : drawEnding(),
    h("h3", { text: i18n.t("devices.list") }),
    state.devices.length ? h("ul", {}, state.devices.map(drawDevice)) : h("p", { class: "muted", text: i18n.t("devices.none") }),
  );
  if (focused) content.querySelector(`[data-device="${focused}"]`)?.focus();
}

function drawCode() {
  return h(
    "div",
    { class: "invitation" },
    h("img", { class: "qr", src: state.code.picture, width: 200, height: 200, alt: i18n.t("devices.qr") }),
    h(
      "div",
      { class: "stack" },
      h("p", { class: "address", text: i18n.t("devices.how", { url: state.url }) }),
      h("p", { class: "code", text: state.code.text }),
      h("p", { class: "left small muted", text: timeLeft() }),
    ),
  );
}

function drawEnding() {
  const text = state.ending ? h("p", { text: i18n.t(`devices.${state.ending}`) }) : null;
  const again = async () => update(await socket.request("devices.code"));
  return h("div", { class: "row" }, text, h("button", { type: "button", text: i18n.t("devices.new"), on: { click: again } }));
}

function drawDevice(device) {
  const minutes = Math.floor(device.seconds / 60);
  const seen = device.connected ? "devices.connected" : minutes ? "devices.seen" : "devices.just";
  return h(
    "li",
    {},
    h("div", {}, h("div", { text: device.name }), h("div", { class: "small muted", text: `${device.address} · ${i18n.t(seen, { minutes })}` })),
    h("button", {
      type: "button",
      text: i18n.t("devices.revoke"),
      "aria-label": i18n.labelled(i18n.t("devices.revoke"), device.name),
      dataset: { device: device.id },
      on: { click: () => socket.request("devices.revoke", { device: device.id }) },
    }),
  );
}
