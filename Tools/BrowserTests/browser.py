"""A real browser for tests: Chromium without a window, driven by its DevTools protocol over a pipe. Nothing but Python's own library."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

TIMEOUT = 30.0


class BrowserError(Exception):
    """The browser, or a page in it, does not do what a test waits for."""


class Browser:
    """One Chromium with a profile of its own that is thrown away."""

    def __init__(self):
        program = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
        if not program:
            raise BrowserError("no chromium on the PATH: apt-get install chromium")
        self.folder = tempfile.mkdtemp(prefix="browser-test-")
        to_child, self._out = os.pipe()
        self._in, from_child = os.pipe()

        def ends():
            # Chromium reads at 3 and writes at 4.
            low = os.dup(to_child), os.dup(from_child)
            os.dup2(low[0], 3)
            os.dup2(low[1], 4)

        arguments = [
            program, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "--no-first-run", "--disable-gpu",
            "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--no-default-browser-check", "--hide-scrollbars", "--force-color-profile=srgb", "--lang=en-US",
            # A name of somebody else's that leads here, as a rebound DNS answer would.
            "--host-resolver-rules=MAP rebound.test 127.0.0.1",
        ]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        self._process = subprocess.Popen(
            arguments + ["about:blank"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=ends, start_new_session=True)
        os.close(to_child)
        os.close(from_child)
        self._buffer = b""
        self._last_id = 0
        self._answers = {}
        self._pages = {}
        self.version = self.send("Browser.getVersion")["product"]

    def close(self):
        with contextlib.suppress(BrowserError, OSError):
            self.send("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self.folder, ignore_errors=True)

    def send(self, method, params=None, session=None):
        self._last_id += 1
        number = self._last_id
        message = {"id": number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data):]
        deadline = time.monotonic() + TIMEOUT
        while number not in self._answers:
            self._read(deadline, method)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error'].get('message')}")
        return answer["result"]

    def pump(self, seconds=0.0):
        """Takes events that have come, waiting so long for the first."""
        with contextlib.suppress(TimeoutError):
            self._read(time.monotonic() + seconds, "events")
            while True:
                self._read(time.monotonic(), "events")

    def _read(self, deadline, what):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                if what == "events":
                    raise TimeoutError
                raise BrowserError(f"{what}: no answer of the browser after {TIMEOUT:.0f} s")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise BrowserError("the browser has ended")
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(line)
        if "id" in message:
            self._answers[message["id"]] = message
        elif message.get("sessionId") in self._pages:
            self._pages[message["sessionId"]].take(message["method"], message["params"])

    def page(self, width=1280, height=900, dark=False):
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = Page(self, target, session)
        self._pages[session] = page
        page.prepare(width, height, dark)
        return page


KEYS = {
    "Tab": (9, "Tab", ""), "Enter": (13, "Enter", "\r"), "Escape": (27, "Escape", ""), "Space": (32, " ", " "),
    "ArrowLeft": (37, "ArrowLeft", ""), "ArrowUp": (38, "ArrowUp", ""), "ArrowRight": (39, "ArrowRight", ""),
    "ArrowDown": (40, "ArrowDown", ""), "Home": (36, "Home", ""), "End": (35, "End", ""), "Backspace": (8, "Backspace", ""),
}

# Violations of the page's own security policy are told to the page; this listener is there before any script of it.
WATCH = """
window.__violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.__violations.push(`${event.effectiveDirective}: ${event.blockedURI || event.sample}`);
});
"""


class Page:
    """One tab."""

    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session
        self.problems = []
        # Statuses that a test provokes: the browser's console tells of each refused request.
        self.expected = set()

    def prepare(self, width, height, dark):
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility", "DOM"):
            self.send(f"{domain}.enable")
        self.send("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        self.resize(width, height)
        self.dark(dark)

    def send(self, method, params=None):
        return self.browser.send(method, params, self.session)

    def take(self, method, params):
        """Keeps what a console would show as an error."""
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            entry = params["entry"]
            if any(f"status of {status} " in entry["text"] for status in self.expected):
                return
            if "net::" in entry["text"] and "net" in self.expected:
                return
            self.problems.append(f"{entry['text']} {entry.get('url', '')}".strip())

    def resize(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def dark(self, dark):
        self.send("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}, {"name": "prefers-reduced-motion", "value": "reduce"}]})

    def goto(self, url):
        error = self.send("Page.navigate", {"url": url}).get("errorText")
        if error:
            raise BrowserError(f"{url}: {error}")
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'", f"{url} is loaded")

    def close(self):
        self.send("Page.close")

    def evaluate(self, script):
        result = self.send("Runtime.evaluate", {"expression": script, "awaitPromise": True, "returnByValue": True, "userGesture": True})
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    def wait(self, script, what, timeout=TIMEOUT):
        """Waits until an expression is true, and gives its value."""
        deadline = time.monotonic() + timeout
        while True:
            value = self.evaluate(f"(() => {{ const value = {script}; return value instanceof Node ? true : value; }})()")
            if value:
                return value
            if time.monotonic() > deadline:
                raise BrowserError(f"after {timeout:.0f} s still not: {what}")
            self.browser.pump(0.02)

    # ---- As a person does it

    def click(self, selector):
        """Moves the mouse to the middle of an element and presses; fails if something else is there."""
        quoted = json.dumps(selector)
        self.wait(f"document.querySelector({quoted})", f"{selector} is there")
        place = self.evaluate(f"""(() => {{
          const node = document.querySelector({quoted});
          node.scrollIntoView({{ block: "center", inline: "center" }});
          const box = node.getBoundingClientRect();
          const x = box.x + box.width / 2, y = box.y + box.height / 2;
          const hit = document.elementFromPoint(x, y);
          return {{ x, y, hit: !!hit && (node.contains(hit) || hit.contains(node)), other: hit?.outerHTML.slice(0, 120), size: box.width * box.height }};
        }})()""")
        if not place["size"] or not place["hit"]:
            raise BrowserError(f"{selector} cannot be clicked: {'it has no size' if not place['size'] else 'in front of it is ' + str(place['other'])}")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", {"type": kind, "x": place["x"], "y": place["y"], "button": "left", "clickCount": 1})

    def fill(self, selector, text):
        """Puts the focus into a field, takes out what is in it, and types."""
        self.click(selector)
        self.evaluate(f"document.querySelector({json.dumps(selector)}).select()")
        if not text:
            return self.press("Backspace")
        self.send("Input.insertText", {"text": text})

    def choose(self, selector, value):
        """Chooses an option; the list that a browser opens is drawn by the system and has no element to click."""
        self.evaluate(f"""(() => {{
          const node = document.querySelector({json.dumps(selector)});
          node.focus();
          node.value = {json.dumps(value)};
          node.dispatchEvent(new Event("input", {{ bubbles: true }}));
          node.dispatchEvent(new Event("change", {{ bubbles: true }}));
        }})()""")

    def press(self, key, shift=False):
        code, name, text = KEYS[key]
        common = {"windowsVirtualKeyCode": code, "key": name, "code": key, "modifiers": 8 if shift else 0}
        self.send("Input.dispatchKeyEvent", {"type": "keyDown" if text else "rawKeyDown", "text": text, **common} if text else {"type": "rawKeyDown", **common})
        self.send("Input.dispatchKeyEvent", {"type": "keyUp", **common})

    def type(self, text):
        self.send("Input.insertText", {"text": text})

    # ---- What one sees

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? null")

    def screenshot(self, path, whole=True):
        params = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            params["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.captureScreenshot", params)["data"]))

    def tree(self):
        """The accessibility tree: what a screen reader is told, as (role, name, node) of everything that is not ignored."""
        found = []
        for node in self.send("Accessibility.getFullAXTree")["nodes"]:
            if not node.get("ignored"):
                found.append((node["role"]["value"], node.get("name", {}).get("value", ""), node))
        return found

    def overflow(self):
        """What makes the page wider than its window."""
        return self.evaluate("""(() => {
          const width = document.documentElement.clientWidth;
          if (document.documentElement.scrollWidth <= width) return [];
          return [...document.querySelectorAll("body *")].filter((node) => {
            const box = node.getBoundingClientRect();
            return box.width && box.right > width + 0.5 && getComputedStyle(node).position !== "absolute";
          }).slice(0, 5).map((node) => node.tagName + "#" + node.id + "." + node.className + " " + Math.round(node.getBoundingClientRect().right));
        })()""")

    def faults(self):
        """Everything that should not be: exceptions, console errors, violations of the page's policy."""
        self.browser.pump()
        return self.problems + [f"policy: {v}" for v in self.evaluate("window.__violations")]
