// The page that pairs this device. It stands alone: a device that is not paired gets no other file.

const chosen = localStorage.getItem("goryu.language") ?? navigator.language;
const language = chosen.toLowerCase().startsWith("ja") ? "ja" : "en";
const part = (id) => document.getElementById(id);
const texts = JSON.parse(part("texts").textContent)[language];

function usualName() {
  const agent = navigator.userAgent;
  if (/iPhone|Android.*Mobile/.test(agent)) return texts["pair.phone"];
  if (/iPad|Android/.test(agent) || (/Macintosh/.test(agent) && navigator.maxTouchPoints > 1)) return texts["pair.tablet"];
  return texts["pair.other"];
}

/** Takes the code out of the address, so that it does not stay in the history. */
function takeCode() {
  const code = location.hash.slice(1);
  if (!code) return;
  history.replaceState(null, "", location.pathname);
  part("code").value = code;
  part("code-field").hidden = true;
  part("about").textContent = texts["pair.linked"];
  part("problem").textContent = "";
}

/** Asks for a code by hand, because there is none or it was wrong. */
function askForCode() {
  part("code-field").hidden = false;
  part("about").textContent = texts["pair.typed"];
}

async function pair(event) {
  event.preventDefault();
  part("pair").disabled = true;
  part("problem").textContent = "";
  try {
    const message = { type: "pair", code: part("code").value, name: part("name").value, language };
    const answer = await fetch("/pair", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(message),
    });
    if (answer.ok) {
      location.replace("/");
      return;
    }
    const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
    part("problem").textContent = isJson ? (await answer.json()).error : await answer.text();
    askForCode();
  } catch {
    part("problem").textContent = texts["pair.lost"];
  }
  part("pair").disabled = false;
}

document.documentElement.lang = language;
for (const element of document.querySelectorAll("[data-text]")) element.textContent = texts[`pair.${element.dataset.text}`];
part("name").value = usualName();
askForCode();
if (sessionStorage.getItem("goryu.revoked") !== null) part("problem").textContent = texts["pair.revoked"];
sessionStorage.removeItem("goryu.revoked");
takeCode();
addEventListener("hashchange", takeCode);
part("form").addEventListener("submit", pair);
