// The backup: a copy of the database to keep, and one that is read back.

import { download, fileField, toast } from "./dom.js";
import * as i18n from "./i18n.js";
import * as socket from "./socket.js";
import { button, html } from "./template.js";

const { t } = i18n;

/** games: the view "My games". */
export class BackupPanel {
  constructor(games) {
    this.games = games;
    this.isBusy = false;
    this.field = fileField({ accept: ".sqlite3" }, ([file]) => this.busy(() => this.read(file)));
  }

  view() {
    const isDisabled = this.isBusy;
    const { file } = this.games.state; // On the machine of the server.
    return html`<div class="panel stack" ?hidden=${file === null}>
      <h2>${t("games.backup")}</h2>
      <p class="small muted file-name">${t(socket.isTab ? "games.backup.browser" : "games.backup.about", { file })}</p>
      <div class="row">
        ${button("games.backup.save", () => this.busy(() => this.save()), { isDisabled })}${button("games.backup.read", () => this.field.click(), { isDisabled })}${this.field}
      </div>
    </div>`;
  }

  /** Disables the buttons while the work goes on. */
  async busy(work) {
    this.isBusy = true;
    this.games.draw();
    try {
      await work();
    } finally {
      this.isBusy = false;
      this.games.draw();
    }
  }

  async save() {
    const { name, content } = await socket.copy();
    download(name, content, "application/vnd.sqlite3");
  }

  async read(file) {
    toast(t("games.backup.done", await socket.merge(file)));
  }
}
