// Runs Python in this worker: loads Pyodide and Goryu's files, and passes messages to the class that the page names.

const site = new URL("..", import.meta.url);
const entry = new URL(import.meta.url).searchParams.get("entry");

/** Fetches as the browser does, but unpacks Pyodide's largest file, which lies packed on the server. */
const fetchPlain = globalThis.fetch;
globalThis.fetch = async (request, options) => {
  if (!String(request).endsWith(".asm.wasm")) return fetchPlain(request, options);
  const packed = await fetchPlain(`${request}.gz`);
  if (!packed.ok || !packed.body) throw new Error(`${packed.url}: ${packed.status}`);
  return new Response(packed.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "content-type": "application/wasm" } });
};

async function loadTab() {
  const pyodide = new URL("../pyodide/", site);
  const { loadPyodide } = await import(new URL("pyodide.mjs", pyodide).href);
  const files = fetch(new URL("goryu-python.zip", site)); // Beside Pyodide, whose start takes longer.
  const python = await loadPyodide({ indexURL: pyodide.href });
  const answer = await files;
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`);
  python.unpackArchive(await answer.arrayBuffer(), "zip", { extractDir: "/goryu" });
  python.runPython("import sys; sys.path.insert(0, '/goryu')");
  const [, module, name] = /^(.+)\.(.+)$/.exec(entry);
  return python.pyimport(module)[name]((text) => postMessage(text));
}

/** Tells the page that Python cannot start or has ended, for instance for want of memory. */
const fail = (error) => postMessage(JSON.stringify({ type: "failed", text: String(error) }));

try {
  const tab = await loadTab();
  addEventListener("message", ({ data }) => {
    try {
      tab.receive(data);
    } catch (error) {
      fail(error);
    }
  });
  postMessage('{"type":"ready"}');
} catch (error) {
  fail(error);
}
