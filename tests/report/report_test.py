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

    def prints_whole(self):
        """On paper: still pictures, open tables that fit the width, light colours."""
        self.timeline("a", "lenet5", "--batch", "8")
        self.timeline("b", "lenet5", "--batch", "8", "--mode", "per-step")
        self.call("report", "a.json", "b.json", "--what-if", "lenet5", "--batches", "1:2", "-o",
                  "paper.html", "--quiet")
        with self.open(self.path("paper.html"), width=760, dark=True) as tab:
            tab.call("Emulation.setEmulatedMedia", media="print")
            tab.evaluate("dispatchEvent(new Event('beforeprint'))")
            tab.frame()
            wide = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
            check(wide <= 0, f"{wide} pixels wider than the paper")
            shown = {what: tab.evaluate(f"[...document.querySelectorAll({what!r})].filter(e =>"
                                        " e.getClientRects().length > 0).length")
                     for what in ("svg.still", "canvas", "main tr")}
            check(shown["svg.still"] == 5 and shown["canvas"] == 0, f"pictures on paper: {shown}")
            equal(shown["main tr"], tab.evaluate(
                "[...document.querySelectorAll('main tr')].filter(r => !r.closest('.live')).length"),
                "rows on paper")
            equal(tab.evaluate("getComputedStyle(document.body).backgroundColor"),
                  "rgb(255, 255, 255)", "the colour of paper")

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

    def two_runs_by_phase(self):
        """Full-batch and per-step on one axis: both are in the same phase everywhere, what is drawn
        is theirs, and the panel has the bytes of their ledgers."""
        states = [self.timeline("whole", "lenet5", "--batch", "12", "--steps", "2", "--optimizer",
                                "sgd"),
                  self.timeline("turns", "lenet5", "--batch", "12", "--micro-batch", "1", "--mode",
                                "per-step", "--steps", "3")]
        with self.open(self.report("two.html", "whole.json", "turns.json")) as tab:
            slots = tab.evaluate("arenagradReport.pictures.two[0].slots")
            equal([s[:2] for s in slots][:4], [[0, "setup"], [1, "forward"], [1, "backward"],
                                               [1, "update"]], "the first slots")
            entries = [self.entries(tab, run, slots, states[run]) for run in range(2)]
            self.drawn_along_phases(tab, slots[-1][3])
            for width in [0.1] * 20 + [slots[-1][3]] * 5:
                self.point(tab, states, entries, slots, width)
            self.keys_of_two(tab, states)
            equal(tab.complaints(), [], "complaints")

    def entries(self, tab, run, slots, states):
        """By slot: its events, each once; or the one that holds, where its step has no such phase;
        or none, where there is no such step."""
        got = tab.evaluate(f"(() => {{ const r = arenagradReport.pictures.two[0].runs[{run}];"
                           " const s = r.ledger.timeline.scopes, v = r.ledger.events;"
                           " return r.slots.map((slot, i) => [!!r.held[i],"
                           " [...r.entries.slice(r.start[i], r.start[i + 1])].map(e =>"
                           " [e, v.step[e - 1], s[v.scope[e - 1]].phase])]); })()")
        steps, reached, seen = {step for _, events in got for _, step, _ in events}, 0, []
        for slot, (held, events) in zip(slots, got):
            numbers = [e for e, _, _ in events]
            if held:
                equal(numbers, [reached], f"what holds in {slot}")
                check(slot[0] in steps, f"{slot} holds without a step")
            else:
                check(events or slot[0] not in steps, f"nothing in {slot}")
                for _, step, phase in events:
                    equal([step, phase], slot[:2], "the place of an event")
                equal(numbers, sorted(numbers), "the order in a slot")
                seen += numbers
            reached = max([reached, *numbers])
        equal(sorted(seen), list(range(1, len(states) + 1)), f"events of run {run}")
        return [[e for e, _, _ in events] for _, events in got]

    def drawn_along_phases(self, tab, end):
        """In any window the highest and lowest that are drawn are the true ones."""
        windows = []
        for _ in range(1000):
            width = end * 2 ** -self.random.uniform(0, 9)
            begin = self.random.uniform(0, end - width)
            windows.append((begin, begin + width))
        wrong = tab.evaluate(
            f"{json.dumps(windows)}.filter(([a, b]) => arenagradReport.pictures.two[0].runs"
            ".some(run => { const drawn = run.drawn(a, b, 100).filter(p => !isNaN(p[1]));"
            " const all = [];"
            " for (let i = run.entryAt(a); i <= run.entryAt(b) && i < run.entries.length; ++i)"
            " all.push(run.total(i));"
            " if (run.absent(b)) all.pop();"
            " const x = drawn.map(p => p[0]), y = drawn.map(p => p[1]);"
            " return x.some((v, i) => i > 0 && v < x[i - 1]) || drawn.length > 202 + 8 ||"
            " Math.max(...all) !== Math.max(...y) || Math.min(...all) !== Math.min(...y); }))")
        equal(wrong, [], "windows with something else drawn")

    def point(self, tab, states, entries, slots, width):
        """At the middle of an event of one run: it, or the highest under the pixel, is shown."""
        filled = [s for s in range(len(slots)) if entries[0][s]]
        s = self.random.choice(filled)
        step, phase, begin, end = slots[s]
        share = (self.random.randrange(len(entries[0][s])) + 0.5) / len(entries[0][s])
        x = begin + share * (end - begin)
        left, top, x, pixel = tab.evaluate(
            "((x, width) => { const t = arenagradReport.pictures.two[0], c = t.chart;"
            " c.show(x - width / 2, x + width / 2); c.canvas.scrollIntoView({block: 'center'});"
            " const b = c.canvas.getBoundingClientRect();"
            " const left = Math.round(b.left + c.graph.toDomXCoord(x));"
            " return [left, b.top + b.height / 2, c.graph.toDataXCoord(left - b.left),"
            f" (c.window[1] - c.window[0]) / c.graph.getArea().w]; }})({x}, {width})")
        tab.mouse("mouseMoved", left, top)
        tab.frame()
        where = f"at {x}, {phase} of step {step}, {pixel} a pixel"
        shown = self.holds_two(tab, states, where)
        for run, event in zip(range(2), shown):
            if event is None:
                check(not entries[run][s], f"run {run} has nothing {where}")
                continue
            # Half a pixel either way, give or take what rounding does.
            most, least = ([self.under(entries[run], slots, x + by * pixel) for by in (-half, half)]
                           for half in (0.51, 0.49))
            flat = [e for events in entries[run] for e in events]
            check(event in flat[most[0]:most[1] + 1], f"event {event} of run {run} is not {where}")
            highest = max(sum(states[run][e - 1][0].values()) for e in flat[least[0]:least[1] + 1])
            check(sum(states[run][event - 1][0].values()) >= highest,
                  f"event {event} of run {run} is not the highest {where}")

    @staticmethod
    def under(entries, slots, x):
        """The number of the entry at x."""
        x = min(max(x, 0), slots[-1][3])
        before = 0
        for events, (_, _, begin, end) in zip(entries, slots):
            if x < end or end == slots[-1][3]:
                inside = int((x - begin) / (end - begin) * len(events))
                return before + min(inside, max(len(events) - 1, 0))
            before += len(events)

    def holds_two(self, tab, states, where):
        shown = tab.evaluate("(() => { const p = arenagradReport.pictures.two[0].panel;"
                             " return {...p.dataset, text: p.textContent}; })()")
        numbers = [None if e == "none" else int(e) for e in shown["events"].split(" ")]
        for events, total, run in zip(numbers, shown["totals"].split(" "), states):
            if events is None:
                check("no such step" in shown["text"], where)
                continue
            composition = run[events - 1][0]
            equal(total, str(sum(composition.values())), f"live {where}")
            for bytes_ in composition.values():
                check(bytes_ < 1024 or f"({bytes_:,} B)" in shown["text"],
                      f"{bytes_} is not in {shown['text']} {where}")
        return numbers

    def keys_of_two(self, tab, states):
        """A and B go to the peaks, arrows to the next event of either run, a click pins."""
        tab.evaluate("arenagradReport.pictures.two[0].chart.show("
                     "...arenagradReport.pictures.two[0].chart.whole)")
        tab.evaluate("arenagradReport.pictures.two[0].box.focus()")
        tab.mouse("mouseMoved", 1, 1)
        for run, key in enumerate("ab"):
            tab.key(key)
            totals = tab.evaluate("arenagradReport.pictures.two[0].panel.dataset.totals")
            equal(totals.split(" ")[run],
                  str(max(sum(composition.values()) for composition, _ in states[run])),
                  f"the peak of {key}")
        place = tab.evaluate("arenagradReport.pictures.two[0].pin")
        for key, sign in (("ArrowRight", 1), ("ArrowRight", 1), ("ArrowLeft", -1)):
            tab.key(key)
            moved = tab.evaluate("arenagradReport.pictures.two[0].pin")
            check((moved - place) * sign > 0, f"{key} went from {place} to {moved}")
            place = moved
            self.holds_two(tab, states, f"after {key}")
        tab.key("Escape")
        equal(tab.evaluate("arenagradReport.pictures.two[0].pin"), None, "the pin after escape")

    def what_if_is_the_cli(self):
        """200 settings, of every mode, policy, optimizer and image size, the panel's bytes are those of `plan`."""
        self.timeline("a", "lenet5", "--batch", "2")
        self.call("report", "a.json", "--what-if", "lenet5", "--batches", "1:40", "--inputs",
                  "28:44:8", "-o", "what.html", "--quiet")
        optimizers = {"none": ["none"], "sgd": ["sgd"], "adam": ["adam"],
                      "sgd, momentum 0.9": ["sgd", "--momentum", "0.9"]}
        with self.open(self.path("what.html")) as tab:
            for _ in range(200):
                mode = self.random.choice(("full-batch", "accumulated-graph", "per-step",
                                           "two-pass"))
                policy = self.random.choice(("lean", "pytorch"))
                optimizer = self.random.choice(list(optimizers))
                batch, size = self.random.randint(1, 40), self.random.choice((28, 36, 44))
                plan = json.loads(self.call(
                    "plan", "lenet5", "--batch", str(batch), "--mode", mode, "--input",
                    f"1x{size}x{size}", "--policy", policy, "--steps", "2", "--optimizer",
                    *optimizers[optimizer], "--json", "-"))
                shown = tab.evaluate(self.setting(policy, optimizer, mode, batch, size))
                equal(shown, str(plan["bytes"]["peak_requested"]),
                      f"{policy}, {optimizer}, {mode}, batch {batch}, size {size}")
            self.fields_follow(tab)

    def what_if_keeps_apart(self):
        """Sweeps that differ in their steps alone: each is found, with the bytes of `plan`."""
        for steps in (1, 2):
            self.call("sweep", "lenet5", "--batches", "1:6", "--optimizer", "adam", "--steps",
                      str(steps), "--json", f"{steps}.json", "--quiet")
        with self.open(self.report("apart.html", "1.json", "2.json")) as tab:
            for steps in (1, 2):
                for batch in (2, 6):
                    plan = json.loads(self.call(
                        "plan", "lenet5", "--batch", str(batch), "--steps", str(steps),
                        "--optimizer", "adam", "--json", "-"))
                    shown = tab.evaluate(
                        "(() => { const w = arenagradReport.pictures.whatIf[0];"
                        f" w.fields.steps.value = '{steps}'; w.batch.value = {batch};"
                        " w.fields.steps.dispatchEvent(new Event('input', {bubbles: true}));"
                        " return [w.answer.dataset.total, w.fields.steps.isConnected,"
                        " w.fields.layout.isConnected]; })()")
                    where = f"{steps} steps, batch {batch}"
                    equal(shown[1:], [True, False], f"fields of {where}")
                    equal(shown[0], str(plan["bytes"]["peak_requested"]), where)
            equal(tab.complaints(), [], "complaints")

    def fields_follow(self, tab):
        """Another mode brings its micro-batch with it."""
        for mode, micro in (("per-step", "1"), ("full-batch", "the batch")):
            got = tab.evaluate("(() => { const w = arenagradReport.pictures.whatIf[0];"
                               f" w.fields.mode.value = '{mode}';"
                               " w.fields.mode.dispatchEvent(new Event('input',"
                               " {bubbles: true})); return [w.fields['micro-batch'].value,"
                               " w.answer.dataset.total > 0]; })()")
            equal(got, [micro, True], f"fields after {mode}")

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

CASES = ["opens_quietly", "prints_whole", "stays_without_script", "events_are_the_ledgers", "taps_pin",
         "highest_is_drawn", "two_runs_by_phase", "what_if_is_the_cli", "what_if_keeps_apart",
         "holds_many_events"]


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
