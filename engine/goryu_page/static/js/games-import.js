// Import: files and whole folders, sent one by one, with what could not be read.

import { fileField, onDrop, toast, toBase64 } from "./dom.js";
import * as i18n from "./i18n.js";
import { ACCEPT, isRecord } from "./records.js";
import * as socket from "./socket.js";
import { button, checkBox, html } from "./template.js";

const { t } = i18n;
const PART_BYTES = 768 << 10; // Of a file, in one message; Base64 makes it a third longer.

export class ImportPanel {
  /** games: the view "My games"; files that are dropped on it are imported. */
  constructor(games) {
    this.games = games;
    this.queue = [];
    this.total = null; // Of the running or the last import.
    this.name = ""; // Of the file that is being imported.
    this.isRunning = this.isOfRecords = false;
    this.files = fileField({ multiple: true, accept: ACCEPT }, (found) => this.add(named(found)));
    this.folder = fileField({ webkitdirectory: true }, (found) => this.add(named(found).filter(({ name }) => isRecord(name))));
    onDrop(games.section, (given) => this.take(given));
    // Goes on where a connection was lost; a file that is sent twice is known already.
    socket.onConnected(() => this.queue.length && !this.isRunning && this.run(this.total));
  }

  /** Takes what was dropped: files, and folders with all that is below them. */
  async take({ items, files: dropped }) {
    // The entries must be taken before the first await: then the browser empties the list.
    const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const files = entries.length ? [] : named(dropped);
    for (const entry of entries) await collect(entry, files, true);
    this.add(files);
  }

  view() {
    const { faults, folders } = this.games.state;
    const { total, isRunning } = this;
    const all = isRunning ? total.done + (this.queue.length || 1) : 1; // After *Stop* the queue is empty.
    const watched = t("games.import.watched", { folders: folders.join(i18n.current() === "ja" ? "、" : ", ") });
    return html`<div class="panel stack">
      <h2>${t("games.import")}</h2>
      <p class="small muted">${t("games.import.about")}</p>
      <div class="row">
        ${button("games.import.files", () => this.files.click(), { className: "primary" })}${button("games.import.folder", () => this.folder.click())}${this.files}${this.folder}
      </div>
      ${checkBox(t("games.import.records"), this.isOfRecords, (isOn) => (this.isOfRecords = isOn), { className: "small" })}
      <progress max="1" .value=${isRunning ? total.done / all : 0} aria-label=${t("games.import")} title=${t("games.import")} ?hidden=${!isRunning}></progress>
      <p class="small muted" role="status">${isRunning ? t("games.import.progress", { done: total.done + 1, all, name: this.name }) : this.doneText()}</p>
      ${button("games.import.stop", () => (this.queue = []), { className: "small", isHidden: !isRunning })}
      <p class="small muted" ?hidden=${!folders.length}>${watched}</p>
      <details class="faults small" ?hidden=${!faults.length}>
        <summary>${t("games.faults", { count: faults.length })}</summary>
        <ul class="fault-list">${faults.map(faultView)}</ul>
        ${button("games.faults.forget", () => socket.request("games.forget_faults"), { className: "small" })}
      </details>
    </div>`;
  }

  doneText() {
    if (!this.total) return "";
    const keys = ["games.import.done", this.total.failed && "games.import.failed"].filter(Boolean);
    return keys.map((key) => t(key, this.total)).join(i18n.current() === "ja" ? "。" : ". ");
  }

  /** Imports files, {name, file}, after those that still wait. */
  async add(files) {
    if (!files.length) {
      toast(t("games.import.nothing"));
      return;
    }
    const collection = this.isOfRecords ? "records" : "mine";
    this.queue.push(...files.map((one) => ({ ...one, collection })));
    if (!this.isRunning) await this.run();
  }

  async run(total = { done: 0, added: 0, duplicates: 0, faults: 0, failed: 0 }) {
    this.total = total;
    this.isRunning = true;
    try {
      while (this.queue.length) {
        const [one] = this.queue;
        this.name = one.name;
        this.games.draw();
        await this.send(one, total);
        this.queue = this.queue.filter((other) => other !== one);
        total.done += 1;
      }
    } finally {
      this.isRunning = false;
      this.games.draw();
    }
  }

  async send({ name, file, collection }, total) {
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

function faultView({ file, line, problem }) {
  return html`<li><b>${line === null ? file : t("games.faults.line", { file, line })}</b> ${problem}</li>`;
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
