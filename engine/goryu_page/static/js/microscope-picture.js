// The picture of a graph: places are the server's, this file moves the parts from one step to the next.
// @ts-nocheck (the files of d3 say nothing about its types)

import { easeCubicInOut } from "../vendor/d3/d3-ease.js";
import { select } from "../vendor/d3/d3-selection.js";
import "../vendor/d3/d3-transition.js";
import { zoom as d3zoom, zoomIdentity } from "../vendor/d3/d3-zoom.js";
import { svg } from "./dom.js";

const MARGIN = 26;
const LEAST_SCALE = 0.62;
const LEAST_WHOLE_SCALE = 0.03;
const MOVE_MS = 320;

/** onSelect(id): the user has chosen a position. */
export class Picture {
  constructor(onSelect) {
    this.onSelect = onSelect;
    this.links = svg("g");
    this.nodes = svg("g");
    this.marks = svg("g", { class: "marks" });
    this.layer = svg("g", {}, this.links, this.nodes, this.marks);
    this.element = svg("svg", { class: "tree-picture", tabindex: 0, role: "application" }, this.layer);
    this.selected = "";
    this.isFitted = true; // Until the user zooms.
    this.showsWhole = false; // Else a large graph is shown around the path, as large as is legible.
    this.size = null;
    this.zooming = d3zoom()
      .scaleExtent([LEAST_WHOLE_SCALE, 3])
      .on("zoom", (event) => {
        this.layer.setAttribute("transform", event.transform);
        if (event.sourceEvent) this.isFitted = this.showsWhole = false;
      });
    select(this.element).call(this.zooming).on("dblclick.zoom", null);
    new ResizeObserver(() => this.isFitted && this.size && this.fit(0)).observe(this.element);
  }

  /** Adopts the style of the pictures. */
  style(text) {
    if (this.sheet) return;
    this.sheet = new CSSStyleSheet();
    this.sheet.replaceSync(text);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.sheet];
  }

  clear() {
    for (const group of [this.links, this.nodes, this.marks]) group.replaceChildren();
    this.isFitted = true;
    this.showsWhole = false;
    this.selected = "";
  }

  select(id) {
    this.selected = id;
    for (const node of this.nodes.children) node.classList.toggle("selected", node.dataset.id === id);
  }

  /**
   * Shows a step. time: of the animation, in milliseconds, or 0 for none: the playout goes down the path, the
   * graph grows, and the value comes back up.
   */
  async show(shown, time = 0) {
    const turn = (this.turn = {});
    const still = !time || matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.marks.replaceChildren();
    const path = pathOf(shown);
    if (!still) await this.walk(path, time * 0.3, turn);
    if (this.turn !== turn) return;
    const isRoot = shown.kind === "root";
    this.draw(shown.picture, still ? 0 : isRoot ? time * 0.4 : Math.min(MOVE_MS, time * 0.3));
    if (!still && !isRoot && shown.kind !== "descent" && shown.kind !== "collision") await this.flow(path, time * 0.35, turn);
  }

  draw(picture, time) {
    this.size = picture;
    this.drawLinks(picture.links, time);
    this.drawNodes(picture.nodes, time);
    if (this.isFitted) this.fit(time);
  }

  drawNodes(nodes, time) {
    const parents = new Map([...this.nodes.children].map((one) => [one.dataset.id, one]));
    const join = select(this.nodes).selectChildren("g.node, g.stub").data(nodes, (node) => node?.id ?? "");
    leave(join.exit(), time);
    const entered = join
      .enter()
      .append("g")
      .attr("data-id", (node) => node.id)
      .attr("transform", (node) => `translate(${node.x},${node.y})`)
      .attr("opacity", time && parents.size ? 0 : 1)
      .on("click", (event, node) => !node.class.startsWith("stub") && this.onSelect(node.id));
    const all = entered.merge(join);
    all.interrupt();
    all.attr("class", (node) => `${node.class}${node.id === this.selected ? " selected" : ""}`).each(fill);
    const moving = time ? all.transition().duration(time).ease(easeCubicInOut) : all;
    moving.attr("transform", (node) => `translate(${node.x},${node.y})`).attr("opacity", 1);
    all.order();
  }

  drawLinks(links, time) {
    const join = select(this.links).selectChildren("g").data(links, (link) => link?.id ?? "");
    leave(join.exit(), time);
    const entered = join.enter().append("g").attr("data-id", (link) => link.id).attr("opacity", 0);
    entered.each(fill);
    const all = entered.merge(join);
    all.interrupt().attr("class", (link) => link.class);
    all.each(function (link) {
      if (!time || !this.firstChild) return fill.call(this, link);
      const before = [...this.children].map((child) => [child.getAttribute("d"), child.getAttribute("x"), child.getAttribute("y")]);
      fill.call(this, link);
      [...this.children].forEach((child, i) => glide(child, before[i] ?? [], time));
    });
    (time ? all.transition().duration(time) : all).attr("opacity", 1);
    all.order();
  }

  // The animation of a playout.

  linkElement(id) {
    return [...this.links.children].find((one) => one.dataset.id === id)?.querySelector("path");
  }

  /** Moves a dot down the links of the path that are drawn already. */
  async walk(path, time, turn) {
    const links = path.map(({ link }) => this.linkElement(link)).filter(Boolean);
    const dot = svg("circle", { class: "dot", r: 7 });
    if (links.length) this.marks.append(dot);
    for (const link of links) await this.along(dot, link, time / links.length, turn, false);
    dot.remove();
  }

  /** Moves the value up the path, and marks what changes at each position. */
  async flow(path, time, turn) {
    const text = svg("text", { class: "flowing" });
    const pill = svg("rect", { class: "pill", x: -26, y: -11, width: 52, height: 22, rx: 11 });
    const carried = svg("g", {}, pill, text);
    this.marks.append(carried);
    for (const { link, hop } of [...path].reverse()) {
      const value = hop.backed_up ?? hop.after;
      text.textContent = value === null ? "" : number(value);
      text.setAttribute("y", 4);
      const drawn = this.linkElement(link);
      if (drawn) await this.along(carried, drawn, time / path.length, turn, true);
      if (this.turn !== turn) break;
      const node = [...this.nodes.children].find((one) => one.dataset.id === hop.node);
      node?.classList.add("changed");
      setTimeout(() => node?.classList.remove("changed"), 500);
    }
    carried.remove();
  }

  along(element, path, time, turn, isBackward) {
    const length = path.getTotalLength();
    const began = performance.now();
    return new Promise((resolve) => {
      const frame = (now) => {
        if (this.turn !== turn) return resolve();
        const share = Math.min(1, Math.max(0, (now - began) / time));
        const eased = easeCubicInOut(share);
        const point = path.getPointAtLength(length * (isBackward ? 1 - eased : eased));
        element.setAttribute("transform", `translate(${point.x},${point.y})`);
        if (share < 1) requestAnimationFrame(frame);
        else resolve();
      };
      requestAnimationFrame(frame);
    });
  }

  // Zoom.

  zoom(factor) {
    this.isFitted = this.showsWhole = false;
    select(this.element).transition().duration(150).call(this.zooming.scaleBy, factor);
  }

  /** Shows the whole graph, however small its positions become, until the user zooms. */
  showWhole() {
    this.showsWhole = true;
    this.fit();
  }

  /** Shows the graph, or as much around the path as stays legible. */
  fit(time = 200) {
    this.isFitted = true;
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!this.size || !width) return;
    const { width: w, height: h, node } = this.size;
    const whole = Math.min(width / (w + 2 * MARGIN), height / (h + 2 * MARGIN));
    const scale = Math.max(this.showsWhole ? LEAST_WHOLE_SCALE : LEAST_SCALE, Math.min(1.25, whole));
    const centre = (axis) => {
      const seen = this.size.nodes.filter((one, i) => !i || /\b(on-path|leaf)\b/.test(one.class)).map((one) => one[axis]);
      return (Math.min(...seen) + Math.max(...seen)) / 2;
    };
    const place = (room, size, middle) => {
      if ((size + 2 * MARGIN) * scale <= room) return (room - size * scale) / 2;
      // The root and the path in the middle, but no empty margin.
      return Math.min(MARGIN * scale, Math.max(room - (size + MARGIN) * scale, room / 2 - middle * scale));
    };
    const x = place(width, w, centre("x") + node[0] / 2);
    const transform = zoomIdentity.translate(x, place(height, h, centre("y") + node[1] / 2)).scale(scale);
    const target = select(this.element);
    (time ? target.transition().duration(time) : target).call(this.zooming.transform, transform);
  }
}

/** Returns the hops of a step with the ids of their links. */
function pathOf({ path, leaf }) {
  return path.map((hop, i) => {
    const next = path[i + 1]?.node ?? leaf ?? `${hop.node} repetition ${hop.move}`;
    return { hop, link: `${hop.node}>${next}` };
  });
}

/** Makes the elements of a part, if they have changed. */
function fill(part) {
  const text = JSON.stringify(part.elements);
  if (this.drawn === text) return;
  this.drawn = text;
  this.replaceChildren(...part.elements.map(make));
}

export function make([tag, attributes, text, children]) {
  const element = svg(tag, attributes, ...children.map(make));
  if (text) element.prepend(text);
  return element;
}

/** Moves a new element from where the old one was. */
function glide(element, [d, x, y], time) {
  const moving = select(element);
  if (d && element.hasAttribute("d")) {
    const to = element.getAttribute("d");
    moving.attr("d", d).transition().duration(time).ease(easeCubicInOut).attr("d", to);
  } else if (x && element.hasAttribute("x")) {
    const [toX, toY] = [element.getAttribute("x"), element.getAttribute("y")];
    moving.attr("x", x).attr("y", y).transition().duration(time).ease(easeCubicInOut).attr("x", toX).attr("y", toY);
  }
}

function leave(selection, time) {
  selection.interrupt();
  if (!time) selection.remove();
  else selection.classed("leaving", true).transition().duration(time).attr("opacity", 0).remove();
}

export function number(value, digits = 2) {
  return `${value > 0 ? "+" : ""}${value.toFixed(digits)}`.replace("-", "−");
}
