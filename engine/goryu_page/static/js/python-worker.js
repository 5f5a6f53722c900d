// Runs Python in this worker: loads Pyodide and Goryu's files, and passes messages to the class that the page names.

import { mountKept, openKept } from "./kept-files.js";

const site = new URL("..", import.meta.url);
const asked = new URL(import.meta.url).searchParams;
const KEPT = ["dojo.sqlite3", "dojo.sqlite3-wal", "dojo.sqlite3-journal"];
const PATIENCE_MS = 5000; // A tab that is being closed or loaded again soon lets the files go.
let python = null;

/** Fetches as the browser does, but unpacks Pyodide's largest file, which lies packed on the server. */
const fetchPlain = globalThis.fetch;
globalThis.fetch = async (request, options) => {
  if (!String(request).endsWith(".asm.wasm")) return fetchPlain(request, options);
  const packed = await fetchPlain(`${request}.gz`);
  if (!packed.ok || !packed.body) throw new Error(`${packed.url}: ${packed.status}`);
  return new Response(packed.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "content-type": "application/wasm" } });
};

const send = (message) => postMessage(JSON.stringify(message));

/** Returns the files that the browser keeps, or null if it keeps none. */
async function keptFiles() {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await openKept(KEPT);
    } catch (error) {
      const isTaken = error.name === "NoModificationAllowedError";
      if (!isTaken) send({ type: "worker.unkept", text: String(error) }); // Such as a private window.
      if (!isTaken) return null;
      if (performance.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function loadTab() {
  const kept = asked.has("keeps") ? await keptFiles() : null;
  const pyodide = new URL("../pyodide/", site);
  const { loadPyodide } = await import(new URL("pyodide.mjs", pyodide).href);
  const files = fetch(new URL("goryu-python.zip", site)); // Beside Pyodide, whose start takes longer.
  python = await loadPyodide({ indexURL: pyodide.href });
  const answer = await files;
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`);
  python.unpackArchive(await answer.arrayBuffer(), "zip", { extractDir: "/goryu" });
  python.runPython("import sys; sys.path.insert(0, '/goryu')");
  if (kept) mountKept(python.FS, "/kept", kept);
  const [, module, name] = /^(.+)\.(.+)$/.exec(asked.get("entry"));
  return python.pyimport(module)[name]((text) => postMessage(text));
}

/** Tells the page that Python cannot start or has ended, for instance for want of memory. */
const fail = (error) => send({ type: "failed", name: error.name, text: String(error) });

/** Passes a file of Python to the page, or one of the page to Python. */
function passFile({ path, content }) {
  if (content) python.FS.writeFile(path, content);
  else postMessage({ path, content: python.FS.readFile(path) });
}

try {
  const tab = await loadTab();
  addEventListener("message", ({ data }) => {
    try {
      if (typeof data === "string") tab.receive(data);
      else passFile(data);
    } catch (error) {
      fail(error);
    }
  });
  send({ type: "ready" });
} catch (error) {
  fail(error);
}
