// Keeps what runs in the browser for a reader who is offline. The build fills in the name, the files and the folders.
//
// A new version waits until all tabs of the old one are closed, since the files of a version belong together.

const NAME = "goryu-SITE-VERSION";
const FILES = /** @type {string[]} */ (["FILES"]);
const FOLDERS = /** @type {string[]} */ (["FOLDERS"]); // Their files come from the cache, others from the network if there is one.
const worker = /** @type {any} */ (self);
const addresses = FOLDERS.map((name) => new URL(name, worker.location).href);

worker.addEventListener("install", (event) => {
  const wanted = FILES.map((name) => new Request(name, { cache: "no-cache" }));
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(wanted)));
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(removeOld().then(() => worker.clients.claim()));
});

async function removeOld() {
  for (const name of await caches.keys()) if (name.startsWith("goryu-SITE-") && name !== NAME) await caches.delete(name);
}

worker.addEventListener("fetch", (event) => {
  if (event.request.method === "GET") event.respondWith(answer(event.request));
});

async function answer(request) {
  const kept = () => caches.match(request, { cacheName: NAME, ignoreSearch: true });
  if (addresses.some((address) => request.url.startsWith(address))) return (await kept()) ?? fetch(request);
  try {
    return await fetch(request);
  } catch (error) {
    const found = await kept();
    if (found) return found;
    throw error;
  }
}

/** A large network is not among the files: the page names it when Python has fetched it. */
worker.addEventListener("message", (event) => event.waitUntil(keep(event.data)));

async function keep(address) {
  const cache = await caches.open(NAME);
  if (!(await cache.match(address))) await cache.add(address);
}
