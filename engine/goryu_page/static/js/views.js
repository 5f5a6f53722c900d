// The views of the page, in the order of their tabs. To add one, see docs/page.md.

export const VIEWS = [
  {
    name: "play",
    title: { en: { "view.play": "Play" }, ja: { "view.play": "対局" } },
    load: () => import("./play.js"),
  },
  {
    name: "review",
    title: { en: { "view.review": "Review" }, ja: { "view.review": "検討" } },
    load: () => import("./review.js"),
  },
  {
    name: "games",
    title: { en: { "view.games": "My games" }, ja: { "view.games": "自分の棋譜" } },
    load: () => import("./games.js"),
  },
  {
    name: "explorer",
    title: { en: { "view.explorer": "Explorer" }, ja: { "view.explorer": "棋譜の樹" } },
    load: () => import("./explorer.js"),
  },
  {
    name: "train",
    title: { en: { "view.train": "Train" }, ja: { "view.train": "稽古" } },
    load: () => import("./train.js"),
  },
  {
    name: "microscope",
    title: { en: { "view.microscope": "Microscope" }, ja: { "view.microscope": "顕微鏡" } },
    load: () => import("./microscope.js"),
  },
];
