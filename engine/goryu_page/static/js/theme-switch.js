// The switch between light and dark colours.

import * as i18n from "./i18n.js";

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Makes a button the switch. call(theme): the user has chosen "light" or "dark". */
export function mountThemeSwitch(button, call = (_theme) => {}) {
  const label = () => {
    button.textContent = isDark() ? "☀" : "☾";
    button.title = i18n.t(isDark() ? "theme.light" : "theme.dark");
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => {
    const wanted = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = wanted;
    call(wanted);
    label();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  i18n.onChange(label);
}
