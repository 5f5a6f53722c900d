// Runs Python in this worker: loads Pyodide and Goryu's files, and lets `goryu_page.microscope.tab` answer messages.

const site = new URL("..", import.meta.url);

/** Fetches as the browser does, but unpacks Pyodide's largest file, which lies packed on the server. */
const fetchPlain = globalThis.fetch;
globalThis.fetch = async (request, options) => {
  if (!String(request).endsWith(".asm.wasm")) return fetchPlain(request, options);
  const packed = await fetchPlain(`${request}.gz`);
  if (!packed.ok || !packed.body) throw new Error(`${packed.url}: ${packed.status}`);
  return new Response(packed.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "content-type": "application/wasm" } });
};

async function loadTab() {
  const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", site).href);
  const python = await loadPyodide({ indexURL: new URL("pyodide/", site).href });
  const files = await fetch(new URL("goryu-python.zip", site));
  if (!files.ok) throw new Error(`${files.url}: ${files.status}`);
  python.unpackArchive(await files.arrayBuffer(), "zip", { extractDir: "/goryu" });
  python.runPython("import sys; sys.path.insert(0, '/goryu')");
  const send = (type, playouts) => postMessage({ type, playouts });
  return python.pyimport("goryu_page.microscope.tab").Tab(send);
}

try {
  const tab = await loadTab();
  addEventListener("message", ({ data: { id, text } }) => {
    try {
      postMessage({ type: "reply", id, text: tab.answer(text) });
    } catch (error) {
      postMessage({ type: "failed", text: String(error) }); // Python itself has ended, for instance for want of memory.
    }
  });
  postMessage({ type: "ready" });
} catch (error) {
  postMessage({ type: "failed", text: String(error) });
}
