// The panels of the view "Train" beside the board: the kinds of problems, the settings, the files.

import { fileField, h, redraw } from "./dom.js";
import * as i18n from "./i18n.js";

const KINDS = ["mistake", "unpunished", "mate", "only", "tsume", "opening", "imported"];
const { t } = i18n;

/** options: free(kind, length), change(changes), open(file), save(): what the user asks for. */
export class TrainMenu {
  constructor(options) {
    this.options = options;
    this.state = null;
    this.kinds = h("div", { class: "kinds" });
    this.lengths = h("div", { class: "row lengths" });
    this.settings = h("div", { class: "stack" });
    const input = fileField({ accept: ".json" }, ([file]) => options.open(file));
    const button = (key, call) => h("button", { type: "button", on: { click: call }, dataset: { i18n: key } });
    this.panels = [
      h("div", { class: "panel stack" }, h("h2", { dataset: { i18n: "train.free" } }), this.kinds, this.lengths),
      h("details", { class: "panel" }, h("summary", { dataset: { i18n: "train.settings" } }), this.settings),
      h(
        "details",
        { class: "panel" },
        h("summary", { dataset: { i18n: "train.files" } }),
        h("div", { class: "stack" }, h("p", { class: "small muted", dataset: { i18n: "train.files.about" } }), h("div", { class: "row" }, button("train.import", () => input.click()), button("train.export", options.save), input)),
      ),
    ];
    i18n.onChange(() => this.state && this.draw(this.state));
  }

  draw(state) {
    this.state = state;
    const { counts, lengths } = state;
    redraw(
      this.kinds,
      ...KINDS.map((kind) =>
        h(
          "button",
          { type: "button", disabled: !counts[kind], on: { click: () => this.options.free(kind) } },
          h("span", { text: t(`train.kind.${kind}`) }),
          h("span", { class: "muted number", text: counts[kind] }),
        ),
      ),
    );
    const found = Object.entries(lengths);
    this.lengths.hidden = !found.length;
    redraw(
      this.lengths,
      h("span", { class: "small muted", text: t("train.lengths") }),
      ...found.map(([length, count]) =>
        h("button", { type: "button", class: "small", title: t("train.length.count", { count }), on: { click: () => this.options.free("tsume", Number(length)) }, text: t("train.length", { length }) }),
      ),
    );
    this.drawSettings(state.settings);
  }

  drawSettings(settings) {
    if (this.settings.contains(document.activeElement) && document.activeElement.type === "number") return; // The user is typing.
    const change = (name, value) => this.options.change({ [name]: value });
    const check = (key, checked, call) =>
      h("label", { class: "check" }, h("input", { type: "checkbox", checked, on: { change: (event) => call(event.target.checked) } }), h("span", { text: t(key) }));
    const number = (key, name, least, most, factor = 1) =>
      h(
        "label",
        { class: "field" },
        h("span", { text: t(key) }),
        h("input", {
          type: "number",
          min: least,
          max: most,
          value: Math.round(settings[name] * factor),
          on: { change: (event) => change(name, Math.min(most, Math.max(least, Math.round(Number(event.target.value)))) / factor) },
        }),
      );
    const unit = h(
      "select",
      { "aria-label": t("train.unit"), on: { change: (event) => change("unit", event.target.value) } },
      ...["problems", "minutes"].map((name) => h("option", { value: name, selected: settings.unit === name, text: t(`train.unit.${name}`) })),
    );
    // By the boxes: while the user types a number, the settings of this drawing grow old.
    const chosen = () => KINDS.filter((_, at) => kinds[at].firstChild.checked);
    const kinds = KINDS.map((kind) => check(`train.kind.${kind}`, settings.kinds.includes(kind), () => change("kinds", chosen())));
    this.settings.replaceChildren(
      check("train.scheduled", settings.is_scheduled, (isOn) => change("is_scheduled", isOn)),
      h("div", { class: "pair" }, number("train.amount", "amount", 1, 500), h("label", { class: "field" }, h("span", { text: t("train.unit") }), unit)),
      h("fieldset", { class: "stack" }, h("legend", { text: t("train.new.kinds") }), ...kinds),
      number("train.longest", "longest_tsume", 1, 13),
      check("train.checking", settings.is_checking, (isOn) => change("is_checking", isOn)),
      number("train.playouts", "playouts", 100, 1_000_000),
      number("train.threshold", "threshold", 2, 50, 100),
      number("train.most", "most_answers", 1, 10),
    );
  }
}
