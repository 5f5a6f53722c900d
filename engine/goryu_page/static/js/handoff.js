// What one view hands to another.

let record = null;
let position = null;

/** Opens the view "Review" with a record, {name, text}. A game of My games has an address: #review/GAME/PLY. */
export function review(given) {
  record = given;
  location.hash = "#review/played";
}

/** Returns the record that waits for the view "Review", once; null if there is none. */
export function taken() {
  const given = record;
  record = null;
  return given;
}

/**
 * Opens the set-up of the view "Play" with a position, from which the user plays on at a level of their choice.
 *
 *     handoff.playFrom({ moves: ["7g7f", "3c3d"] });
 *     handoff.playFrom({ sfen: "4k4/9/9/9/9/9/9/9/4K4 b 2G 1", side: "first" });
 *
 * sfen: of the start, without the word "sfen"; "" or missing for the usual start. moves: in USI, legal, from
 * the start to the position; with them repetitions count from the start, and the record is whole. side: "first"
 * (Black) or "second" (White), which the form offers to the user; missing for the side to move.
 */
export function playFrom({ sfen = "", moves = [], side = null }) {
  position = { sfen, moves, side };
  location.hash = "#play/position";
}

/** Returns the position that waits for the view "Play", once; null if there is none. */
export function takenPosition() {
  const given = position;
  position = null;
  return given;
}
