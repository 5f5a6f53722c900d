// Three minutes of mate problems in a row: the clock, the score, and how long the next problem is.

const LASTS_MS = 180_000;
const STEP = 5; // After so many right answers the problems get longer.

/** One run. Times are in milliseconds of one clock. */
export class Storm {
  /**
   * @param {number} now
   * @param {number[]} lengths the shortest and the longest problem
   */
  constructor(now, lengths) {
    this.endsAt = now + LASTS_MS;
    this.lengths = lengths;
    this.right = 0;
    this.wrong = 0;
    this.isOver = false;
  }

  /** Takes what the clock says; returns whether the time has run out just now. @param {number} now */
  tick(now) {
    const ends = !this.isOver && now >= this.endsAt;
    this.isOver ||= ends;
    return ends;
  }

  /** The time that is left, such as 2:05. @param {number} now */
  left(now) {
    const seconds = Math.max(0, Math.ceil((this.endsAt - now) / 1000));
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }

  /** Counts the answer to a problem. @param {boolean} isRight */
  count(isRight) {
    if (this.isOver) return;
    if (isRight) this.right += 1;
    else this.wrong += 1;
  }

  /** The plies of the next problem. */
  get length() {
    const [shortest, longest] = this.lengths;
    return Math.min(longest, shortest + 2 * Math.floor(this.right / STEP));
  }
}
