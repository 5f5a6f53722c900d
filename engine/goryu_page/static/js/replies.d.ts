// What the server tells the page, as the modules without a browser read it. No program runs this file.

/** A line of moves in USI and as people write them. */
export interface Line {
  usi: string[];
  ja: string[];
  en: string[];
}

export interface Names {
  ja: string;
  en: string;
}

/** The judgement of a move (`goryu.analysis.description.ply_json`). Rates and losses are shares from 0 to 1. */
export interface Ply {
  ply: number;
  turn: number;
  kind: string;
  mark: string;
  loss: number;
  winRate: number;
  playedWinRate: number;
  missedMate: number | null;
  allowsMate: number | null;
  better: Line;
  refutation: Line;
  reason?: Names | null;
}

export interface Candidate {
  usi: string;
  visits: number;
  prior: number;
  winRate: number | null;
  mate: number | null;
  line: Line;
}

/** What a search knows of a position. black: the win rate of Black. */
export interface Analysis {
  playouts: number;
  black: number;
  isFinal: boolean;
  ending: string | null;
  moves: Candidate[];
}

/** A position on the board. */
export interface Shown {
  sfen: string;
  check?: boolean;
  lastMove?: string | null;
  legal?: string[];
}

/** A reviewed game (`review.state`). */
export interface Review {
  game: { start: string; turn: number; isHandicap?: boolean; moves: (Names & { usi: string })[]; positions: { sfen: string; check: boolean }[] };
  positions: (Analysis | null)[];
  plies: (Ply | null)[];
  summary: unknown[];
}

/** A new analysis in a review (`review.position`). */
export interface NewAnalysis {
  index: number;
  position: Analysis;
  plies: Record<string, Ply>;
  summary: unknown[];
}

/** The position after a line (`review.explore`). name: of its last move. */
export interface Explored {
  legal: string[];
  check: boolean;
  ending?: string | null;
  name?: Names;
}

/** A problem (`train.next`). */
export interface Problem extends Shown {
  id: number;
  mode: string;
  kind: string;
  length?: number;
  turn: number;
  game: number | null;
  ply: number | null;
  start: string;
  moves: string[];
  isHandicap?: boolean;
  isAnswered?: boolean;
  reply?: { told: Told; move?: undefined; answer?: undefined } | { told?: undefined; move: string; answer: Answer } | null;
}

/** The judgement of an answer (`train.answer`). */
export interface Answer extends Shown {
  isRight: boolean;
  isOver?: boolean;
  refutation: Line;
  solutions: { line: Line }[];
}

/** What may be told of a problem (`train.solution`). */
export interface Told {
  solutions: { line: Line }[];
}

export interface Clock {
  left: number[];
  running: number | null;
  byoyomi: number;
}

export interface PlayedMove {
  name: string;
  seconds: number;
  left: number[];
  position: string;
  check?: boolean;
}

/** A game of the view "Play" (`play.state`). people: is the side a person? kept: its number in My games. */
export interface Game {
  game: string;
  people: boolean[];
  position: string;
  start: string;
  legal: string[];
  check: boolean;
  moves: PlayedMove[];
  over: { ending: string; winner: number | null } | null;
  clock: Clock | null;
  lesson: { threshold: number; moves: unknown[]; isJudging: boolean; question: unknown } | null;
  kept: number | null;
}
