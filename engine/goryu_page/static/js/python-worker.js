// Runs Python in this worker: loads Pyodide and Goryu's files, and passes messages to the class that the page names.

const site = new URL("..", import.meta.url);
const asked = new URLSearchParams(/** @type {any} */ (globalThis).goryuQuery); // Not of this file: a service worker answers without.
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

async function loadTab() {
  const page = asked.has("page") ? await import("./page-worker.js") : null; // Else the textbook.
  const begun = await page?.begin(site, send);
  const pyodide = new URL("../pyodide/", site);
  const { loadPyodide } = await import(new URL("pyodide.mjs", pyodide).href);
  const files = fetch(new URL("goryu-python.zip", site)); // Beside Pyodide, whose start takes longer.
  python = await loadPyodide({ indexURL: pyodide.href });
  python._api.on_fatal = fail; // Python itself has ended.
  const answer = await files;
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`);
  python.unpackArchive(await answer.arrayBuffer(), "zip", { extractDir: "/goryu" });
  python.runPython("import sys; sys.path.insert(0, '/goryu')");
  const [, module, name] = /^(.+)\.(.+)$/.exec(asked.get("entry"));
  const more = page?.mount(python, begun) ?? [];
  return python.pyimport(module)[name]((text) => postMessage(text), ...more);
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
