"""A headless Chromium, driven over pipes by its debugging protocol. Standard library only."""

import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    """A browser's path, or None. Ubuntu's /usr/bin/chromium-browser only asks to install a snap."""
    for name in PROGRAMS:
        path = shutil.which(name)
        if not path:
            continue
        with contextlib.suppress(subprocess.SubprocessError, OSError):
            told = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
            if told.returncode == 0 and "snap" not in told.stdout + told.stderr:
                return path
    return None


class Browser:
    """One page. `events` holds what the browser told on its own: console, exceptions, requests."""

    def __init__(self, program, width=1200, height=900, dark=False, script=True):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands, self.into = os.pipe()
        self.out_of, answers = os.pipe()
        # Out of the way of the two numbers that the browser expects.
        child_in, child_out = (fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (commands, answers))

        def place():
            os.dup2(child_in, 3)
            os.dup2(child_out, 4)

        arguments = [program, "--headless=new", "--remote-debugging-pipe", "--no-first-run",
                     "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--disable-background-networking", "--disable-component-update",
                     f"--user-data-dir={self.folder.name}", f"--window-size={width},{height}"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        self.process = subprocess.Popen(arguments + ["about:blank"], preexec_fn=place,
                                        close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (commands, answers, child_in, child_out):
            os.close(fd)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        if not script:
            self.call("Emulation.setScriptExecutionDisabled", value=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError, RuntimeError, TimeoutError):
            session, self.session = self.session, None
            self.call("Browser.close", timeout=10)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.into)
        os.close(self.out_of)
        self.folder.cleanup()

    def _message(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.out_of], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            part = os.read(self.out_of, 1 << 20)
            if not part:
                raise RuntimeError("the browser has gone")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, timeout=120, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.into, data):]
        deadline = time.monotonic() + timeout
        while True:
            answer = self._message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def open(self, path, timeout=120):
        url = path if "://" in path else "file://" + os.path.abspath(path)
        self.events.clear()
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + timeout
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            message = self._message(deadline)
            if "method" in message:
                self.events.append(message)

    def evaluate(self, expression, timeout=120):
        answer = self.call("Runtime.evaluate", timeout=timeout, expression=expression,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def frame(self):
        """Waits until what was asked for has been drawn."""
        self.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key)

    def touch(self, *points):
        """A finger put down at the first point, moved over the others, and lifted."""
        for i, (x, y) in enumerate(points):
            self.call("Input.dispatchTouchEvent", type="touchMove" if i else "touchStart",
                      touchPoints=[{"x": x, "y": y}])
            self.frame()
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        # Clicks that a tap amounts to come later.
        self.evaluate("new Promise(r => setTimeout(r, 400))")

    def screenshot(self, path, whole=False):
        import base64

        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def complaints(self):
        """Console output, exceptions, violations of the policy, and requests but for the page."""
        found = []
        for event in self.events:
            method, parameters = event["method"], event["params"]
            violation = "ContentSecurityPolicyIssue" in json.dumps(parameters)
            if violation or method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown",
                                       "Log.entryAdded"):
                found.append(f"{method}: {json.dumps(parameters)[:600]}")
            elif method == "Network.requestWillBeSent":
                if parameters.get("type") != "Document":
                    found.append(f"request: {parameters['request']['url'][:200]}")
        return found
