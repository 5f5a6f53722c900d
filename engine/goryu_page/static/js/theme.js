// Sets light or dark, and letters on the pieces, before the page is drawn, and asks for the modules of the view.
// A plain script, because modules run after the first drawing.
(() => {
  try {
    const chosen = localStorage.getItem("goryu.theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
    if (localStorage.getItem("goryu.letters") === "on") document.documentElement.dataset.letters = "";
  } catch {
    // The user has blocked the storage.
  }
  const views = document.currentScript.dataset.views?.split(" ") ?? []; // The page for pairing has none.
  const name = location.hash.slice(1).split("/")[0];
  const view = views.includes(name) ? name : views[0];
  if (view) document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", href: `joined/js/${view}.js` }));
})();
