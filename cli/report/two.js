// Two runs on one axis, phase by phase, and the difference wherever one looks.

class TwoPicture {
  constructor(box, ledgers, titles, slots) {
    this.slots = slots;
    this.runs = ledgers.map((ledger) => new PhasedRun(ledger, slots));
    this.box = box;
    this.pin = null;
    const end = slots[slots.length - 1][3];
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "two runs, phase by phase; arrow keys step through the events");
    this.chart = new Chart(box, [0, end], (...window) => this.rows(...window), {
      labels: ["phase", ...titles],
      colors: this.colours(),
      connectSeparatedPoints: true,
      stepPlot: true,
      strokeWidth: 1.5,
      includeZero: true,
      axes: {y: {ticker: byteTicks},
             x: {ticker: (low, high, pixels) => this.ticks(low, high, pixels), axisLabelWidth: 90}},
    }, () => this.marks());
    this.chart.least = 1e-3;
    this.chart.buttons(
      ...this.runs.map((run, i) => [`peak of ${"AB"[i]}`, "look at its peak",
                                    () => this.set(this.peakOf(run))]),
      ["◂", "event before", () => this.step(-1)], ["▸", "next event", () => this.step(1)]);
    box.append(make("ul", {class: "legend"}, ...titles.map((title, i) =>
      make("li", {}, make("span", {class: `swatch t${i}`}), title))));
    this.panel = make("div", {class: "panel", "aria-live": "polite"});
    box.append(this.panel, make("p", {class: "hint"}, "Drag to zoom, double click for all, click " +
      "to pin. Keys: arrows step, A and B their peaks, + and - zoom, 0 all, escape lets go."));
    this.listen();
    this.set(null);
  }

  colours() {
    return [colour("--s0"), colour("--s1")];
  }

  recolour() {
    this.chart.recolour({colors: this.colours()});
  }

  rows(from, to, columns) {
    const rows = [];
    this.runs.forEach((run, i) => {
      for (const [x, total] of run.drawn(from, to, columns)) {
        const row = [x, null, null];
        row[i + 1] = total;
        rows.push(row);
      }
    });
    return rows.sort((a, b) => a[0] - b[0]);
  }

  /** Lines where phases begin, and what is seen of each named; of too many, steps are named. */
  ticks(low, high, pixels) {
    const seen = this.slots.filter(([,, begin, end]) => end > low && begin < high);
    const ticks = [];
    const add = (parts, text) => {
      const begin = Math.max(parts[0][2], low);
      const end = Math.min(parts[parts.length - 1][3], high);
      if (begin > low) ticks.push({v: begin, label: ""});
      ticks.push({label_v: (begin + end) / 2, label: text});
    };
    const several = new Set(this.slots.map(([step]) => step)).size > 2;
    const text = ([step, phase]) => step > 0 && several ? `${withCommas(step)} ${phase}` : phase;
    const width = ([,, begin, end]) =>
      (Math.min(end, high) - Math.max(begin, low)) / (high - low) * pixels;
    const fitting = seen.filter((slot) => width(slot) > 7 * text(slot).length);
    if (2 * fitting.length >= seen.length) {
      seen.forEach((slot) => add([slot], fitting.includes(slot) ? text(slot) : ""));
      return ticks;
    }
    const steps = new Map();
    for (const slot of seen) steps.set(slot[0], [...(steps.get(slot[0]) ?? []), slot]);
    const every = Math.ceil(steps.size * 60 / pixels);
    for (const [step, parts] of steps)
      if (step > 0 && step % every === 0)
        add(parts, steps.size > 2 || several ? `step ${withCommas(step)}` : "step");
    return ticks;
  }

  listen() {
    this.chart.listen({
      hover: (mouse) => this.hover(mouse),
      leave: () => this.leave(),
      click: (mouse) => this.set(this.inside(this.chart.xOf(mouse))),
    });
    this.box.addEventListener("keydown", (key) => this.key(key));
  }

  inside(x) {
    return Math.min(Math.max(x, 0), this.chart.whole[1]);
  }

  /** The entry of each run under a pixel, the highest where there are several; null for none. */
  under(x, width) {
    return this.runs.map((run) => {
      if (run.absent(x)) return null;
      const from = run.entryAt(this.inside(x - width / 2));
      return run.highest(from, Math.max(from, run.entryAt(this.inside(x + width / 2))));
    });
  }

  hover(mouse) {
    const x = this.inside(this.chart.xOf(mouse));
    this.chart.mark("hover", x);
    const [from, to] = this.chart.window;
    this.show(x, this.under(x, (to - from) / this.chart.graph.getArea().w));
  }

  leave() {
    this.chart.mark("hover", null);
    const x = this.pin ?? this.peakOf(this.runs[0]);
    this.show(x, this.under(x, 0));
  }

  /** In the middle of its event's place. */
  peakOf(run) {
    return this.middle(run, run.peak);
  }

  middle(run, entry) {
    const s = run.slotOf(entry), [,, begin, end] = this.slots[s];
    return run.xOf(entry) + (end - begin) / (run.start[s + 1] - run.start[s]) / 2;
  }

  set(x) {
    this.pin = x;
    const [from, to] = this.chart.window;
    if (x !== null && (x < from || x >= to))
      this.chart.show(x - (to - from) / 2, x + (to - from) / 2);
    this.leave();
    this.marks();
  }

  /** To the middle of the next event of either run. */
  step(by) {
    const x = this.pin ?? this.peakOf(this.runs[0]);
    const near = this.runs.flatMap((run) => [-1, 0, 1].map((d) => run.entryAt(x) + d)
      .filter((entry) => entry >= 0 && entry < run.entries.length)
      .map((entry) => this.middle(run, entry)))
      .filter((place) => (place - x) * by > 1e-9).sort((a, b) => (a - b) * by);
    if (near.length > 0) this.set(near[0]);
  }

  key(key) {
    if (key.ctrlKey || key.metaKey || key.altKey || key.target !== this.box) return;
    const around = this.pin ?? this.peakOf(this.runs[0]);
    const calls = {
      ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1),
      a: () => this.set(this.peakOf(this.runs[0])), b: () => this.set(this.peakOf(this.runs[1])),
      "+": () => this.chart.zoom(0.5, around), "-": () => this.chart.zoom(2, around),
      0: () => this.chart.show(...this.chart.whole), Escape: () => this.set(null),
    };
    const call = calls[key.key] ?? calls[key.key.toLowerCase()];
    if (!call) return;
    key.preventDefault();
    call();
  }

  marks() {
    if (!this.panel) return;
    this.runs.forEach((run, i) => this.chart.mark(`peak-${"ab"[i]}`,
      run.peak < 0 ? null : this.peakOf(run),
      `peak of ${"AB"[i]} ${humanBytes(run.total(Math.max(run.peak, 0)))}`));
    this.chart.mark("pin", this.pin);
    this.chart.mark("hover", null);
  }

  /** Both runs at x, and their difference by category. */
  show(x, entries) {
    const [step, phase] = this.slots[this.runs[0].slotAt(x)];
    const facts = this.runs.map((run, i) => this.facts(run, entries[i]));
    const both = entries.every((entry) => entry !== null);
    const rows = [];
    const sign = (a, b) => a === b ? "" : b > a ? "+" : "-";
    const exact = (before, bytes) => {
      const [short, rest] = exactBytes(bytes).split(" (");
      return make("span", {}, before + short,
                  ...(rest ? [make("span", {class: "exact"}, ` (${rest}`)] : []));
    };
    const difference = (a, b) => both ? exact(sign(a, b), Math.abs(b - a)) : "";
    const amount = (bytes) => bytes === null ? "" : exact("", bytes);
    const add = (name, a, b) => rows.push([name, amount(a), amount(b), difference(a, b)]);
    kCategories.forEach((name, c) => {
      const [a, b] = facts.map((f) => f.bytes?.[c] ?? null);
      if (a || b) add(name, a, b);
    });
    add("live", ...facts.map((f) => f.total));
    this.panel.dataset.events = facts.map((f) => f.number ?? "none").join(" ");
    this.panel.dataset.totals = facts.map((f) => f.total ?? "none").join(" ");
    const table = make("table", {}, make("thead", {}, make("tr", {},
      ...[step > 0 ? `step ${withCommas(step)}, ${phase}` : phase, "A", "B", "B - A"].map((text, i) =>
        make("th", {scope: "col", class: i > 0 ? "number" : ""}, text)))), tableBody(rows));
    const list = make("dl", {}, ...facts.flatMap((f, i) =>
      [make("dt", {}, "AB"[i]), make("dd", {}, f.text)]));
    this.panel.replaceChildren(list, make("div", {class: "scroll"}, table));
  }

  facts(run, entry) {
    const {ledger} = run;
    if (entry === null) return {text: "no such step", number: null, total: null, bytes: null};
    const e = run.entries[entry];
    const what = e > 0 ? ledger.events.what[e - 1] : null;
    const text = run.held[run.slotOf(entry)] || e === 0
      ? `nothing happens in this phase; as after event ${withCommas(e)}`
      : `event ${withCommas(e)} of ${withCommas(ledger.count)}, ${ledger.where(e)}: ` +
        (what < 2 ? `${kWhat[what]} ${ledger.name(e)}` : `driver: ${kWhat[what]}`);
    return {text, number: e, total: ledger.totals[e], bytes: ledger.at(e)};
  }
}
