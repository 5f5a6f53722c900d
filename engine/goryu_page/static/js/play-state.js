// A game of the view "Play" as the server describes it: what the board shows, the clocks, what a tab keeps.

/** @typedef {import("./replies").Game} Game */

/** Returns the side at the bottom of the board: that of the person, or Black where there are two or none. @type {(game: Pick<Game, "people">, isFlipped: boolean) => number} */
export function bottomOf({ people }, isFlipped) {
  const side = people[0] || !people[1] ? 0 : 1;
  return isFlipped ? 1 - side : side;
}

/**
 * Returns {position, legal, move, check} that the board shows after `at` moves, or now for null. move: the last one, which
 * may be missing; legal: nothing for a position that is only looked at.
 * @param {Pick<Game, "position" | "start" | "legal" | "check" | "moves">} state
 * @param {number | null} at
 */
export function shownAt(state, at) {
  if (at === null) return { position: state.position, legal: state.legal, move: state.moves.at(-1), check: state.check };
  const move = state.moves[at - 1];
  return { position: move?.position ?? state.start, legal: [], move, check: Boolean(move?.check) };
}

/** Returns how many discs a side of reversi has on the board. @type {(cells: string, side: number) => number} */
export function discsOf(cells, side) {
  return [...cells].filter((cell) => cell === "XO"[side]).length;
}

/**
 * Returns the seconds of main time that both sides have left, some seconds after the state; in byoyomi they are negative.
 * @type {(clock: Pick<import("./replies").Clock, "left" | "running">, seconds: number) => number[]}
 */
export function clocksAfter({ left, running }, seconds) {
  return left.map((one, side) => (side === running ? one - seconds : one));
}

/**
 * Returns what a clock shows. left: main time. byoyomi: seconds for a move after it.
 * @type {(left: number, byoyomi: number) => { text: string, seconds: number }}
 */
export function clockOf(left, byoyomi) {
  const isByoyomi = left <= 0 && byoyomi > 0;
  const seconds = Math.max(0, isByoyomi ? byoyomi + left : left);
  return { seconds, text: isByoyomi ? seconds.toFixed(0) : longText(seconds) };
}

/** @type {(seconds: number) => string} */
function longText(seconds) {
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/**
 * Returns the message "play.new" that begins the game again where it is. setup: of the game. clocks: what they show now.
 * @param {Record<string, any>} setup
 * @param {Pick<Game, "moves" | "over" | "clock" | "lesson" | "kept">} game
 * @param {number[] | null} clocks
 */
export function keptGame(setup, { moves, over, clock, lesson, kept: number }, clocks) {
  /** @type {Record<string, any>} */
  const kept = { ...setup, over, kept: number, moves: moves.map((move) => move.name), seconds: moves.map((move) => move.seconds) };
  if (clock) kept.clocks = [...moves.map((move) => move.left), clocks];
  if (lesson) kept.lesson = { threshold: lesson.threshold, moves: lesson.moves, isDue: lesson.isJudging || Boolean(lesson.question) };
  return kept;
}

/**
 * Returns the message "play.new" that begins another game like this one. kept: of `keptGame`, or a setup.
 * @param {Record<string, any>} kept
 */
export function anotherGame({ seconds, clocks, over, kept, lesson, moves = [], ...setup }) {
  const before = moves.slice(0, setup.before ?? 0);
  return { ...setup, ...(before.length && { moves: before }), ...(lesson && { lesson: { threshold: lesson.threshold } }) };
}
