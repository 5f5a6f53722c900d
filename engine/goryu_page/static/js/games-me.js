// Which of the names in the games are the user's.

import * as i18n from "./i18n.js";
import * as socket from "./socket.js";
import { checkBox, html, repeat } from "./template.js";

const { t } = i18n;
const SHOWN = 5; // Names that are offered without typing.

/** The panel. games: the view "My games". */
export function meView(games) {
  const { me, names } = games.state;
  const offered = names.slice(0, SHOWN).map(({ name }) => name);
  const shown = [...me, ...offered.filter((name) => !me.includes(name))];
  const other = t("games.me.other");
  return html`<div class="panel stack" ?hidden=${!names.length && !me.length}>
    <h2>${t("games.me")}</h2>
    <p class="small muted">${t("games.me.about")}</p>
    <div class="stack">${repeat(shown, (name) => name, (name) => nameView(games, name))}</div>
    <form class="row me-other" @submit=${(event) => add(games, event)}>
      <input type="text" list="games-names" placeholder=${other} aria-label=${other} title=${other} /><button>${t("games.me.add")}</button>
      <datalist id="games-names">${names.map(({ name }) => html`<option value=${name}></option>`)}</datalist>
    </form>
  </div>`;
}

function nameView(games, name) {
  const { me, names } = games.state;
  const count = names.find((one) => one.name === name)?.games ?? 0;
  const change = (isOn) => choose(games, isOn ? [...me, name] : me.filter((one) => one !== name));
  return checkBox(t("games.me.count", { name, games: count }), me.includes(name), change);
}

function add(games, event) {
  event.preventDefault();
  const field = event.target.querySelector("input");
  const name = field.value.trim();
  if (name) choose(games, [...games.state.me, name]);
  field.value = "";
}

async function choose(games, names) {
  games.state.me = names; // The next click builds on it, even before the reply.
  games.draw();
  await socket.request("games.me", { names });
}
