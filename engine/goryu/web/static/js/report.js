// The page that `goryu analyze --html` writes: the same panel, with the data in the page and no server.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";
import { ReviewPanel } from "./review-panel.js";

i18n.extend({
  en: { "report.language": "日本語", "report.theme": "Light or dark" },
  ja: { "report.language": "English", "report.theme": "明るい・暗い" },
});

const data = JSON.parse(document.getElementById("review").textContent);
const language = h("button", { type: "button", class: "quiet", dataset: { i18n: "report.language" } });
language.addEventListener("click", () => i18n.choose(i18n.current() === "ja" ? "en" : "ja"));
const theme = h("button", { type: "button", class: "quiet icon", dataset: { i18nLabel: "report.theme" }, text: "☾" });
theme.addEventListener("click", () => {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  dispatchEvent(new CustomEvent("goryu:theme"));
});
const main = h("main", {});
const section = h("section", { class: "view review" });
main.append(section);
document.body.append(
  h("header", { class: "top" }, h("strong", { class: "report-title", text: data.title }), h("div", { class: "tools" }, language, theme)),
  main,
);
const panel = new ReviewPanel(section);
i18n.apply();
panel.load(data);
