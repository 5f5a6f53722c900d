// Which files are game records: the suffixes come from the server, which reads them.

const SUFFIXES = document.querySelector('meta[name="goryu-suffixes"]').getAttribute("content").split(" ");

/** What a dialog for records offers: also the suffixes that they share with other files. */
export const ACCEPT = [...SUFFIXES, ".json", ".txt"].join(",");

/** Does a file have the name of a record? Of a folder, other files are left out. */
export function isRecord(name) {
  return SUFFIXES.some((suffix) => name.toLowerCase().endsWith(suffix));
}
