// What happened in a step, and everything that is known of one position: its board and the table of the formula.

import { Board } from "./board.js";
import { h, svg, whenReleased } from "./dom.js";
import * as i18n from "./i18n.js";
import { make, number } from "./microscope-picture.js";

const MOST_LINES = 8;
const TERMS = { logit: "log P", sigma: "σ(Q)", policy: "π′", share: "N/ΣN", alpha: "α", beta: "β", "sqrt N": "√N", "c sqrt N": "c·√N" };

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
    const text = kind === "proof" ? i18n.t(`proof.${event.text}`) : event.text;
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
