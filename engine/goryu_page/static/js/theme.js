// Sets light or dark, and letters on the pieces, before the page is drawn. A plain script, because modules run
// after the first drawing.
(() => {
  const chosen = localStorage.getItem("goryu.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  if (localStorage.getItem("goryu.letters") === "on") document.documentElement.dataset.letters = "";
})();
