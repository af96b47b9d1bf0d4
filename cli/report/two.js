// Two runs on one axis, each from its first event to its last.

class TwoPicture {
  constructor(box, ledgers, titles) {
    this.ledgers = ledgers;
    this.chart = new Chart(box, [0, 100], (...window) => this.rows(...window), {
      labels: ["%", ...titles.map((title, i) => `${"AB"[i]}: ${title}`)],
      colors: [colour("--s0"), colour("--s1")],
      connectSeparatedPoints: true,
      stepPlot: true,
      strokeWidth: 1.5,
      includeZero: true,
      axes: {y: {ticker: byteTicks}, x: {axisLabelFormatter: (x) => `${+x.toFixed(2)} %`}},
    });
    this.chart.buttons();
    box.append(make("ul", {class: "legend"}, ...titles.map((title, i) =>
      make("li", {}, make("span", {class: `swatch t${i}`}), `${"AB"[i]}: ${title}`))));
    this.text = make("p", {class: "panel", "aria-live": "polite"}, "Point at a place.");
    box.append(this.text);
    this.chart.canvas.addEventListener("mousemove", oncePerFrame((mouse) => this.hover(mouse)));
  }

  recolour() {
    this.chart.recolour({colors: [colour("--s0"), colour("--s1")]});
  }

  event(ledger, x) {
    return Math.min(Math.max(Math.ceil(x / 100 * ledger.count), 1), ledger.count);
  }

  rows(from, to, columns) {
    const rows = [];
    this.ledgers.forEach((ledger, i) => {
      const begin = this.event(ledger, from), end = this.event(ledger, to);
      const {events, x} = ledger.chosen(begin, end, columns);
      events.forEach((e, at) => {
        const row = [x[at] / ledger.count * 100, null, null];
        row[i + 1] = ledger.totals[e];
        rows.push(row);
      });
    });
    return rows.sort((a, b) => a[0] - b[0]);
  }

  hover(mouse) {
    const x = Math.min(Math.max(this.chart.xOf(mouse), 0), 100);
    this.chart.mark("hover", x);
    const at = this.ledgers.map((ledger) => this.event(ledger, x));
    const [a, b] = this.ledgers.map((ledger, i) => ledger.totals[at[i]]);
    const parts = this.ledgers.map((ledger, i) =>
      `${"AB"[i]}: event ${withCommas(at[i])}, ${ledger.where(at[i])}, ` +
      exactBytes(ledger.totals[at[i]]));
    const [first, second] = this.ledgers.map((ledger, i) => ledger.at(at[i]));
    const differences = kCategories.map((name, c) => [name, second[c] - first[c]])
      .filter(([, value]) => value !== 0).sort((p, q) => Math.abs(q[1]) - Math.abs(p[1]))
      .map(([name, value]) => `${name} ${value > 0 ? "+" : ""}${humanBytes(value)}`);
    this.text.textContent = `${parts.join("; ")}; B - A ${humanBytes(b - a)}` +
      (differences.length ? `: ${differences.join(", ")}` : "");
  }
}
