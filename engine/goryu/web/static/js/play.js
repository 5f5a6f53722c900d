// The view "Play".

import { Board } from "./board.js";
import { h } from "./dom.js";

export function mount(section) {
  const stage = h("div", { class: "stage" });
  section.append(h("div", { class: "columns" }, stage, h("div", { class: "side" })));
  const board = new Board(stage);
  board.set({ sfen: "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1" });
}
