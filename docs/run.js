// A link "Run and edit" of a guide opens, in place of its code, the page of the textbook that runs it.
// Only one is open, because each has a Python of its own.

document.addEventListener("click", (event) => {
  const link = event.target.closest("a.run");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const [place, code] = [link.parentElement, link.parentElement.previousElementSibling];
  const wasOpen = place.nextElementSibling?.matches("iframe.run");
  for (const frame of document.querySelectorAll("iframe.run")) frame.remove();
  for (const hidden of document.querySelectorAll(".highlight[hidden]")) hidden.hidden = false;
  if (wasOpen) return;
  const theme = document.body.dataset.mdColorScheme === "slate" ? "dark" : "light";
  const frame = Object.assign(document.createElement("iframe"), { className: "run", title: link.textContent, src: `${link.href}&theme=${theme}&start` });
  place.after(frame);
  code.hidden = true;
});
