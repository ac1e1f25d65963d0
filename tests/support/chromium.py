"""A headless Chromium, driven over its DevTools pipe: no driver, no package."""

import base64
import json
import os
import select
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MACOS = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"

PATIENCE_SECONDS = 60
"""Far more than a busy machine needs."""

Message = dict[str, Any]


def find_chromium() -> str | None:
    """Return a browser of this machine, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), MACOS if Path(MACOS).exists() else None)


class Chromium:
    """One browser with one page. `events`: its messages other than answers, such as requests and
    console messages."""

    def __init__(self, folder: Path, width: int = 1500, height: int = 950) -> None:
        program = find_chromium()
        assert program, "no Chromium on this machine"
        theirs, self._out = os.pipe()
        self._in, ours = os.pipe()
        command = [
            program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
            "--no-first-run", f"--user-data-dir={folder / 'profile'}", f"--window-size={width},{height}", "--hide-scrollbars",
            "about:blank",
        ]  # fmt: skip

        def place_pipes() -> None:
            # It reads commands from descriptor 3 and answers on 4; the copies keep the two from
            # overwriting each other.
            reading, writing = os.dup(theirs), os.dup(ours)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self._process = subprocess.Popen(
            command, preexec_fn=place_pipes, close_fds=False, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        os.close(theirs)
        os.close(ours)
        self.events: list[Message] = []
        self._buffer, self._number, self._session = b"", 0, ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.set_size(width, height)

    def set_size(self, width: int, height: int) -> None:
        """Show pages in a window of the given size in pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def call(self, method: str, **parameters: Any) -> Message:
        """Send a command and return its answer."""
        self._number += 1
        message: Message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        answer = self._until(lambda told: told.get("id") == self._number)
        assert "error" not in answer, answer["error"]
        result: Message = answer["result"]
        return result

    def _until(self, wanted: Callable[[Message], bool]) -> Message:
        """Read until the expected message; the others are kept in `events`."""
        while True:
            told, end, rest = self._buffer.partition(b"\0")
            if not end:
                assert select.select([self._in], [], [], PATIENCE_SECONDS)[0], "the browser does not answer"
                read = os.read(self._in, 1 << 20)
                assert read, "the browser has closed its pipe"
                self._buffer += read
                continue
            self._buffer = rest
            message = json.loads(told)
            if wanted(message):
                return dict(message)
            self.events.append(message)

    def open(self, page: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.events.clear()
        self.call("Page.navigate", url=page.as_uri())
        if not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self._until(lambda told: told.get("method") == "Page.loadEventFired")

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression; a promise is awaited."""
        told = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until a JavaScript condition is true."""
        self.run(
            "new Promise((done) => { const look = () => "
            f"({condition}) ? done(true) : setTimeout(look, 10); look(); }})"
        )

    def press(self, key: str) -> None:
        """Press a key, as its `KeyboardEvent.key`."""
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def click(self, selector: str) -> None:
        """Click the middle of an element."""
        x, y = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def download_into(self, folder: Path) -> None:
        """Let downloads end in a folder."""
        session, self._session = self._session, ""
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder), eventsEnabled=True)
        self._session = session

    def downloaded(self) -> None:
        """Wait for the end of a download."""

        def is_done(told: Message) -> bool:
            return told.get("method") == "Browser.downloadProgress" and told["params"]["state"] == "completed"

        if not any(map(is_done, self.events)):
            self._until(is_done)
        self.events = [event for event in self.events if not is_done(event)]

    def dark(self, *, is_dark: bool = True) -> None:
        """Prefer a dark scheme, or a light one."""
        value = "dark" if is_dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def screenshot(self, file: Path) -> None:
        """Take a screenshot of the visible part, as PNG."""
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def requests(self) -> list[str]:
        """Return the addresses that the page requested, without its own blobs."""
        asked = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith("blob:")]

    def complaints(self) -> list[str]:
        """Return errors and messages of the console, violations of the page's policy among them."""
        logged = [e["params"]["entry"]["text"] for e in self.events if e.get("method") == "Log.entryAdded"]
        thrown = [str(e["params"]) for e in self.events if e.get("method") == "Runtime.exceptionThrown"]
        said = [str(e["params"]) for e in self.events if e.get("method") == "Runtime.consoleAPICalled"]
        return logged + thrown + said

    def close(self) -> None:
        """End the browser."""
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
