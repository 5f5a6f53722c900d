// The page that pairs this device. It stands alone: a device that is not paired gets no other file.

const TEXTS = {
  en: {
    title: "Pair this device",
    linked: "The computer will list this device and can revoke it at any time.",
    typed: "On the computer, open Goryu's page, choose Devices and scan the QR code there, or write its code here.",
    code: "Code",
    name: "Name of this device",
    pair: "Pair",
    warning: "The traffic between this device and the computer is not encrypted. Pair only in a network that you trust, such as your own at home.",
    revoked: "The computer has revoked this device.",
    lost: "The computer does not answer. Is Goryu still running?",
    phone: "Phone",
    tablet: "Tablet",
    other: "Computer",
  },
  ja: {
    title: "この機器をペアリング",
    linked: "パソコンの一覧にこの機器が表示されます。パソコンからいつでも解除できます。",
    typed: "パソコンの Goryu の画面で「機器」を開き、QR コードを読み取るか、表示されたコードを入力してください。",
    code: "コード",
    name: "この機器の名前",
    pair: "ペアリングする",
    warning: "この機器とパソコンの間の通信は暗号化されません。自宅など、信頼できるネットワークだけで使ってください。",
    revoked: "パソコンでこの機器のペアリングが解除されました。",
    lost: "パソコンが応答しません。Goryu が動いているか確かめてください。",
    phone: "スマートフォン",
    tablet: "タブレット",
    other: "パソコン",
  },
};

const chosen = localStorage.getItem("goryu.base.language") ?? navigator.language;
const language = chosen.toLowerCase().startsWith("ja") ? "ja" : "en";
const texts = TEXTS[language];
const part = (id) => document.getElementById(id);

function usualName() {
  const agent = navigator.userAgent;
  if (/iPhone|Android.*Mobile/.test(agent)) return texts.phone;
  if (/iPad|Android/.test(agent) || (/Macintosh/.test(agent) && navigator.maxTouchPoints > 1)) return texts.tablet;
  return texts.other;
}

/** Takes the code out of the address, so that it does not stay in the history. */
function takeCode() {
  const code = location.hash.slice(1);
  if (!code) return;
  history.replaceState(null, "", location.pathname);
  part("code").value = code;
  part("code-field").hidden = true;
  part("about").textContent = texts.linked;
  part("problem").textContent = "";
}

/** Asks for a code by hand, because there is none or it was wrong. */
function askForCode() {
  part("code-field").hidden = false;
  part("about").textContent = texts.typed;
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
    part("problem").textContent = texts.lost;
  }
  part("pair").disabled = false;
}

document.documentElement.lang = language;
for (const element of document.querySelectorAll("[data-text]")) element.textContent = texts[element.dataset.text];
part("name").value = usualName();
askForCode();
if (sessionStorage.getItem("goryu.revoked") !== null) part("problem").textContent = texts.revoked;
sessionStorage.removeItem("goryu.revoked");
takeCode();
addEventListener("hashchange", takeCode);
part("form").addEventListener("submit", pair);
