// Which of the names in the games are the user's.

import * as i18n from "./i18n.js";
import * as socket from "./socket.js";
import { html, live, repeat } from "./template.js";

const { t } = i18n;
const SHOWN = 5; // Names that are offered without typing.

/** onChange(): something has to be drawn. */
export class MePanel {
  constructor(onChange) {
    this.onChange = onChange;
    this.me = [];
    this.names = [];
  }

  setState({ me, names }) {
    [this.me, this.names] = [me, names];
  }

  async choose(names) {
    this.me = names; // The next click builds on it, even before the reply.
    this.onChange();
    await socket.request("games.me", { names });
  }

  add(event) {
    event.preventDefault();
    const field = event.target.querySelector("input");
    const name = field.value.trim();
    if (name) this.choose([...this.me, name]);
    field.value = "";
  }

  view() {
    const offered = this.names.slice(0, SHOWN).map(({ name }) => name);
    const shown = [...this.me, ...offered.filter((name) => !this.me.includes(name))];
    const other = t("games.me.other");
    return html`<div class="panel stack" ?hidden=${!this.names.length && !this.me.length}>
      <h2>${t("games.me")}</h2>
      <p class="small muted">${t("games.me.about")}</p>
      <div class="stack">${repeat(shown, (name) => name, (name) => this.nameView(name))}</div>
      <form class="row me-other" @submit=${(event) => this.add(event)}>
        <input type="text" list="games-names" placeholder=${other} aria-label=${other} title=${other} /><button>${t("games.me.add")}</button>
        <datalist id="games-names">${this.names.map(({ name }) => html`<option value=${name}></option>`)}</datalist>
      </form>
    </div>`;
  }

  nameView(name) {
    const games = this.names.find((one) => one.name === name)?.games ?? 0;
    const change = (event) => this.choose(event.target.checked ? [...this.me, name] : this.me.filter((one) => one !== name));
    return html`<label class="check"><input type="checkbox" .checked=${live(this.me.includes(name))} @change=${change} />${t("games.me.count", { name, games })}</label>`;
  }
}
