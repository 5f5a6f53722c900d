// The backup: a copy of the database to keep, and one that is read back.

import { download, fileField, h, toast } from "./dom.js";
import * as i18n from "./i18n.js";

const token = document.querySelector('meta[name="goryu-token"]').content;

export class BackupPanel {
  constructor() {
    this.file = "";
    this.about = h("p", { class: "small muted file-name" });
    const input = fileField({ accept: ".sqlite3" }, ([file]) => this.busy(() => this.read(file)));
    const button = (name, call) => h("button", { type: "button", dataset: { i18n: `games.backup.${name}` }, on: { click: call } });
    this.buttons = [button("save", () => this.busy(() => this.save())), button("read", () => input.click())];
    this.root = h("div", { class: "panel stack", hidden: true }, h("h2", { dataset: { i18n: "games.backup" } }), this.about, h("div", { class: "row" }, ...this.buttons, input));
    i18n.onChange(() => this.draw());
  }

  setState({ file }) {
    this.file = file;
    this.root.hidden = file === null;
    this.draw();
  }

  draw() {
    this.about.textContent = this.file && i18n.t("games.backup.about", { file: this.file });
  }

  /** Disables the buttons while the work goes on. */
  async busy(work) {
    for (const button of this.buttons) button.disabled = true;
    try {
      await work();
    } finally {
      for (const button of this.buttons) button.disabled = false;
    }
  }

  async save() {
    const response = await this.fetch("GET");
    const [, name] = /filename="(.+)"/.exec(response.headers.get("Content-Disposition"));
    download(name, await response.blob(), "application/vnd.sqlite3");
  }

  async read(file) {
    const response = await this.fetch("POST", file);
    toast(i18n.t("games.backup.done", await response.json()));
  }

  async fetch(method, body) {
    const response = await fetch(`/backup?language=${i18n.current()}`, { method, body, headers: { "X-Goryu-Token": token } });
    if (!response.ok) throw new Error(await response.text());
    return response;
  }
}
