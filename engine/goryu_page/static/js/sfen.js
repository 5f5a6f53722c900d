// Plays USI moves on an SFEN, without checking them.

/** The usual start. */
export const START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";

const LETTERS = "abcdefghi";
const HAND = ["R", "B", "G", "S", "N", "L", "P"];

/** Returns the SFEN after a legal move in USI. @type {(sfen: string, move: string) => string} */
export function afterMove(sfen, move) {
  const [board, turn, hands, number] = sfen.split(" ");
  const squares = squaresOf(board);
  const held = heldOf(hands);
  const to = index(move.slice(2, 4));
  if (move[1] === "*") {
    const letter = turn === "b" ? move[0] : move[0].toLowerCase();
    held[letter] -= 1;
    squares[to] = letter;
  } else {
    const from = index(move.slice(0, 2));
    const taken = squares[to].replace("+", "");
    if (taken) {
      const letter = turn === "b" ? taken.toUpperCase() : taken.toLowerCase();
      held[letter] = (held[letter] ?? 0) + 1;
    }
    squares[to] = (move.endsWith("+") ? "+" : "") + squares[from];
    squares[from] = "";
  }
  return [boardOf(squares), turn === "b" ? "w" : "b", handsOf(held), Number(number ?? 1) + 1].join(" ");
}

/** Returns how many pieces of each kind, by small letters, are missing in a position. @type {(sfen: string) => Record<string, number>} */
export function boxOf(sfen) {
  const [board, , hands = "-"] = sfen.split(" ");
  /** @type {Record<string, number>} */
  const box = { k: 2, r: 2, b: 2, g: 4, s: 4, n: 4, l: 4, p: 18 };
  for (const letter of board.toLowerCase().replace(/[^a-z]/g, "")) box[letter] -= 1;
  for (const [letter, count] of Object.entries(heldOf(hands))) box[letter.toLowerCase()] -= count;
  return box;
}

/** @type {(square: string) => number} */
function index(square) {
  return LETTERS.indexOf(square[1]) * 9 + 9 - Number(square[0]);
}

/** @type {(board: string) => string[]} */
function squaresOf(board) {
  const squares = [];
  for (const [token] of board.matchAll(/\+?[A-Za-z]|[1-9]/g)) {
    if (/[1-9]/.test(token)) squares.push(...Array(Number(token)).fill(""));
    else squares.push(token);
  }
  return squares;
}

/** @type {(squares: string[]) => string} */
function boardOf(squares) {
  const ranks = [];
  for (let rank = 0; rank < 9; rank += 1) {
    const text = squares.slice(9 * rank, 9 * rank + 9).map((piece) => piece || "1").join("");
    ranks.push(text.replace(/1+/g, (ones) => String(ones.length)));
  }
  return ranks.join("/");
}

/** @type {(hands: string) => Record<string, number>} */
function heldOf(hands) {
  /** @type {Record<string, number>} */
  const held = {};
  for (const [, count, letter] of hands.matchAll(/(\d*)([A-Za-z])/g)) held[letter] = Number(count || 1);
  return held;
}

/** @type {(held: Record<string, number>) => string} */
function handsOf(held) {
  const letters = [...HAND, ...HAND.map((letter) => letter.toLowerCase())];
  const text = letters.filter((letter) => held[letter] > 0).map((letter) => (held[letter] > 1 ? held[letter] : "") + letter);
  return text.join("") || "-";
}
