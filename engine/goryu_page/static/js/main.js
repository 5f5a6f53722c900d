// The frame of the page: the views and their tabs, language, theme and connection.

import * as devices from "./devices.js";
import { h, toast } from "./dom.js";
import * as i18n from "./i18n.js";
import { store } from "./memory.js";
import * as socket from "./socket.js";
import { mountThemeSwitch } from "./theme-switch.js";
import { VIEWS } from "./views.js";

const main = document.getElementById("main");
const tabs = document.getElementById("tabs");
const loading = document.getElementById("loading");
const opened = new Map();
let shown = null;

/** Opens the view that the address names: #NAME or #NAME/ARGUMENT. */
async function route() {
  const [name, ...rest] = location.hash.slice(1).split("/");
  const view = VIEWS.find((one) => one.name === name) ?? VIEWS[0];
  for (const link of tabs.children) {
    if (link.getAttribute("href") === `#${view.name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (!opened.has(view.name)) opened.set(view.name, open(view));
  const previous = shown;
  shown = view.name;
  if (previous && previous !== view.name) {
    const old = await opened.get(previous);
    old.section.hidden = true;
    old.module?.hide?.();
  }
  loading.hidden = false;
  const one = await opened.get(view.name);
  if (shown !== view.name) return;
  loading.hidden = true;
  one.section.hidden = false;
  document.title = `${i18n.t(`view.${view.name}`)} – Goryu`;
  // decodeURIComponent refuses an address that is not UTF-8.
  const argument = new URLSearchParams(`a=${rest.join("/").replace(/[+&]/g, encodeURIComponent)}`).get("a");
  one.module?.show?.(rest.length ? argument : undefined);
}

async function open(view) {
  const section = h("section", { class: `view ${view.name}`, hidden: true, "data-i18n-label": `view.${view.name}` });
  main.append(section);
  try {
    const module = await view.load();
    module.mount(section);
    section.prepend(h("h1", { class: "unseen", dataset: { i18n: `view.${view.name}` } }));
    i18n.translate(section);
    section.setAttribute("aria-label", i18n.t(`view.${view.name}`));
    return { section, module };
  } catch (error) {
    console.error(error);
    section.append(h("p", { class: "notice", text: i18n.t("view.failed") }));
    return { section, module: null };
  }
}

function buildSwitches() {
  const language = document.getElementById("language");
  language.addEventListener("click", () => {
    i18n.choose(i18n.current() === "ja" ? "en" : "ja");
    tellLanguage();
  });
  mountThemeSwitch(document.getElementById("theme"), (theme) => store("goryu.theme", theme));
  i18n.onChange(() => {
    language.textContent = i18n.t("language.switch");
    language.setAttribute("aria-label", i18n.t("language.label"));
    language.lang = i18n.current() === "ja" ? "en" : "ja";
    const view = VIEWS.find((one) => one.name === shown);
    if (view) document.title = `${i18n.t(`view.${view.name}`)} – Goryu`;
  });
}

function tellLanguage() {
  socket.request("session.language", { language: i18n.current() }).catch(() => {});
}

function showConnection() {
  const banner = document.getElementById("connection");
  let timer = null; // A short interruption is not shown.
  socket.onState((isConnected, text) => {
    if (isConnected) {
      clearTimeout(timer);
      timer = null;
      banner.hidden = true;
      return;
    }
    banner.textContent = text || i18n.t("connection.lost");
    if (text) banner.hidden = false;
    else timer ??= setTimeout(() => (banner.hidden = false), 600);
  });
}

addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  if (event.reason instanceof socket.ConnectionLost) {
    if (event.reason.isUnsent) toast(i18n.t("connection.unsent"));
    return;
  }
  console.error(event.reason);
  toast(event.reason?.message ?? String(event.reason), "error");
});

i18n.start(i18n.textsOfPage());
buildSwitches();
devices.mount(document.querySelector(".top .tools"));
showConnection();
i18n.apply();
socket.onConnected(tellLanguage);
socket.on("worker.unkept", () => toast(i18n.t("worker.unkept")));
socket.start(i18n.current);
addEventListener("hashchange", route);
route();
