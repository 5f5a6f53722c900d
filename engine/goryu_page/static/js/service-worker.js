// Keeps the textbook that runs, and the guides beside it, for a reader who is offline. The build fills in the list.

const NAME = "goryu-textbook-VERSION";
const FILES = /** @type {string[]} */ (["FILES"]);
const worker = /** @type {any} */ (self);

worker.addEventListener("install", (event) => {
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(FILES)).then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(removeOld().then(() => worker.clients.claim()));
});

async function removeOld() {
  for (const name of await caches.keys()) if (name.startsWith("goryu-textbook-") && name !== NAME) await caches.delete(name);
}

worker.addEventListener("fetch", (event) => {
  if (event.request.method === "GET") event.respondWith(answer(event.request));
});

/** The textbook comes from the cache, since its files belong together; the guides come from the network if there is one. */
async function answer(request) {
  const kept = () => caches.match(request, { cacheName: NAME, ignoreSearch: true });
  if (request.url.startsWith(new URL("textbook/", worker.registration.scope).href)) return (await kept()) ?? fetch(request);
  try {
    return await fetch(request);
  } catch (error) {
    const found = await kept();
    if (found) return found;
    throw error;
  }
}
