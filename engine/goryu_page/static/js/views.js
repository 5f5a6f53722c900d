// The views of the page, in the order of their tabs. To add one, see docs/page.md.

export const VIEWS = [
  { name: "play", load: () => import("./play.js") },
  { name: "review", load: () => import("./review.js") },
  { name: "games", load: () => import("./games.js") },
  { name: "explorer", load: () => import("./explorer.js") },
  { name: "train", load: () => import("./train.js") },
  { name: "microscope", load: () => import("./microscope.js") },
];
