"""A small client of the WebDriver protocol, for the tests of the page: https://www.w3.org/TR/webdriver2/"""

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"

KEYS = {
    "enter": "\ue007", "tab": "\ue004", "escape": "\ue00c", "space": " ", "left": "\ue012", "up": "\ue013",
    "right": "\ue014", "down": "\ue015", "home": "\ue011", "end": "\ue010", "page_up": "\ue00e",
    "page_down": "\ue00f", "control": "\ue009", "alt": "\ue00a", "shift": "\ue008", "backspace": "\ue003",
}


# The time to wait for the page, in seconds. It only ends tests that would wait forever: on a machine with other work,
# everything takes longer.
PATIENCE = 180


class WebDriverError(Exception):
    pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Driver:
    """The program that controls browsers."""

    def __init__(self):
        self.port = free_port()
        self.process = subprocess.Popen(
            ["chromedriver", f"--port={self.port}", "--silent"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: self.request("GET", "/status")["ready"], 30)

    def request(self, method, path, body=None):
        data = None if method == "GET" or method == "DELETE" else json.dumps(body or {}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data=data, method=method,
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=300) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise WebDriverError(f"{value['error']}: {value['message'].splitlines()[0]}") from None

    def close(self):
        self.process.terminate()
        self.process.wait(30)


class Browser:
    """A window of a browser with a profile of its own."""

    def __init__(self, driver, width=1360, height=860):
        self.driver = driver
        self.profile = tempfile.mkdtemp(prefix="studio-browser-")
        arguments = [
            "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars=false",
            f"--window-size={width},{height}", f"--user-data-dir={self.profile}", "--force-color-profile=srgb",
        ]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        options = {"args": arguments}
        capabilities = {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"},
            "unhandledPromptBehavior": "ignore"}
        session = driver.request("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.path = f"/session/{session['sessionId']}"
        self.call("POST", "/timeouts", {"script": 240_000, "pageLoad": 120_000})

    def call(self, method, path, body=None):
        return self.driver.request(method, self.path + path, body)

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            shutil.rmtree(self.profile, ignore_errors=True)

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def go(self, place):
        """Goes to a place of the page, and returns when the page shows it: its view before may have the same texts."""
        self.call("POST", "/execute/async", {"args": [place], "script": """
            const [place, done] = arguments;
            if (location.hash === place) return done();
            // The page listens since its start, so that it has handled the event before.
            addEventListener('hashchange', () => done(), {once: true});
            location.hash = place;"""})

    def fetch(self, path):
        """The bytes of an answer to the page."""
        text = self.call("POST", "/execute/async", {"args": [path], "script": """
            const [path, done] = arguments;
            fetch(path).then(answer => answer.blob()).then(blob => {
              const reader = new FileReader();
              reader.onload = () => done(reader.result.split(',')[1]);
              reader.readAsDataURL(blob);
            });"""})
        return base64.b64decode(text)

    def find(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def command(self, name, **parameters):
        """Sends a command of Chromium's own protocol: https://chromedevtools.github.io/devtools-protocol/"""
        return self.call("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def resize(self, width, height, touch=False):
        """Gives the page a size of its own; windows can't be as narrow as telephones are."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        self.command("Emulation.setTouchEmulationEnabled", enabled=touch, maxTouchPoints=2 if touch else 1)

    def prefer(self, scheme):
        """Chooses the color scheme: `light` or `dark`."""
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def touch(self, *points):
        """Moves fingers: a list of their positions for each moment."""
        for index, moment in enumerate(points):
            self.command(
                "Input.dispatchTouchEvent", type="touchMove" if index else "touchStart",
                touchPoints=[{"x": x, "y": y, "id": finger} for finger, (x, y) in enumerate(moment)])
        self.command("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def accessibility(self):
        """What assistive technologies are told: dictionaries with role, name and states, in the order of the page."""
        tree = self.command("Accessibility.getFullAXTree")["nodes"]
        nodes = {node["nodeId"]: node for node in tree}
        found = []

        def walk(node):
            if not node.get("ignored"):
                states = {part["name"]: part["value"].get("value") for part in node.get("properties", [])}
                found.append({
                    **states, "role": node.get("role", {}).get("value"), "name": node.get("name", {}).get("value", ""),
                    "description": node.get("description", {}).get("value", "")})
            for child in node.get("childIds", []):
                if child in nodes:
                    walk(nodes[child])

        for node in tree:
            if "parentId" not in node:
                walk(node)
        return found

    def click(self, selector):
        """Clicks an element. The page may draw it anew after it was found."""
        for attempt in range(10):
            try:
                return self.call("POST", f"/element/{self.find(selector)}/click")
            except WebDriverError as error:
                if attempt == 9 or "stale element" not in str(error):
                    raise

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? null", selector)

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def count(self, selector):
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    def press(self, *keys, holding=()):
        """Presses keys one after the other; names of KEYS or characters."""
        actions = [{"type": "keyDown", "value": KEYS[key]} for key in holding]
        for key in keys:
            for character in KEYS.get(key, key) if key not in KEYS else KEYS[key]:
                actions += [{"type": "keyDown", "value": character}, {"type": "keyUp", "value": character}]
        actions += [{"type": "keyUp", "value": KEYS[key]} for key in holding]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def wait(self, script, *arguments, seconds=PATIENCE):
        """Waits until a script returns something that is true, and returns it."""
        found = []

        def is_found():
            found[:] = [self.run(script, *arguments)]
            return found[0]

        try:
            wait_until(is_found, seconds)
        except TimeoutError:
            raise AssertionError(f"This didn't happen in {seconds} s: {script} {arguments}\n{self.state()}") from None
        return found[0]

    def state(self):
        """What the page shows, for the message of a failure."""
        shown = self.run(
            """return {place: location.hash, focus: document.activeElement?.outerHTML.slice(0, 120),
                       ready: document.readyState, status: document.getElementById('status')?.textContent,
                       main: document.querySelector('main')?.textContent.slice(0, 600)}""")
        return f"{shown}\n{self.log()}"

    def wait_text(self, selector, part, seconds=PATIENCE):
        self.wait(
            "return document.querySelector(arguments[0])?.textContent.includes(arguments[1])", selector, part,
            seconds=seconds)

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def log(self):
        """The messages of the browser's console since the last call."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except (urllib.error.URLError, ConnectionError):
            pass
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


class Studio:
    """The program under test, on a store."""

    def __init__(self, store, *arguments):
        program = os.environ.get("PERSIST_STUDIO", "persist-studio")
        self.process = subprocess.Popen(
            [program, str(store), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(self.process.stderr.read())

    @property
    def origin(self):
        return self.url.split("/?")[0]

    def memory(self):
        """The program's resident memory in bytes."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        return 0

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.process.stdout.close()
        self.process.stderr.close()
