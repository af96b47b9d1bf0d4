#!/usr/bin/env python3
"""Opens reports in a headless browser and holds what they show against the program.

usage: report_test.py PROGRAM [CASE...]        exit 77: no browser here, nothing was tested
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402

CATEGORIES = ["parameter", "parameter_gradient", "optimizer_state", "model_state", "input",
              "activation", "stash", "activation_gradient", "workspace", "library"]


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def equal(got, expected, what):
    check(got == expected, f"{what}: expected {expected}, got {got}")


class Tests:
    def __init__(self, program, chromium, folder):
        self.program, self.chromium, self.folder = program, chromium, folder
        self.random = random.Random(20)

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, *arguments):
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True,
                              cwd=self.folder)
        check(done.returncode == 0, f"{arguments}: exit {done.returncode}: {done.stderr}")
        return done.stdout

    def report(self, name, *inputs):
        self.call("report", *inputs, "-o", name, "--quiet")
        return self.path(name)

    def open(self, path, **how):
        page = browser.Browser(self.chromium, **how)
        try:
            page.open(path)
        except BaseException:
            page.__exit__()
            raise
        return page

    def timeline(self, name, *arguments):
        """A plan with its events, and the same from its trace: [(bytes by category, event)]."""
        self.call("plan", *arguments, "--events", "--json", f"{name}.json", "--trace",
                  f"{name}.jsonl", "--quiet")
        states, live, now = [], {}, dict.fromkeys(CATEGORIES, 0)
        with open(self.path(f"{name}.jsonl"), encoding="utf-8") as file:
            next(file)
            for line in file:
                event = json.loads(line)
                if event["op"] == "scope":
                    continue
                if event["op"] == "allocate":
                    live[event["id"]] = event
                    now[event["category"]] += event["bytes"]
                elif event["op"] == "free":
                    event = {**live.pop(event["id"]), "op": "free"}
                    now[event["category"]] -= event["bytes"]
                states.append((dict(now), event))
        with open(self.path(f"{name}.json"), encoding="utf-8") as file:
            equal(len(states), json.load(file)["events"], "events of trace and document")
        return states

    # --- cases ------------------------------------------------------------------------------------

    def opens_quietly(self):
        """Every sort of page: nothing on the console, no request, no violation of the policy."""
        self.timeline("a", "lenet5", "--batch", "8")
        self.timeline("b", "lenet5", "--batch", "6", "--micro-batch", "2", "--mode", "per-step",
                      "--optimizer", "adam", "--steps", "2")
        self.call("sweep", "lenet5", "--batches", "1:8", "--modes", "full-batch,accumulated-graph",
                  "--json", "sweep.json", "--quiet")
        self.call("sweep", "lenet5", "--inputs", "28:44:8", "--json", "sizes.json", "--quiet")
        self.call("compare", "lenet5", "--batch", "4", "--json", "compare.json", "--quiet")
        self.call("summary", "lenet5", "--json", "summary.json", "--quiet")
        page = self.report("all.html", "a.json", "b.json", "sweep.json", "sizes.json",
                           "compare.json", "summary.json")
        for how in ({}, {"dark": True}, {"width": 390, "height": 844}, {"script": False}):
            with self.open(page, **how) as tab:
                if how.get("script", True):
                    tab.evaluate("scrollTo(0, document.body.scrollHeight)")
                    tab.frame()
                    canvases = tab.evaluate("document.querySelectorAll('canvas').length")
                    check(canvases > 4, "no canvas")
                    wide = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
                    check(wide <= 0, f"{how}: {wide} pixels too wide")
                equal(tab.complaints(), [], f"complaints with {how}")

    def stays_without_script(self):
        self.timeline("a", "lenet5", "--batch", "8")
        with open(self.report("a.html", "a.json"), encoding="utf-8") as file:
            text = file.read()
        equal(text.count('<svg class="still"'), 2, "still pictures")
        equal(text.count('class="still bars"'), 2, "still bars")
        check(text.count("<table>") >= 6, "no tables")
        check("default-src 'none'" in text, "no policy")
        check(not re.search(r"sourceMappingURL|<[a-z]+ [^>]*src=|@import|url\(", text),
              "loads something")

    def events_are_the_ledgers(self):
        states = self.timeline("steps", "resnet18", "--batch", "4", "--micro-batch", "1", "--mode",
                               "per-step", "--input", "3x64x64", "--optimizer", "sgd",
                               "--momentum", "0.9", "--steps", "3")
        page = self.report("steps.html", "steps.json")
        with self.open(page) as tab:
            equal(tab.evaluate("arenagradReport.ledgers[0].count"), len(states), "events")
            for number in self.random.sample(range(1, len(states) + 1), 50):
                self.hover(tab, states, number)
            self.step(tab, states)
        number = len(states) // 3
        with self.open("file://" + page + f"#e={number}") as tab:
            equal(self.panel(tab)["event"], str(number), "the event in the address")

    def panel(self, tab):
        return tab.evaluate("({...document.querySelector('.panel').dataset,"
                            " rows: Object.fromEntries("
                            "[...document.querySelectorAll('.panel tr')].map(r =>"
                            " [r.dataset.category, Number(r.dataset.bytes)])),"
                            " text: document.querySelector('.panel')"
                            ".textContent})")

    def holds(self, tab, states, number):
        shown, (composition, event) = self.panel(tab), states[number - 1]
        equal(shown["event"], str(number), "event")
        equal(shown["total"], str(sum(composition.values())), f"live at event {number}")
        equal(shown["rows"], {c: n for c, n in composition.items() if n}, f"categories at {number}")
        if event["op"] in ("allocate", "free"):
            equal(shown["bytes"], str(event["bytes"]), f"bytes of event {number}")
            check(event["name"] in shown["text"], f"{event['name']} is not in {shown['text']}")
            check(f"{event['offset']:,}" in shown["text"], f"offset of event {number}")

    def hover(self, tab, states, number):
        """Zooms in and puts the pointer in the middle of the event's step."""
        x, y = tab.evaluate(
            f"(() => {{ const t = arenagradReport.pictures.timeline[0]; t.chart.show({number} - 20,"
            f" {number} + 20); t.chart.canvas.scrollIntoView({{block: 'center'}});"
            f" const b = t.chart.canvas.getBoundingClientRect(); return [b.left +"
            f" t.chart.graph.toDomXCoord({number} + 0.5), b.top + b.height / 2]; }})()")
        tab.mouse("mouseMoved", x, y)
        tab.frame()
        self.holds(tab, states, number)

    def step(self, tab, states):
        """A click pins; arrow keys step; escape lets go."""
        x, y = tab.evaluate("(() => { const t = arenagradReport.pictures.timeline[0];"
                            " t.chart.show(100, 140);"
                            " const b = t.chart.canvas.getBoundingClientRect(); return [b.left +"
                            " t.chart.graph.toDomXCoord(120.5), b.top + b.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            tab.mouse(kind, x, y, button="left", clickCount=1)
        tab.frame()
        equal(tab.evaluate("location.hash"), "#e=120", "the address after a click")
        tab.evaluate("arenagradReport.pictures.timeline[0].box.focus()")
        tab.mouse("mouseMoved", 1, 1)
        for key, number in (("ArrowRight", 121), ("ArrowRight", 122), ("ArrowLeft", 121),
                            ("Home", 1), ("End", len(states))):
            tab.key(key)
            tab.frame()
            self.holds(tab, states, number)
            equal(tab.evaluate("location.hash"), f"#e={number}", f"the address after {key}")
        tab.key("Escape")
        equal(tab.evaluate("location.hash"), "", "the address after escape")

    def taps_pin(self):
        """On a phone: one finger scrolls the page, a tap pins."""
        self.timeline("a", "lenet5", "--batch", "8")
        with self.open(self.report("a.html", "a.json"), width=390, height=844) as tab:
            tab.call("Emulation.setTouchEmulationEnabled", enabled=True)
            x, y = tab.evaluate("(() => { const t = arenagradReport.pictures.timeline[0];"
                                " t.chart.show(30, 50); t.chart.canvas.scrollIntoView({block:"
                                " 'center'}); const b = t.chart.canvas.getBoundingClientRect();"
                                " return [b.left + t.chart.graph.toDomXCoord(40.5), b.top + 100];"
                                " })()")
            tab.touch((x, y))
            equal(tab.evaluate("location.hash"), "#e=40", "the address after a tap")
            before = tab.evaluate("scrollY")
            tab.touch(*((x, y - 10 * i) for i in range(10)))
            check(tab.evaluate("scrollY") > before, "a finger does not scroll the page")

    def highest_is_drawn(self):
        """In any window the highest and the lowest total that is drawn are the true ones."""
        states = self.timeline("many", "lenet5", "--batch", "12", "--micro-batch", "1", "--mode",
                               "accumulated-graph", "--steps", "8")
        totals = [sum(composition.values()) for composition, _ in states]
        windows = []
        for _ in range(1000):
            a = self.random.randrange(1, len(totals))
            windows.append((a, min(len(totals), a + 2 + int(2 ** self.random.uniform(0, 13)))))
        with self.open(self.report("many.html", "many.json")) as tab:
            drawn = tab.evaluate(
                f"{json.dumps(windows)}.map(([a, b]) => {{ const r = arenagradReport;"
                " const rows = r.pictures.timeline[0].rows(a, b, 100);"
                " return [r.ledgers[0].chosen(a, b, 100).events,"
                " rows.map(row => row.slice(1).reduce((x, y) => x + y, 0)),"
                " rows.map(row => row[0])];"
                " })")
        for (a, b), (events, sums, x) in zip(windows, drawn):
            equal(max(sums), max(totals[a - 1:b]), f"maximum of [{a}, {b}]")
            equal(min(sums), min(totals[a - 1:b]), f"minimum of [{a}, {b}]")
            equal(sums[:-1], [totals[e - 1] for e in events], f"drawn in [{a}, {b}]")
            equal((x[0], x[-1]), (a, b + 1), f"ends of [{a}, {b}]")
            check(x == sorted(set(x)), f"the order of what is drawn in [{a}, {b}]")

    def what_if_is_the_cli(self):
        """200 settings: the panel's bytes are those of `plan`."""
        sweeps, settings = [], []
        for policy in ("lean", "pytorch"):
            for optimizer in (["none"], ["sgd"], ["sgd", "--momentum", "0.9"], ["adam"]):
                name = f"sweep-{policy}-{'-'.join(optimizer).replace('--', '')}.json"
                common = ["--policy", policy, "--optimizer", *optimizer, "--steps", "2"]
                self.call("sweep", "lenet5", "--batches", "1:40", "--modes",
                          "full-batch,accumulated-graph,per-step", *common, "--json", name,
                          "--quiet")
                sweeps.append(name)
                label = optimizer[0] if len(optimizer) == 1 else "sgd, momentum 0.9"
                for mode in ("full-batch", "accumulated-graph", "per-step"):
                    settings.append((policy, label, mode, common))
        self.call("sweep", "lenet5", "--inputs", "28:60:8", "--batch", "6", "--json", "sizes.json",
                  "--quiet")
        with self.open(self.report("what.html", *sweeps, "sizes.json")) as tab:
            for _ in range(200):
                policy, optimizer, mode, common = self.random.choice(settings)
                batch, size = self.random.randint(1, 40), 28
                if self.random.random() < 0.1:
                    policy, optimizer, mode, common = "lean", "none", "full-batch", ["--steps", "2"]
                    batch, size = 6, self.random.choice((36, 44, 52, 60))
                plan = json.loads(self.call("plan", "lenet5", "--batch", str(batch), "--mode", mode,
                                            "--input", f"1x{size}x{size}", *common, "--json", "-"))
                shown = tab.evaluate(self.setting(policy, optimizer, mode, batch, size))
                equal(shown, str(plan["bytes"]["peak_requested"]),
                      f"{policy}, {optimizer}, {mode}, batch {batch}, size {size}")

    @staticmethod
    def setting(policy, optimizer, mode, batch, size):
        values = {"policy": policy, "optimizer": optimizer, "mode": mode,
                  "image size": f"1x{size}x{size}",
                  "micro-batch": "the batch" if mode == "full-batch" else "1"}
        return ("((values) => { const w = arenagradReport.pictures.whatIf[0];"
                " for (const [name, value] of Object.entries(values)) w.fields[name].value = value;"
                f" w.batch.value = {batch}; w.show();"
                " return w.answer.dataset.total ?? w.answer.textContent; })"
                f"({json.dumps(values)})")

    def holds_many_events(self):
        """10^5 events in 1 MB, drawn soon; 10^6 in 6 MB."""
        for steps, most, least in ((250, 1 << 20, 10**5), (2500, 6 << 20, 10**6)):
            self.call("plan", "resnet18", "--batch", "2", "--input", "3x64x64", "--steps",
                      str(steps), "--events", "--json", "long.json", "--quiet")
            page = self.report("long.html", "long.json")
            with open(self.path("long.json"), encoding="utf-8") as file:
                events = json.load(file)["events"]
            check(events >= least, f"{events} events in {steps} steps")
            size = os.path.getsize(page)
            check(size <= most, f"{events} events take {size} bytes, more than {most}")
            with self.open(page) as tab:
                print(f"  {events} events: {size} bytes, drawn after "
                      f"{tab.evaluate('document.documentElement.dataset.drawn')} ms, zoom "
                      f"{tab.evaluate(ZOOM)} ms")
                equal(tab.complaints(), [], "complaints")


ZOOM = ("(() => { const c = arenagradReport.pictures.timeline[0].chart;"
        " const t = performance.now(); c.zoom(0.5); return Math.round(performance.now() - t); })()")

CASES = ["opens_quietly", "stays_without_script", "events_are_the_ledgers", "taps_pin",
         "highest_is_drawn", "what_if_is_the_cli", "holds_many_events"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    chromium = browser.find()
    if not chromium:
        print("report_test: no Chromium here: reports were not opened in a browser")
        sys.exit(77)
    failed = 0
    for case in sys.argv[2:] or CASES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                getattr(Tests(os.path.abspath(sys.argv[1]), chromium, folder), case)()
                print(f"ok      {case}", flush=True)
            except (AssertionError, RuntimeError, TimeoutError) as error:
                failed += 1
                print(f"FAILED  {case}: {error}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
