// What happened in a step, and everything that is known of one position: its board and the table of the formula.

import { Board } from "./board.js";
import { h, svg } from "./dom.js";
import * as i18n from "./i18n.js";
import { make, number } from "./microscope-picture.js";
import { html, nothing, render, repeat } from "./template.js";

const { t } = i18n;
const MOST_LINES = 8;
const MARKS = { chosen: "▸", best: "▸", lost: "✕", won: "✓", cut: "✂" };
const WITHOUT_VALUES = ["start", "enter", "root", "descent", "collision"]; // Kinds of steps.
const TERMS = { logit: "log P", sigma: "σ(Q)", policy: "π′", share: "N/ΣN", alpha: "α", beta: "β", "sqrt N": "√N", "c sqrt N": "c·√N" };

/** The panels beside the picture. calls: select(id), move(number). */
export class Panel {
  constructor(calls) {
    this.calls = calls;
    this.shown = this.algorithm = null;
    this.read = null; // The move whose formula is written out, by its name: the user points at it.
    this.shogi = h("div", { class: "small-board" });
    this.element = h("div", { class: "stack" });
    i18n.onChange(() => this.shown && this.draw());
  }

  show(shown, algorithm) {
    Object.assign(this, { shown, algorithm, read: null });
    this.draw();
  }

  draw() {
    const { shown } = this;
    render(
      html`<div class="panel"><h2>${t("microscope.happened")}</h2><ul class="events">${eventsView(shown)}</ul></div>
        <div class="panel position stack">${this.positionView(shown)}</div>`,
      this.element,
    );
  }

  // A position.

  positionView({ node, can_move_root: canMoveRoot }) {
    const edges = edgesInOrder(node, this.algorithm);
    const written = edges.find((edge) => edge.name === this.read) ?? chosenOf(edges);
    const isPlayable = canMoveRoot && node.root_move !== null && !node.end;
    return html`<div class="head">
        ${this.board(node)}
        <div class="facts"><h2>${lineText(node.line)}</h2>${factsView(node)} ${isPlayable ? this.rootButton(node.root_move) : nothing}</div>
      </div>
      ${node.parents.length < 2 ? nothing : this.parentsView(node.parents)}
      <p class="written number">${written?.written ? i18n.labelled(written.name, written.written) : nothing}</p>
      ${this.tableView(edges, node.line.join(" "))}`;
  }

  board(node) {
    if (!node.sfen) return svg("svg", { class: "tree-picture small-board", viewBox: "0 0 152 152" }, make(node.board));
    if (!this.shogiBoard) this.shogiBoard = new Board(this.shogi, { coordinates: false });
    this.shogiBoard.set({ sfen: node.sfen, legal: [] });
    return this.shogi;
  }

  parentsView(parents) {
    const link = ({ id, line }) => html`<button class="quiet" type="button" @click=${() => this.calls.select(id)}>${lineText(line)}</button>`;
    return html`<p class="merge-note">${t("microscope.parents", { count: parents.length })} ${repeat(parents, ({ id }) => id, link)}</p>`;
  }

  rootButton(move) {
    return html`<button type="button" class="make-root" @click=${() => this.calls.move(move)}>${t("microscope.make-root")}</button>`;
  }

  /** line: the moves to the position; a click that has begun in another one must not choose a move here. */
  tableView(edges, line) {
    if (!edges.length) return nothing;
    const names = [...new Set(edges.flatMap((edge) => Object.keys(edge.terms)))];
    const chosen = chosenOf(edges);
    return html`<div class="scroll">
      <table class="terms number">
        <thead><tr><th>${t("microscope.move")}</th>${names.map((name) => html`<th>${label(name)}</th>`)}</tr></thead>
        <tbody>${repeat(edges, (edge) => `${line} ${edge.name}`, (edge) => this.rowView(edge, names, edge === chosen))}</tbody>
      </table>
    </div>`;
  }

  rowView(edge, names, isChosen) {
    const name = `${MARKS[edge.mark] ?? ""} ${edge.name}${edge.repetitions ? ` ↺${edge.repetitions}` : ""}`.trim();
    const read = () => {
      this.read = edge.name;
      this.draw();
    };
    const move = edge.child ? html`<button class="quiet" type="button" @click=${() => this.calls.select(edge.child)}>${name}</button>` : name;
    return html`<tr class=${(isChosen ? "chosen" : edge.mark) || nothing} @mouseenter=${read} @focusin=${read}>
      <td>${move}</td>${names.map((term) => html`<td>${termText(edge.terms, term)}</td>`)}
    </tr>`;
  }
}

function lineText(line) {
  return line?.join(" ") || t("microscope.root");
}

/** Returns the moves of a position in the order of the table. */
function edgesInOrder(node, algorithm) {
  return algorithm.playouts ? [...node.edges].sort((a, b) => tried(b) - tried(a) || score(b) - score(a)) : node.edges;
}

/** Returns the move that the search has chosen, or else the first one of the table. */
function chosenOf(edges) {
  return edges.find((edge) => edge.mark === "chosen" || edge.mark === "best") ?? edges[0];
}

/** The events of a step. */
function eventsView({ kind, path, events, rollout, value }) {
  const hasValues = !WITHOUT_VALUES.includes(kind);
  return html`<li class="what">${t(`kind.${kind}`, { path: path.map((hop) => hop.name).join(" ") || t("microscope.root") })}</li>
    ${[...groups(events)].flatMap(([name, some]) => eventTexts(name, some).map((text) => html`<li class=${`event ${name}`}>${text}</li>`))}
    ${rollout.length ? html`<li>${t("event.rollout", { count: rollout.length, moves: rollout.join(" ") })}</li>` : nothing}
    ${hasValues && value !== null ? html`<li>${t("event.evaluated", { value: number(value, 3) })}</li>` : nothing}
    ${hasValues && path.length ? html`<li class="flow">${flowView(path)}</li>` : nothing}`;
}

function groups(events) {
  const found = new Map();
  for (const event of events) found.set(event.kind, [...(found.get(event.kind) ?? []), event]);
  return found;
}

function eventTexts(kind, events) {
  const count = events.length;
  if (kind === "deleted" || kind === "forgotten") return [t(`event.${kind}`, { count })];
  if (kind === "cut") return [t("event.cut", { count, line: lineText(events[0].line), moves: events.map((one) => one.move).join(" ") })];
  const texts = events.slice(0, MOST_LINES).map(({ line, text }) => t(`event.${kind}`, { line: lineText(line), text: kind === "proof" ? t(`proof.${text}`) : text }));
  return count > MOST_LINES ? [...texts, t("microscope.more", { count: count - MOST_LINES })] : texts;
}

/** The values of the path from the leaf up: what was added, or what changed. */
function flowView(path) {
  const shown = (value) => (value === null ? "–" : number(value, 3));
  return [...path].reverse().map((hop) => {
    const added = hop.backed_up === null ? "" : ` (${number(hop.backed_up, 3)})`;
    return html`<span class="hop number">${hop.name}${added}: Q ${shown(hop.before)} → ${shown(hop.after)}</span>`;
  });
}

function factsView(node) {
  const found = [];
  const add = (text, name = "") => found.push(html`<p class=${name}>${text}</p>`);
  if (!node.visits) add(t("microscope.waiting"));
  else add(t("microscope.visits", { visits: node.visits }) + (node.in_flight ? ` + ${node.in_flight} ${label("in flight")}` : ""));
  if (node.value !== null) add(t("microscope.value", { value: number(node.value, 3) }));
  if (node.evaluation !== null) add(t("microscope.evaluation", { value: number(node.evaluation, 3) }), "muted");
  if (node.window) add(t("microscope.window", { alpha: number(node.window[0]), beta: number(node.window[1]) }));
  if (node.bound) add(t(`microscope.bound.${node.bound}`), "muted");
  if (node.proof) add(t(`microscope.proof.${node.proof}`, { distance: node.distance }), "proven");
  if (node.end) add(t("event.result", { text: node.end }));
  const terms = Object.entries(node.terms).filter(([name]) => !["N", "Q", "V", "t"].includes(name));
  if (terms.length) add(terms.map(([name, value]) => `${label(name)} = ${termText({ [name]: value }, name)}`).join(", "), "muted small");
  return found;
}

function label(name) {
  return TERMS[name] ?? i18n.word("term", name);
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
