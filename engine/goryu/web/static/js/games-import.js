// Import: files and whole folders, sent one by one, with what could not be read.

import { fileField, h, onDrop, toast, toBase64 } from "./dom.js";
import * as i18n from "./i18n.js";
import { ACCEPT, isRecord } from "./records.js";
import * as socket from "./socket.js";

const PART_BYTES = 768 << 10; // Of a file, in one message; Base64 makes it a third longer.

export class ImportPanel {
  /** section: files that are dropped on it are imported. */
  constructor(section) {
    this.queue = [];
    this.isRunning = false;
    this.total = null; // Of the last import, as `run` counts it.
    this.state = null;
    const files = fileField({ multiple: true, accept: ACCEPT }, (found) => this.add(named(found)));
    const folder = fileField({ webkitdirectory: true }, (found) => this.add(named(found).filter(({ name }) => isRecord(name))));
    const button = (name, input, kind) =>
      h("button", { type: "button", class: kind, dataset: { i18n: `games.import.${name}` }, on: { click: () => input.click() } });
    this.records = h("input", { type: "checkbox" });
    this.progress = h("progress", { max: 1, value: 0, hidden: true, dataset: { i18nLabel: "games.import" } });
    this.text = h("p", { class: "small muted", role: "status" });
    this.stop = h("button", { type: "button", class: "small", hidden: true, dataset: { i18n: "games.import.stop" }, on: { click: () => (this.queue = []) } });
    this.watched = h("p", { class: "small muted", hidden: true });
    this.faultsTitle = h("summary", {});
    this.faultList = h("ul", { class: "fault-list" });
    const forget = h("button", { type: "button", class: "small", dataset: { i18n: "games.faults.forget" }, on: { click: () => socket.request("games.forget_faults") } });
    this.faults = h("details", { class: "faults small", hidden: true }, this.faultsTitle, this.faultList, forget);
    this.root = h(
      "div",
      { class: "panel stack" },
      h("h2", { dataset: { i18n: "games.import" } }),
      h("p", { class: "small muted", dataset: { i18n: "games.import.about" } }),
      h("div", { class: "row" }, button("files", files, "primary"), button("folder", folder, ""), files, folder),
      h("label", { class: "check small" }, this.records, h("span", { dataset: { i18n: "games.import.records" } })),
      this.progress,
      this.text,
      this.stop,
      this.watched,
      this.faults,
    );
    onDrop(section, (given) => this.take(given));
    i18n.onChange(() => this.draw());
  }

  /** Takes what was dropped: files, and folders with all that is below them. */
  async take({ items, files: dropped }) {
    // The entries must be taken before the first await: then the browser empties the list.
    const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const files = entries.length ? [] : named(dropped);
    for (const entry of entries) await collect(entry, files, true);
    this.add(files);
  }

  setState(state) {
    this.state = state;
    this.draw();
  }

  draw() {
    if (!this.state) return;
    const { faults, folders } = this.state;
    if (this.total && !this.isRunning) {
      const texts = ["games.import.done", this.total.failed && "games.import.failed"].filter(Boolean);
      this.text.textContent = texts.map((key) => i18n.t(key, this.total)).join(i18n.current() === "ja" ? "。" : ". ");
    }
    this.watched.hidden = !folders.length;
    this.watched.textContent = i18n.t("games.import.watched", { folders: folders.join(i18n.current() === "ja" ? "、" : ", ") });
    this.faults.hidden = !faults.length;
    this.faultsTitle.textContent = i18n.t("games.faults", { count: faults.length });
    this.faultList.replaceChildren(
      ...faults.map(({ file, line, problem }) => h("li", {}, h("b", { text: line === null ? file : i18n.t("games.faults.line", { file, line }) }), ` ${problem}`)),
    );
  }

  /** Imports files, {name, file}, after those that still wait. */
  async add(files) {
    if (!files.length) {
      toast(i18n.t("games.import.nothing"));
      return;
    }
    const collection = this.records.checked ? "records" : "mine";
    this.queue.push(...files.map((one) => ({ ...one, collection })));
    if (!this.isRunning) await this.run();
  }

  async run() {
    const total = { done: 0, added: 0, duplicates: 0, faults: 0, failed: 0 };
    this.isRunning = true;
    this.progress.hidden = this.stop.hidden = false;
    try {
      while (this.queue.length) {
        const all = total.done + this.queue.length;
        const { name, file, collection } = this.queue.shift();
        this.progress.value = total.done / all;
        this.text.textContent = i18n.t("games.import.progress", { done: total.done + 1, all, name });
        await this.send(name, file, collection, total);
        total.done += 1;
      }
    } finally {
      this.queue = [];
      this.isRunning = false;
      this.progress.hidden = this.stop.hidden = true;
      this.total = total;
      this.draw();
    }
  }

  async send(name, file, collection, total) {
    try {
      let at = 0;
      let done = null;
      for (let part = 0; done === null; part += 1) {
        const content = toBase64(new Uint8Array(await file.slice(at, at + PART_BYTES).arrayBuffer()));
        at += PART_BYTES;
        done = await socket.request("games.add", { name, collection, part, content, more: at < file.size });
      }
      total.added += done.added;
      total.duplicates += done.duplicates;
      total.faults += done.faults.length;
    } catch (error) {
      if (error instanceof socket.ConnectionLost) throw error;
      total.failed += 1;
      toast(error.message, "error");
    }
  }
}

function named(files) {
  return [...files].map((file) => ({ name: file.webkitRelativePath || file.name, file }));
}

/** Adds the files of an entry, also of the folders below it. isNamed: did the user drop this very entry? */
async function collect(entry, files, isNamed) {
  if (entry.isFile) {
    if (!isNamed && !isRecord(entry.name)) return;
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    files.push({ name: entry.fullPath.replace(/^\//, ""), file });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    // A call returns some of the entries, Chromium 100 at most.
    const found = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!found.length) return;
    for (const one of found) await collect(one, files, false);
  }
}
