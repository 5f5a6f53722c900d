// A page of the textbook that runs: code to edit and run, with the microscope below it; or the microscope alone.

import { h } from "./dom.js";
import * as i18n from "./i18n.js";
import * as microscope from "./microscope.js";
import { make } from "./microscope-picture.js";
import { html, live, nothing, render } from "./template.js";
import * as socket from "./worker-socket.js";

const { t } = i18n;
const asked = new URLSearchParams(location.search);
const { chapters, megabytes } = JSON.parse(document.getElementById("textbook").textContent);
const chapter = chapters[asked.get("chapter")];
const main = document.getElementById("main");
const section = h("section", { class: "view microscope", hidden: true });
const state = { text: chapter?.text ?? "", status: "", isBusy: false, hasStarted: false, isOffline: false, fault: null, printed: "", boards: [] };

function set(changes) {
  Object.assign(state, changes);
  render(view(), main, { renderBefore: section });
}

function view() {
  const { fault, printed, boards, status, isOffline } = state;
  return html`${chapter ? editorView() : html`<h1>${t("view.microscope")}</h1>`}
    <p class="row">${buttonsView()}<span class="muted" role="status">${status} ${isOffline ? t("textbook.offline") : nothing}</span></p>
    ${fault ? html`<p class="fault" role="alert">${fault.line ? t("textbook.line", fault) : fault.message}</p>` : nothing}
    ${printed ? html`<pre class="printed">${printed}</pre>` : nothing}
    <div class="boards" ?hidden=${!boards.length}>${boards.map((board) => html`<svg class="tree-picture" viewBox="0 0 102 102">${make(board)}</svg>`)}</div>`;
}

function editorView() {
  const lines = state.text.split("\n");
  const numbers = lines.map((_, i) => html`<span class=${state.fault?.line === i + 1 ? "fault" : ""}>${i + 1}</span>`);
  return html`<p class="muted small">${chapter.file}</p>
    <div class="editor"><div class="numbers" aria-hidden="true">${numbers}</div>
      <textarea aria-label=${t("textbook.code")} wrap="off" spellcheck="false" autocapitalize="off" rows=${lines.length} .value=${live(state.text)}
        @input=${(event) => set({ text: event.target.value, fault: null })}></textarea></div>`;
}

function buttonsView() {
  const { hasStarted, isBusy } = state;
  const start = hasStarted ? t("textbook.run") : t("textbook.start", { megabytes });
  const isShown = !hasStarted || chapter;
  return html`<button type="button" class="primary" ?hidden=${!isShown} ?disabled=${isBusy} @click=${run}>${start}</button>
    <button type="button" ?hidden=${!hasStarted} ?disabled=${!isBusy} @click=${stop}>${t("textbook.stop")}</button>
    <button type="button" ?hidden=${!chapter} ?disabled=${state.text === chapter?.text} @click=${() => set({ text: chapter.text, fault: null })}>${t("textbook.reset")}</button>`;
}

/** Runs the code and begins the chapter's search with it. Python is loaded at the first run. */
async function run() {
  if (!state.hasStarted) await start();
  set({ fault: null, printed: "", boards: [], status: t("textbook.running") });
  if (chapter) set(await socket.request("textbook.run", { ...chapter.run, text: state.text }));
  set({ status: "" });
  if (!state.isOffline) keepOffline().catch(console.error); // A private window may refuse; all else works.
  if (chapter && !chapter.search) return;
  const isFirst = section.hidden;
  if (isFirst) microscope.mount(section); // It begins when Python is there.
  section.hidden = false;
  if (chapter) await microscope.begin(isFirst ? chapter.search : null);
}

async function start() {
  set({ hasStarted: true, isBusy: true, status: t("textbook.loading", { megabytes }) });
  try {
    await socket.start();
  } catch (error) {
    set({ hasStarted: false, isBusy: false });
    throw new socket.PythonError(t("textbook.failed", { reason: error.message }), 0);
  }
  set({ isBusy: false });
}

async function keepOffline() {
  await navigator.serviceWorker?.register("../service-worker.js");
  await navigator.serviceWorker?.ready;
  set({ isOffline: Boolean(navigator.serviceWorker) });
}

async function stop() {
  const started = socket.stop();
  set({ status: t("textbook.restarting"), isBusy: true });
  await started;
  set({ status: t("textbook.stopped"), isBusy: false });
}

addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  if (event.reason instanceof socket.ConnectionLost) return;
  if (!(event.reason instanceof socket.PythonError)) console.error(event.reason);
  const { message, line = 0 } = event.reason;
  set({ fault: { message, line }, status: "" });
  main.querySelector("p.fault").scrollIntoView({ block: "nearest" });
});

if (asked.has("theme")) document.documentElement.dataset.theme = asked.get("theme");
i18n.start(i18n.textsOfPage(), asked.get("language") ?? undefined);
document.documentElement.lang = i18n.current();
document.title = `${t(chapter ? "textbook.title" : "view.microscope")} – Goryu`;
main.append(section);
socket.onBusy((isBusy) => set({ isBusy }));
set({});
if (window.frameElement) {
  const frame = /** @type {HTMLElement} */ (window.frameElement);
  new ResizeObserver(() => (frame.style.height = `${document.body.scrollHeight}px`)).observe(document.body);
}
if (asked.has("start")) run();
