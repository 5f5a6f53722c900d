// The frame of a page that is one file: its title, the switches for language and theme, and its data.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";
import { mountThemeSwitch } from "./theme-switch.js";

/**
 * Builds the frame and calls `fill(section, data)`. name: of the view, whose styles the section has.
 * data: what the page holds; `data.title` stands at its top.
 */
export function show(name, fill) {
  i18n.start(i18n.textsOfPage());
  const data = JSON.parse(document.getElementById("data").textContent);
  const language = h("button", { type: "button", class: "quiet", dataset: { i18n: "standalone.language" } });
  language.addEventListener("click", () => i18n.choose(i18n.current() === "ja" ? "en" : "ja"));
  const theme = h("button", { type: "button", class: "quiet icon" });
  const section = h("section", { class: `view ${name}` });
  document.body.append(
    h("header", { class: "top" }, h("h1", { class: "report-title", text: data.title }), h("div", { class: "tools" }, language, theme)),
    h("main", {}, section),
  );
  mountThemeSwitch(theme);
  fill(section, data);
  i18n.apply();
}
