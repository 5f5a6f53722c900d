// What the page's Python needs in its worker: files that the browser keeps, and the engine with its networks.

import { mountKept, openKept } from "./kept-files.js";

const KEPT = ["dojo.sqlite3", "dojo.sqlite3-wal", "dojo.sqlite3-journal"];
const PATIENCE_MS = 5000; // A tab that is being closed or loaded again soon lets the files go.
const MODELS = "/goryu/goryu/models";
const LOST = 29; // EIO of Emscripten.

/** Begins what can be done before Python is there. send(message): to the page. */
export async function begin(site, send) {
  if (!("Suspending" in WebAssembly)) throw new DOMException("JavaScript Promise Integration", "NotSupportedError");
  const { compile, Engine } = await import(new URL("engine/goryu.js", site).href);
  const module = fetchBytes(new URL("engine/goryu.wasm", site)).then(compile);
  const sizes = fetchBytes(new URL("engine/networks.json", site)).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
  const fetched = (address) => send({ type: "worker.fetched", address });
  return { kept: await keptFiles(send), module: await module, sizes: await sizes, site, Engine, fetched };
}

/** Gives Python the files. Returns what its entry is called with. */
export function mount({ FS }, { kept, module, sizes, site, Engine, fetched }) {
  if (kept) mountKept(FS, "/kept", kept);
  for (const [name, size] of Object.entries(sizes)) {
    const url = new URL(`engine/${name}.network`, site).href;
    for (const suffix of [".network", ".onnx"]) mountFetched(FS, `${MODELS}/${name}${suffix}`, url, size, fetched);
  }
  return [() => new Engine(module)];
}

async function fetchBytes(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** Returns the files that the browser keeps, or null if it keeps none. */
async function keptFiles(send) {
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

/** Makes a file whose content is fetched when Python reads it, and not again. */
function mountFetched(FS, path, url, size, fetched) {
  let content = null;
  const node = FS.mknod(path, 0o100444, 0);
  const { getattr } = node.node_ops;
  node.node_ops = { ...node.node_ops, getattr: (one) => ({ ...getattr(one), size }) };
  node.stream_ops = {
    ...node.stream_ops,
    read(_stream, buffer, offset, length, at) {
      if (!content) {
        content = fetchNow(FS, url);
        fetched(url);
      }
      const part = content.subarray(at, at + length);
      buffer.set(part, offset);
      return part.length;
    },
  };
}

/** Fetches a file while Python waits, which only a worker may. */
function fetchNow(FS, url) {
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.responseType = "arraybuffer";
  try {
    request.send();
  } catch {
    throw new FS.ErrnoError(LOST); // Offline, and the file is not there yet.
  }
  if (request.status !== 200) throw new FS.ErrnoError(LOST);
  return new Uint8Array(request.response);
}
