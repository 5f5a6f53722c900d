// The panels of the view "Train" beside the board: the kinds of problems, the settings, the files.

import * as i18n from "./i18n.js";
import * as socket from "./socket.js";
import { button, checkBox, html, selectField } from "./template.js";

const KINDS = ["mistake", "unpunished", "mate", "only", "tsume", "opening", "imported"];
const { t } = i18n;

/** view: the view "Train". */
export function menuView(view) {
  const { state, file } = view;
  return html`<div class="panel stack"><h2>${t("train.free")}</h2>${kindsView(state.counts, view)}${lengthsView(state.lengths, view)}${button("train.storm", () => view.storms(), { isDisabled: !state.counts.tsume })}</div>
    <details class="panel"><summary>${t("train.settings")}</summary><div class="stack">${settingsView(state, view)}</div></details>
    <details class="panel">
      <summary>${t("train.files")}</summary>
      <div class="stack">
        <p class="small muted">${t("train.files.about")}</p>
        <div class="row">${button("train.import", () => file.click())}${button("train.export", () => view.save())}${file}</div>
      </div>
    </details>`;
}

function kindsView(counts, view) {
  const one = (kind) => html`<button type="button" ?disabled=${!counts[kind]} @click=${() => view.start({ mode: "free", kind })}><span>${t(`train.kind.${kind}`)}</span><span class="muted number">${counts[kind]}</span></button>`;
  return html`<div class="kinds">${KINDS.map(one)}</div>`;
}

function lengthsView(lengths, view) {
  const found = Object.entries(lengths);
  const one = ([length, count]) => html`<button type="button" class="small" title=${t("train.length.count", { count })} @click=${() => view.start({ mode: "free", kind: "tsume", length: Number(length) })}>${t("train.length", { length })}</button>`;
  return html`<div class="row lengths" ?hidden=${!found.length}><span class="small muted">${t("train.lengths")}</span>${found.map(one)}</div>`;
}

/** The bounds of the numbers are those of `TrainingSettings`. */
function settingsView({ settings, strength, tsume }, view) {
  const change = (changes) => view.change(changes);
  const chosen = (kind, isOn) => KINDS.filter((one) => (one === kind ? isOn : settings.kinds.includes(one)));
  const kind = (name) => checkBox(t(`train.kind.${name}`), settings.kinds.includes(name), (isOn) => change({ kinds: chosen(name, isOn) }));
  const units = ["problems", "minutes"].map((name) => [name, t(`train.unit.${name}`)]);
  const number = (key, name, least, most, factor = 1) => numberView(key, Math.round(settings[name] * factor), least, most, (value) => change({ [name]: value / factor }));
  const grades = [...(strength.grade ? [] : [["", t("grade.unknown")]]), ...strength.grades.map((one) => [one, t(`grade.${one}`)])];
  const plies = (name, at) => numberView(`train.${name}`, settings[`${name}_tsume`], 1, 13, (value) => change({ [`${name}_tsume`]: value }), tsume[at]);
  return html`${selectField(t("setup.grade"), grades, strength.grade ?? "", (grade) => grade && socket.request("train.grade", { grade }))}
    <p class="small muted">${t("train.grade.about")}</p>
    <div class="pair">${plies("shortest", 0)}${plies("longest", 1)}</div>
    ${checkBox(t("train.scheduled"), settings.is_scheduled, (isOn) => change({ is_scheduled: isOn }))}
    <div class="pair">
      ${number("train.amount", "amount", 1, 500)}${selectField(t("train.unit"), units, settings.unit, (unit) => change({ unit }))}
    </div>
    <fieldset class="stack"><legend>${t("train.new.kinds")}</legend>${KINDS.map(kind)}</fieldset>
    ${checkBox(t("train.checking"), settings.is_checking, (isOn) => change({ is_checking: isOn }))}
    ${number("train.playouts", "playouts", 100, 1_000_000)} ${number("train.threshold", "threshold", 2, 50, 100)} ${number("train.most", "most_answers", 1, 10)}`;
}

/** usual: what counts while the field is empty; without it the field must not be empty. */
function numberView(key, value, least, most, call, usual = null) {
  const changed = ({ target }) => {
    if (usual !== null && !target.value) return call(null);
    target.value = Math.min(most, Math.max(least, Math.round(Number(target.value))));
    return call(Number(target.value));
  };
  return html`<label class="field"><span>${t(key)}</span><input type="number" min=${least} max=${most} placeholder=${usual ?? ""} .value=${String(value ?? "")} @change=${changed} /></label>`;
}
