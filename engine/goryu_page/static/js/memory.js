// What this browser keeps for the page. If it refuses, because its storage is full or blocked, the page alone keeps it.

/** @type {Map<string, string>} */
const unsaved = new Map();

/** Returns the text that was stored under a key, or null. inTab: of this tab alone. */
export function recall(key, inTab = false) {
  try {
    return unsaved.get(key) ?? (inTab ? sessionStorage : localStorage).getItem(key);
  } catch {
    return null;
  }
}

/** Returns what was stored as JSON, or else null. @type {(key: string, inTab?: boolean) => any} */
export function recallJson(key, inTab = false) {
  try {
    return JSON.parse(recall(key, inTab) ?? "null");
  } catch {
    return null;
  }
}

/** Stores a text under a key. @type {(key: string, text: string, inTab?: boolean) => void} */
export function store(key, text, inTab = false) {
  unsaved.delete(key);
  try {
    (inTab ? sessionStorage : localStorage).setItem(key, text);
  } catch {
    unsaved.set(key, text);
  }
}
