// What happened in a step, and everything that is known of one position: its board and the table of the formula.

import { Board } from "./board.js";
import { h, svg, whenReleased } from "./dom.js";
import * as i18n from "./i18n.js";
import { make, number } from "./microscope-picture.js";

i18n.extend({
  en: {
    "microscope.happened": "What happened",
    "microscope.position": "Position",
    "microscope.root": "the root",
    "microscope.value": "Q {value} for the side to move",
    "microscope.visits": "N {visits}",
    "microscope.evaluation": "evaluated {value}",
    "microscope.parents": "{count} paths flow together here:",
    "microscope.make-root": "Play it: make it the root",
    "microscope.move": "move",
    "microscope.waiting": "waits for its evaluation",
    "microscope.proof.win": "proven: won in {distance}",
    "microscope.proof.loss": "proven: lost in {distance}",
    "microscope.proof.draw": "proven: a draw",
    "microscope.more": "… and {count} more",
    "microscope.window": "window [{alpha}, {beta}]",
    "microscope.bound.lower": "a lower bound",
    "microscope.bound.upper": "an upper bound",
    "kind.start": "The search knows its root.",
    "kind.playout": "A playout: {path}",
    "kind.descent": "A playout goes down and is in flight: {path}",
    "kind.collision": "A playout meets a position that waits already: {path}. The batch takes it back.",
    "kind.evaluation": "The evaluation has arrived: {path}",
    "kind.enter": "The search enters: {path}",
    "kind.return": "The search leaves: {path}",
    "kind.root": "The root moves: {path}",
    "event.evaluated": "The leaf is worth {value} to its side to move.",
    "event.new": "A new position: {line}",
    "event.merge": "合流: {line} was known already from another path.",
    "event.ahead": "{line} is known better than this move: no evaluation was needed.",
    "event.result": "The game is over: {text}.",
    "event.repetition": "The path repeats a position ({text}): the result stays on the move, not in the position.",
    "event.proof": "Proven: {line} is a {text} for its side to move.",
    "event.round": "Sequential halving: {text} moves go on.",
    "event.cut": "{count} moves are cut off after {line}: {moves}",
    "event.forgotten": "{count} positions forget the statistics of their moves.",
    "event.deleted": "{count} positions are deleted.",
    "event.rollout": "Random game of {count} moves: {moves}",
    "term.in flight": "in flight",
    "term.score": "score",
  },
  ja: {
    "microscope.happened": "この一歩",
    "microscope.position": "局面",
    "microscope.root": "ルート",
    "microscope.value": "Q {value}（手番側から見て）",
    "microscope.visits": "N {visits}",
    "microscope.evaluation": "評価値 {value}",
    "microscope.parents": "{count} 本の経路がここで合流する：",
    "microscope.make-root": "この手を指してルートを移す",
    "microscope.move": "手",
    "microscope.waiting": "評価待ち",
    "microscope.proof.win": "証明済み：{distance} 手で勝ち",
    "microscope.proof.loss": "証明済み：{distance} 手で負け",
    "microscope.proof.draw": "証明済み：引き分け",
    "microscope.more": "… ほか {count} 件",
    "microscope.window": "探索窓 [{alpha}, {beta}]",
    "microscope.bound.lower": "下界",
    "microscope.bound.upper": "上界",
    "kind.start": "ルートの局面だけがある。",
    "kind.playout": "プレイアウト：{path}",
    "kind.descent": "葉まで下り、評価を待つ：{path}",
    "kind.collision": "評価待ちの局面に出会った：{path}。バッチの終わりに取り消される。",
    "kind.evaluation": "評価が返った：{path}",
    "kind.enter": "局面に入る：{path}",
    "kind.return": "局面から戻る：{path}",
    "kind.root": "ルートが移る：{path}",
    "event.evaluated": "葉の価値は手番側から見て {value}。",
    "event.new": "新しい局面：{line}",
    "event.merge": "合流：{line} は別の経路ですでに調べてある。",
    "event.ahead": "{line} はこの手より多く調べられているので、評価はいらない。",
    "event.result": "終局（{text}）。",
    "event.repetition": "経路上で同じ局面が繰り返された（{text}）。結果は局面ではなく手に記録する。",
    "event.proof": "証明：{line} は手番側の{text}。",
    "event.round": "逐次半減：{text} 手が残る。",
    "event.cut": "{line} の後の {count} 手を枝刈り：{moves}",
    "event.forgotten": "{count} 局面の指し手の統計を捨てた。",
    "event.deleted": "{count} 局面を削除した。",
    "event.rollout": "ランダムな対局 {count} 手：{moves}",
    "term.in flight": "評価待ち",
    "term.score": "計",
  },
});

const MOST_LINES = 8;
const TERMS = { logit: "log P", sigma: "σ(Q)", policy: "π′", share: "N/ΣN", alpha: "α", beta: "β", "sqrt N": "√N", "c sqrt N": "c·√N" };
const PROOFS_JA = { win: "勝ち", loss: "負け", draw: "引き分け" };

/** calls: select(id), move(number). */
export class Panel {
  constructor(calls) {
    this.calls = calls;
    this.events = h("ul", { class: "events" });
    this.position = h("div", { class: "panel position stack" });
    this.shogi = h("div", { class: "small-board" });
    this.element = h(
      "div",
      { class: "stack" },
      h("div", { class: "panel" }, h("h2", { dataset: { i18n: "microscope.happened" } }), this.events),
      this.position,
    );
  }

  show(shown, algorithm) {
    this.showEvents(shown);
    whenReleased(this.position, () => this.showPosition(shown, algorithm)); // A search runs on.
  }

  // The events of the step.

  showEvents(shown) {
    const path = shown.path.map((hop) => hop.name).join(" ") || i18n.t("microscope.root");
    const lines = [h("li", { class: "what", text: i18n.t(`kind.${shown.kind}`, { path }) })];
    for (const [kind, events] of groups(shown.events)) lines.push(...eventLines(kind, events));
    if (shown.rollout.length) {
      const moves = shown.rollout.join(" ");
      lines.push(h("li", { text: i18n.t("event.rollout", { count: shown.rollout.length, moves }) }));
    }
    const values = !["start", "enter", "root", "descent", "collision"].includes(shown.kind);
    if (values && shown.value !== null) lines.push(h("li", { text: i18n.t("event.evaluated", { value: number(shown.value, 3) }) }));
    if (values && shown.path.length) lines.push(h("li", { class: "flow" }, flowOf(shown)));
    this.events.replaceChildren(...lines);
  }

  // A position.

  showPosition(shown, algorithm) {
    const { node } = shown;
    const line = node.line.join(" ") || i18n.t("microscope.root");
    this.position.replaceChildren(
      h("div", { class: "head" }, this.board(node), h("div", { class: "facts" }, h("h2", { text: line }), ...facts(node))),
      ...this.parents(node),
      h("p", { class: "written number" }),
      this.table(node, algorithm),
    );
    this.write(chosenOf(edgesInOrder(node, algorithm)));
    if (shown.can_move_root && node.root_move !== null && !node.end) {
      this.position.querySelector(".facts").append(this.rootButton(node.root_move));
    }
  }

  board(node) {
    if (!node.sfen) return svg("svg", { class: "tree-picture small-board", viewBox: "0 0 152 152" }, make(node.board));
    if (!this.shogiBoard) this.shogiBoard = new Board(this.shogi, { coordinates: false });
    this.shogiBoard.set({ sfen: node.sfen, legal: [] });
    return this.shogi;
  }

  parents(node) {
    if (node.parents.length < 2) return [];
    const links = node.parents.map((parent) =>
      h("button", {
        class: "quiet",
        type: "button",
        text: parent.line.join(" ") || i18n.t("microscope.root"),
        on: { click: () => this.calls.select(parent.id) },
      }),
    );
    return [h("p", { class: "merge-note" }, i18n.t("microscope.parents", { count: node.parents.length }), " ", ...links)];
  }

  rootButton(move) {
    const text = i18n.t("microscope.make-root");
    return h("button", { type: "button", class: "make-root", text, on: { click: () => this.calls.move(move) } });
  }

  table(node, algorithm) {
    if (!node.edges.length) return h("div");
    const names = [...new Set(node.edges.flatMap((edge) => Object.keys(edge.terms)))];
    const edges = edgesInOrder(node, algorithm);
    const chosen = chosenOf(edges);
    const rows = edges.map((edge) => this.row(edge, names, chosen));
    const head = h("tr", {}, h("th", { text: i18n.t("microscope.move") }), ...names.map((name) => h("th", { text: label(name) })));
    return h("div", { class: "scroll" }, h("table", { class: "terms number" }, h("thead", {}, head), h("tbody", {}, ...rows)));
  }

  row(edge, names, chosen) {
    const marks = { chosen: "▸", best: "▸", lost: "✕", won: "✓", cut: "✂" };
    const name = `${marks[edge.mark] ?? ""} ${edge.name}${edge.repetitions ? ` ↺${edge.repetitions}` : ""}`.trim();
    const move = edge.child
      ? h("button", { class: "quiet", type: "button", text: name, on: { click: () => this.calls.select(edge.child) } })
      : name;
    return h(
      "tr",
      { class: edge === chosen ? "chosen" : edge.mark, on: { mouseenter: () => this.write(edge), focusin: () => this.write(edge) } },
      h("td", {}, move),
      ...names.map((term) => h("td", { text: termText(edge.terms, term) })),
    );
  }

  /** Writes the formula of a move with its numbers. */
  write(edge) {
    const place = this.position.querySelector(".written");
    if (place) place.textContent = edge?.written ? i18n.labelled(edge.name, edge.written) : "";
  }
}

/** Returns the moves of a position in the order of the table. */
function edgesInOrder(node, algorithm) {
  return algorithm.playouts ? [...node.edges].sort((a, b) => tried(b) - tried(a) || score(b) - score(a)) : node.edges;
}

/** Returns the move that the search has chosen, or else the first one of the table. */
function chosenOf(edges) {
  return edges.find((edge) => edge.mark === "chosen" || edge.mark === "best") ?? edges[0];
}

function groups(events) {
  const found = new Map();
  for (const event of events) found.set(event.kind, [...(found.get(event.kind) ?? []), event]);
  return found;
}

function eventLines(kind, events) {
  const count = events.length;
  const line = (event) => event.line?.join(" ") || i18n.t("microscope.root");
  const item = (text) => h("li", { class: `event ${kind}`, text });
  if (kind === "deleted" || kind === "forgotten") return [item(i18n.t(`event.${kind}`, { count }))];
  if (kind === "cut") return [item(i18n.t("event.cut", { count, line: line(events[0]), moves: events.map((one) => one.move).join(" ") }))];
  const lines = events.slice(0, MOST_LINES).map((event) => {
    const text = kind === "proof" && i18n.current() === "ja" ? PROOFS_JA[event.text] : event.text;
    return item(i18n.t(`event.${kind}`, { line: line(event), text }));
  });
  return count > MOST_LINES ? [...lines, item(i18n.t("microscope.more", { count: count - MOST_LINES }))] : lines;
}

/** Returns the values of the path from the leaf up: what was added, or what changed. */
function flowOf({ path }) {
  return [...path].reverse().map((hop) => {
    const before = hop.before === null ? "–" : number(hop.before, 3);
    const after = hop.after === null ? "–" : number(hop.after, 3);
    const added = hop.backed_up === null ? "" : ` (${number(hop.backed_up, 3)})`;
    return h("span", { class: "hop number", text: `${hop.name}${added}: Q ${before} → ${after}` });
  });
}

function facts(node) {
  const found = [];
  const add = (text, name = "") => found.push(h("p", { class: name, text }));
  if (!node.visits) add(i18n.t("microscope.waiting"));
  else add(i18n.t("microscope.visits", { visits: node.visits }) + (node.in_flight ? ` + ${node.in_flight} ${label("in flight")}` : ""));
  if (node.value !== null) add(i18n.t("microscope.value", { value: number(node.value, 3) }));
  if (node.evaluation !== null) add(i18n.t("microscope.evaluation", { value: number(node.evaluation, 3) }), "muted");
  if (node.window) add(i18n.t("microscope.window", { alpha: number(node.window[0]), beta: number(node.window[1]) }));
  if (node.bound) add(i18n.t(`microscope.bound.${node.bound}`), "muted");
  if (node.proof) add(i18n.t(`microscope.proof.${node.proof}`, { distance: node.distance }), "proven");
  if (node.end) add(i18n.t("event.result", { text: node.end }));
  const terms = Object.entries(node.terms).filter(([name]) => !["N", "Q", "V", "t"].includes(name));
  if (terms.length) add(terms.map(([name, value]) => `${label(name)} = ${termText({ [name]: value }, name)}`).join(", "), "muted small");
  return found;
}

function label(name) {
  return i18n.has(`term.${name}`) ? i18n.t(`term.${name}`) : (TERMS[name] ?? name);
}

function termText(terms, name) {
  if (!(name in terms)) return "";
  const value = terms[name];
  if (value === null) return "∞";
  return Number.isInteger(value) && ["N", "t", "in flight"].includes(name) ? String(value) : value.toFixed(3).replace("-", "−");
}

function tried(edge) {
  return edge.visits + edge.in_flight;
}

function score(edge) {
  const value = edge.terms.score;
  return value === null ? Infinity : (value ?? 0);
}
