"""Firefox as it is installed, driven by WebDriver BiDi: Playwright drives only builds of its own.

Source: https://w3c.github.io/webdriver-bidi/.
"""

import asyncio
import re
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import aiohttp

LOOK_S = 0.1
"""The pause between two looks at a page."""

HANDS = """
const all = (selector) => [...document.querySelectorAll(selector)];
const find = (selector, text) => all(selector).find((one) => one.innerText.trim() === text);
const says = (selector, text) => document.querySelector(selector)?.innerText.includes(text);
const press = (text, within = "") => find(`${within} button`, text).click();
const labelled = (text) => find("label", text)?.control ?? document.querySelector(`[aria-label="${text}"]`);
const fill = (field, value) => {
  field.value = value;
  for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
};
"""
"""Functions for the scripts of a test."""


class Firefox:
    """A running Firefox with one page. errors: what it has logged as an error."""

    def __init__(self, program: str, profile: Path) -> None:
        words = [program, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port=0"]
        self._process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        assert self._process.stderr is not None
        addresses = (re.search(r"BiDi listening on (ws://\S+)", line) for line in self._process.stderr)
        address = next(found[1] for found in addresses if found)
        self.errors: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._number = 0
        self._call(self._connect(f"{address}/session"))
        self.command("session.new", capabilities={})
        self.command("session.subscribe", events=["log.entryAdded"])
        self._page = self.command("browsingContext.getTree")["contexts"][0]["context"]

    def _call(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    async def _connect(self, address: str) -> None:
        self._session = aiohttp.ClientSession()
        self._socket = await self._session.ws_connect(address, max_msg_size=0)

    async def _command(self, method: str, values: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": values})
        while True:
            message = await self._socket.receive_json()
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self.errors.append(message["params"]["text"])
            if message.get("id") == self._number:
                assert message["type"] == "success", message
                result: dict[str, Any] = message["result"]
                return result

    def command(self, method: str, **values: Any) -> dict[str, Any]:
        """Returns the result of a command of the protocol."""
        result: dict[str, Any] = self._call(self._command(method, values))
        return result

    def go(self, address: str) -> None:
        """Opens an address in the page."""
        self.command("browsingContext.navigate", context=self._page, url=address, wait="interactive")

    def run(self, script: str) -> Any:
        """Returns what a script, which may use `HANDS`, returns; waits for a promise."""
        text, target = f"(async () => {{ {HANDS} {script} }})()", {"context": self._page}
        answer = self.command("script.evaluate", expression=text, target=target, awaitPromise=True)
        assert answer["type"] == "success", answer
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Waits until an expression is true."""
        while not self.run(f"return Boolean({condition});"):
            time.sleep(LOOK_S)

    def give_files(self, selector: str, *files: Path) -> None:
        """Chooses files for a field."""
        where = {"type": "css", "value": selector}
        (node,) = self.command("browsingContext.locateNodes", context=self._page, locator=where)["nodes"]
        element = {"sharedId": node["sharedId"]}
        self.command("input.setFiles", context=self._page, element=element, files=[str(one) for one in files])

    def close(self) -> None:
        """Ends the browser."""
        self._process.terminate()
        self._call(self._session.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._process.wait()
