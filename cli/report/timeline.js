// Memory over time, and the event that is looked at.

/** What there is to say of an event: the same words for mouse, keyboard and address. */
class EventPanel {
  constructor(box) {
    this.element = make("div", {class: "panel", "aria-live": "polite"});
    box.append(this.element);
  }

  show(ledger, e, pinned, among) {
    const {events} = ledger;
    const what = kWhat[events.what[e - 1]];
    const buffer = events.what[e - 1] < 2;
    const total = ledger.totals[e];
    this.element.dataset.event = e;
    this.element.dataset.total = total;
    const facts = [
      ["event", `${withCommas(e)} of ${withCommas(ledger.count)}${pinned ? ", pinned" : ""}` +
                (among > 1 ? `, the highest of ${withCommas(among)} under the pointer` : "")],
      ["at", ledger.where(e)],
    ];
    if (buffer) {
      const kind = ledger.kind(e);
      this.element.dataset.bytes = kind.bytes;
      facts.push([what, `${ledger.name(e)}, ${kind.shape}, ${kind.category}` +
                        (kind.layer < 0 ? "" : ` of ${ledger.layer(kind.layer)}`)],
                 ["bytes", `${exactBytes(kind.bytes)} at offset ` +
                           withCommas(events.offset[e - 1])]);
    } else {
      delete this.element.dataset.bytes;
      facts.push(["driver", `${what} ${exactBytes(events.granted[e - 1])}`]);
    }
    const below = ledger.totals[ledger.peak] - total;
    facts.push(["live", exactBytes(total) + (e === ledger.peak ? ", the peak"
                                             : `, ${exactBytes(below)} below the peak`)]);
    const list = make("dl", {});
    for (const [term, text] of facts) list.append(make("dt", {}, term), make("dd", {}, text));
    const parts = [...ledger.at(e)].map((bytes, c) => [c, bytes]).filter(([, bytes]) => bytes > 0);
    const table = make("table", {}, tableBody(parts.map(([c, bytes]) => [kCategories[c],
      exactBytes(bytes)])));
    table.querySelectorAll("tr").forEach((row, i) => {
      row.dataset.category = kCategories[parts[i][0]];
      row.dataset.bytes = parts[i][1];
      row.firstChild.prepend(make("span", {class: `swatch b${parts[i][0]}`}));
    });
    this.element.replaceChildren(list, make("div", {class: "scroll"}, table));
  }
}

/**
 * One series of a stack as steps, filled down to the series below. dygraphs strokes every piece of
 * every line, which takes four times as long.
 */
function fillSteps(series) {
  const {drawingContext: context, points, allSeriesPoints, seriesIndex, color, plotArea} = series;
  const below = allSeriesPoints[seriesIndex + 1];
  const bottom = (i) => below ? below[i].canvasy : plotArea.y + plotArea.h;
  if (points.length === 0) return;
  const x = points.map((point) => Math.round(point.canvasx));
  context.beginPath();
  context.moveTo(x[0], points[0].canvasy);
  for (let i = 1; i < points.length; ++i) {
    context.lineTo(x[i], points[i - 1].canvasy);
    context.lineTo(x[i], points[i].canvasy);
  }
  for (let i = points.length - 1; i > 0; --i) {
    context.lineTo(x[i], bottom(i - 1));
    context.lineTo(x[i - 1], bottom(i - 1));
  }
  context.fillStyle = color;
  context.fill();
}

class TimelinePicture {
  /** `pinned(event or null)` and `moved(window)` tell the other pictures of this run. */
  constructor(box, ledger, index) {
    this.ledger = ledger;
    this.index = index;
    this.pin = null;
    this.box = box;
    this.listeners = [];
    this.shown = kCategories.map((_, c) => c).filter((c) => ledger.used[c]).reverse();
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "memory over time; arrow keys step through the events");
    this.chart = new Chart(box, [1, ledger.count + 1], (...window) => this.rows(...window), {
      labels: ["event", ...this.shown.map((c) => kCategories[c])],
      colors: this.colours(),
      stackedGraph: true,
      stepPlot: true,
      plotter: fillSteps,
      includeZero: true,
      axes: {
        y: {ticker: byteTicks},
        x: {axisLabelFormatter: (x) => Number.isInteger(x) ? withCommas(x) : "",
            axisLabelWidth: 70},
      },
    }, () => this.moved());
    this.chart.buttons(["peak", "look at the peak", () => this.set(ledger.peak)],
                       ["◂", "event before", () => this.step(-1)],
                       ["▸", "next event", () => this.step(1)]);
    this.panel = new EventPanel(box);
    box.append(make("p", {class: "hint"}, "Drag to zoom, double click for all, click to pin. " +
      "Keys: arrows step (with shift by ten), page up and down by layer, home, end, P peak, " +
      "+ and - zoom, 0 all, escape lets go."));
    this.listen();
    this.moved();
    this.set(null);
  }

  colours() {
    return this.shown.map((c) => colour(`--c${c}`));
  }

  recolour() {
    this.chart.recolour({colors: this.colours()});
  }

  rows(from, to, columns) {
    const {ledger} = this;
    const begin = Math.max(1, Math.floor(from)), end = Math.min(ledger.count, Math.ceil(to));
    const {events, x} = ledger.chosen(begin, end, columns);
    const rows = [];
    ledger.each(events, (composition, i) =>
      rows.push([x[i], ...this.shown.map((c) => composition[c])]));
    rows.push([end + 1, ...rows[rows.length - 1].slice(1)]);  // so that the last one has a width
    return rows;
  }

  listen() {
    this.chart.listen({
      hover: (mouse) => this.hover(mouse),
      leave: () => this.leave(),
      click: (mouse) => this.set(this.under(mouse)[0]),
    });
    this.box.addEventListener("keydown", (key) => this.key(key));
  }

  /** The highest event under a pointer, and how many are. */
  under(mouse) {
    const {ledger, chart} = this;
    const x = chart.xOf(mouse);
    const perPixel = (chart.window[1] - chart.window[0]) / chart.graph.getArea().w;
    const inside = (e) => Math.min(Math.max(e, 1), ledger.count);
    if (perPixel <= 1) return [inside(Math.floor(x)), 1];
    const from = inside(Math.floor(x - perPixel / 2)), to = inside(Math.floor(x + perPixel / 2));
    return [ledger.highest(from, to), to - from + 1];
  }

  hover(mouse) {
    const [e, among] = this.under(mouse);
    this.chart.mark("hover", e);
    this.panel.show(this.ledger, e, false, among);
  }

  leave() {
    this.chart.mark("hover", null);
    this.panel.show(this.ledger, this.pin ?? this.ledger.peak, this.pin !== null, 1);
  }

  /** Pins an event, or lets go with null. */
  set(e) {
    this.pin = e === null ? null : Math.min(Math.max(Math.round(e), 1), this.ledger.count);
    const at = this.pin ?? this.ledger.peak;
    const [from, to] = this.chart.window;
    if (this.pin !== null && (at < from || at >= to))
      this.chart.show(at - (to - from) / 2, at + (to - from) / 2);
    this.leave();
    this.marks();
    this.listeners.forEach((tell) => tell(at, this.pin !== null));
  }

  step(by) {
    this.set((this.pin ?? this.ledger.peak) + by);
  }

  /** To where the next or the last piece of work begins. */
  stepScope(by) {
    const {events, count} = this.ledger;
    let e = this.pin ?? this.ledger.peak;
    const same = (a, b) => events.scope[a - 1] === events.scope[b - 1] &&
                           events.step[a - 1] === events.step[b - 1];
    for (e += by; e > 1 && e <= count && same(e, e - 1);) e += by;
    this.set(e);
  }

  key(key) {
    if (key.ctrlKey || key.metaKey || key.altKey || key.target !== this.box) return;
    const by = key.shiftKey ? 10 : 1;
    const around = this.pin ?? this.ledger.peak;
    const calls = {
      ArrowLeft: () => this.step(-by), ArrowRight: () => this.step(by),
      PageUp: () => this.stepScope(-1), PageDown: () => this.stepScope(1),
      Home: () => this.set(1), End: () => this.set(this.ledger.count),
      p: () => this.set(this.ledger.peak), P: () => this.set(this.ledger.peak),
      "+": () => this.chart.zoom(0.5, around), "-": () => this.chart.zoom(2, around),
      0: () => this.chart.show(...this.chart.whole), Escape: () => this.set(null),
    };
    if (!calls[key.key]) return;
    key.preventDefault();
    calls[key.key]();
  }

  marks() {
    const {ledger, chart} = this;
    chart.mark("peak", ledger.peak || null, `peak ${humanBytes(ledger.totals[ledger.peak])}`);
    chart.mark("pin", this.pin, this.pin === null ? "" : withCommas(this.pin));
  }

  moved() {
    if (!this.panel) return;
    this.marks();
    this.chart.mark("hover", null);
  }
}
