# SPDX-License-Identifier: BSD-3-Clause
"""Drives the real Chromium, headless, by WebDriver (W3C Recommendation, 2018)."""

import base64
import json
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage",
]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # WebDriver's name for "a reference"
KEYS = {"Shift": "\ue008", "Control": "\ue009", "Escape": "\ue00c", "Enter": "\ue007",
        "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}


def wait_for(condition):
    """Waits until the page has done what it does some time later."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def message_of(body):
    """The driver's reason, in the body of its error response (WebDriver, 6.6)."""
    try:
        return json.loads(body)["value"]["message"]
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")


class Browser:
    """One window of Chromium; a context manager, which ends all processes it started."""

    def __init__(self, width=1280, height=800, extra_flags=()):
        self.size = (width, height)
        self.extra_flags = list(extra_flags)

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory()
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.session = None
        try:
            for line in self.driver.stdout:
                port = re.search(r"started successfully on port (\d+)", line)
                if port:
                    break
            else:
                raise RuntimeError("chromedriver does not start")
            self.base = f"http://127.0.0.1:{port[1]}/session"
            flags = FLAGS + self.extra_flags + [
                f"--user-data-dir={self.profile.name}",
                "--window-size={},{}".format(*self.size)]
            self.session = self.call("POST", "", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome",
                "goog:loggingPrefs": {"browser": "ALL"},
                "goog:chromeOptions": {"args": flags},
            }}})["sessionId"]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            if self.session:
                self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            self.profile.cleanup()

    def call(self, method, path, data=None):
        url = self.base + (f"/{self.session}" if self.session else "") + path
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(url, body, method=method)
        # Never use a proxy: the server is on this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"chromedriver: {error}: {message_of(error.read())}") from None

    def open(self, path):
        self.call("POST", "/url", {"url": "file://" + path})

    def script(self, text, *args):
        return self.call("POST", "/execute/sync", {"script": text, "args": list(args)})

    def accessible(self):
        """Returns what a screen reader finds, as (role, name, properties)."""
        nodes = self.call("POST", "/goog/cdp/execute", {
            "cmd": "Accessibility.getFullAXTree", "params": {}})["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", ""),
                 {p["name"]: p["value"].get("value") for p in node.get("properties", ())})
                for node in nodes if not node["ignored"]]

    def errors(self):
        """Returns errors of the page and the browser since the last call."""
        return [entry["message"] for entry in self.call("POST", "/se/log",
                                                        {"type": "browser"})]

    def point(self, element, click=False):
        """Moves the real pointer to an element that script() returned."""
        actions = [{"type": "pointerMove", "origin": element, "x": 0, "y": 0}]
        if click:
            actions += [{"type": "pointerDown", "button": 0},
                        {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "actions": actions}]})

    def drag(self, element, start, end):
        """Drags the real pointer between two offsets from an element's centre."""
        def move(to):
            return {"type": "pointerMove", "origin": element, "x": to[0], "y": to[1]}
        self.call("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse",
            "actions": [move(start), {"type": "pointerDown", "button": 0}, move(end),
                        {"type": "pointerUp", "button": 0}]}]})

    def keys(self, *keys):
        """Presses all keys one after the other, then releases them."""
        keys = [KEYS.get(key, key) for key in keys]
        self.call("POST", "/actions", {"actions": [{
            "type": "key", "id": "keyboard",
            "actions": [{"type": "keyDown", "value": key} for key in keys] +
                       [{"type": "keyUp", "value": key} for key in reversed(keys)]}]})

    def type(self, text):
        for character in text:
            self.keys(character)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))
