#!/usr/bin/env python3
"""How soon a report is drawn and zoomed in headless Chromium, and how large it is.

usage: report_in_browser.py PROGRAM        exit 77: no browser here

Each page is opened five times; the least and the middle one of each time are printed. "drawn" is
wall-clock from the address to the last picture on screen; "thread" the processor time of the page's
thread until then, which a busy machine changes less. A zoom is eight steps in and out.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/report"))
import browser  # noqa: E402

MODEL = ["resnet18", "--batch", "2", "--input", "3x64x64", "--events", "--quiet"]
RUNS = {"hundred.json": ["--steps", "250"], "million.json": ["--steps", "2500"],
        "turns.json": ["--steps", "250", "--micro-batch", "1", "--mode", "per-step"]}
PAGES = [["hundred.json"], ["million.json"], ["hundred.json", "turns.json"]]
ZOOMS = ("(() => { const p = arenagradReport.pictures, c = (p.two[0] ?? p.timeline[0]).chart;"
         " return [0.5, 0.5, 0.5, 0.1, 2, 2, 2, 2].map(by => { const t = performance.now();"
         " c.zoom(by); return performance.now() - t; }); })()")


def once(chromium, page):
    """Drawn, thread and all zooms, in ms."""
    with browser.Browser(chromium) as tab:
        tab.call("Performance.enable", timeDomain="threadTicks")
        tab.open(page)
        drawn = float(tab.evaluate("document.documentElement.dataset.drawn"))
        metrics = {m["name"]: m["value"] for m in tab.call("Performance.getMetrics")["metrics"]}
        return drawn, metrics["TaskDuration"] * 1000, tab.evaluate(ZOOMS)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    chromium = browser.find()
    if not chromium:
        print("report_in_browser: no Chromium here")
        sys.exit(77)
    program = os.path.abspath(sys.argv[1])
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"{'events':>10} {'page, bytes':>12} {'drawn, ms':>12} {'thread, ms':>12} {'zoom, ms':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for name, more in RUNS.items():
            subprocess.run([program, "plan", *MODEL, *more, "--json", name], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL)
        for inputs in PAGES:
            subprocess.run([program, "report", *inputs, "-o", "page.html", "--quiet"], cwd=folder,
                           check=True, stdout=subprocess.DEVNULL)
            page = os.path.join(folder, "page.html")
            events = 0
            for name in inputs:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    events += json.load(file)["events"]
            times = [once(chromium, page) for _ in range(5)]
            zooms = [zoom for time in times for zoom in time[2]]
            columns = [[time[0] for time in times], [time[1] for time in times], zooms]
            print(f"{events:>10,} {os.path.getsize(page):>12,}", *(
                f"{f'{min(c):.0f} / {statistics.median(c):.0f}':>12}" for c in columns))


if __name__ == "__main__":
    main()
