// A game that one view hands to another.

let waiting = null;

/** Opens the view "Review" with a record: {name, text}, at the position after `ply` moves if that is given. */
export function review(record) {
  waiting = record;
  location.hash = "#review/played";
}

/** Returns the record that waits for the view "Review", once; null if there is none. */
export function taken() {
  const record = waiting;
  waiting = null;
  return record;
}
