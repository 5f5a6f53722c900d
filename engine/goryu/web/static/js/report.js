// The page that `goryu analyze --html` writes: the same panel, with the data in the page and no server.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";
import { ReviewPanel } from "./review-panel.js";

i18n.extend({
  en: { "report.language": "日本語", "theme.light": "Switch to light colours", "theme.dark": "Switch to dark colours" },
  ja: { "report.language": "English", "theme.light": "明るい配色にする", "theme.dark": "暗い配色にする" },
});

const data = JSON.parse(document.getElementById("review").textContent);
const language = h("button", { type: "button", class: "quiet", dataset: { i18n: "report.language" } });
language.addEventListener("click", () => i18n.choose(i18n.current() === "ja" ? "en" : "ja"));
const theme = h("button", { type: "button", class: "quiet icon" });
const system = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

function drawTheme() {
  theme.textContent = isDark() ? "☀" : "☾";
  theme.title = i18n.t(isDark() ? "theme.light" : "theme.dark");
  theme.setAttribute("aria-label", theme.title);
}

theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  drawTheme();
  dispatchEvent(new CustomEvent("goryu:theme"));
});
system.addEventListener("change", drawTheme);
i18n.onChange(drawTheme);
const main = h("main", {});
const section = h("section", { class: "view review" });
main.append(section);
document.body.append(
  h("header", { class: "top" }, h("strong", { class: "report-title", text: data.title }), h("div", { class: "tools" }, language, theme)),
  main,
);
const panel = new ReviewPanel(section);
i18n.apply();
drawTheme();
panel.load(data);
