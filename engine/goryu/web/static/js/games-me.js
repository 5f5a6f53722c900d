// Which of the names in the games are the user's.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";
import * as socket from "./socket.js";

const SHOWN = 5; // Names that are offered without typing.

export class MePanel {
  constructor() {
    this.me = [];
    this.names = [];
    this.choices = h("div", { class: "stack" });
    this.known = h("datalist", { id: "games-names" });
    this.other = h("input", { type: "text", list: "games-names", dataset: { i18nPlaceholder: "games.me.other", i18nLabel: "games.me.other" } });
    const form = h("form", { class: "row me-other" }, this.other, h("button", { dataset: { i18n: "games.me.add" } }), this.known);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const name = this.other.value.trim();
      if (name) this.choose([...this.me, name]);
      this.other.value = "";
    });
    this.root = h(
      "div",
      { class: "panel stack", hidden: true },
      h("h2", { dataset: { i18n: "games.me" } }),
      h("p", { class: "small muted", dataset: { i18n: "games.me.about" } }),
      this.choices,
      form,
    );
    i18n.onChange(() => this.draw());
  }

  setState({ me, names }) {
    const isSame = JSON.stringify([me, names]) === JSON.stringify([this.me, this.names]);
    [this.me, this.names] = [me, names];
    if (!isSame) this.draw();
  }

  draw() {
    this.root.hidden = !this.names.length && !this.me.length;
    const counts = new Map(this.names.map(({ name, games }) => [name, games]));
    const offered = this.names.slice(0, SHOWN).map(({ name }) => name);
    const shown = [...this.me, ...offered.filter((name) => !this.me.includes(name))];
    this.choices.replaceChildren(
      ...shown.map((name) => {
        const box = h("input", { type: "checkbox", checked: this.me.includes(name) });
        box.addEventListener("change", () => this.choose(box.checked ? [...this.me, name] : this.me.filter((one) => one !== name)));
        return h("label", { class: "check" }, box, i18n.t("games.me.count", { name, games: counts.get(name) ?? 0 }));
      }),
    );
    this.known.replaceChildren(...this.names.map(({ name }) => h("option", { value: name })));
  }

  async choose(names) {
    this.me = names; // The next click builds on it, even before the reply.
    await socket.request("games.me", { names });
  }
}
