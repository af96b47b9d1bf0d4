// Where buffers lie: a rectangle each, as wide as it lives and as high as its bytes.

/** Between addresses and heights of the picture; spans are [from, to, at]. */
class AddressMap {
  constructor(spans) {
    this.spans = spans;
    const last = spans[spans.length - 1];
    this.top = last ? last[2] + last[1] - last[0] : 1;
  }

  /** The span that holds a value of its column `at` or below. */
  span(value, column) {
    const {spans} = this;
    return spans[lastUpTo(spans.length, (i) => spans[i][column], value)] ?? [0, 0, 0];
  }

  place(address) {
    const [from, to, at] = this.span(address, 0);
    return at + Math.min(address, to) - from;
  }

  address(place) {
    const [from, to, at] = this.span(place, 2);
    return Math.min(from + Math.max(place - at, 0), to);
  }
}

class AddressPicture {
  constructor(box, ledger, spans) {
    this.ledger = ledger;
    this.map = new AddressMap(spans);
    this.lives = this.findLives();
    this.chart = new Chart(box, [1, ledger.count + 1],
                           (from, to) => [[from, 0], [to, 0]], {
      labels: ["event", "address"],
      colors: ["transparent"],
      strokeWidth: 0,
      valueRange: [0, this.map.top * 1.02],
      underlayCallback: (context, area, graph) => this.draw(context, area, graph),
      axes: {
        y: {ticker: (low, high, pixels) => byteTicks(low, high, pixels).map(({v}) =>
          ({v, label: humanBytes(Math.round(this.map.address(v)))}))},
        x: {axisLabelFormatter: (x) => Number.isInteger(x) ? withCommas(x) : "",
            axisLabelWidth: 70},
      },
    });
    const chart = this.chart;
    chart.show = (from, to) => {  // heights stay as they are zoomed
      const width = Math.min(Math.max(to - from, 2), chart.whole[1] - chart.whole[0]);
      const begin = Math.min(Math.max(from, chart.whole[0]), chart.whole[1] - width);
      chart.window = [begin, begin + width];
      chart.used = chart.columns();
      chart.drawn = chart.rows(...chart.window);
      const whole = width === chart.whole[1] - chart.whole[0];
      chart.graph.updateOptions({file: chart.drawn, dateWindow: [...chart.window],
        valueRange: whole ? [0, this.map.top * 1.02] : chart.graph.yAxisRange()});
      chart.moved(chart.window);
    };
    chart.buttons();
    this.text = make("p", {class: "panel", "aria-live": "polite"}, "Point at a buffer.");
    box.append(this.text);
    const {canvas} = this.chart;
    canvas.addEventListener("mousemove", oncePerFrame((mouse) => this.hover(mouse)));
  }

  recolour() {
    this.chart.recolour();
  }

  /** Lives in the order of their births; a slot for each place on the y axis. */
  findLives() {
    const {events, count} = this.ledger;
    const open = new Map(), slots = new Map();
    const lives = [];
    for (let e = 1; e <= count; ++e) {
      const what = events.what[e - 1];
      if (what > 1) continue;
      const buffer = events.buffer[e - 1];
      if (what === 1) {
        open.get(buffer).to = e;
        continue;
      }
      const low = this.map.place(events.offset[e - 1]);
      const category = this.ledger.category[events.kind[e - 1]];
      const granted = events.granted[e - 1];
      const key = `${low},${granted},${category}`;
      if (!slots.has(key)) slots.set(key, slots.size);
      const life = {from: e, to: count + 1, low, high: low + granted, category,
                    slot: slots.get(key)};
      open.set(buffer, life);
      lives.push(life);
    }
    this.slots = slots.size;
    return lives;
  }

  /** Lives shorter than a pixel are one wide; of several in one place of a column one is drawn. */
  draw(context, area, graph) {
    const [x0, x1] = graph.xAxisRange(), [y0, y1] = graph.yAxisRange();
    const perX = area.w / (x1 - x0), perY = area.h / (y1 - y0);
    const colours = kCategories.map((_, c) => colour(`--c${c}`)), edge = colour("--page");
    const column = new Int32Array(this.slots).fill(-1);
    context.save();
    context.beginPath();
    context.rect(area.x, area.y, area.w, area.h);
    context.clip();
    for (const life of this.lives) {
      if (life.from >= x1) break;
      if (life.to <= x0 || life.high <= y0 || life.low >= y1) continue;
      const left = area.x + (life.from - x0) * perX, width = (life.to - life.from) * perX;
      const top = area.y + (y1 - life.high) * perY, height = (life.high - life.low) * perY;
      if (width < 1) {
        if (column[life.slot] === Math.floor(left)) continue;
        column[life.slot] = Math.floor(left);
      }
      context.fillStyle = colours[life.category];
      context.fillRect(left, top, Math.max(width, 1), Math.max(height, 0.7));
      if (width < 4 || height < 4) continue;
      context.strokeStyle = edge;
      context.lineWidth = 0.7;
      context.strokeRect(left, top, width, height);
    }
    context.restore();
  }

  hover(mouse) {
    const x = Math.floor(this.chart.xOf(mouse)), y = this.chart.yOf(mouse);
    const life = this.lives.findLast((one) =>
      one.from <= x && x < one.to && one.low <= y && y < one.high);
    if (!life) {
      this.text.textContent = `event ${withCommas(x)}: nothing lies at ` +
        `${withCommas(Math.round(this.map.address(Math.max(y, 0))))}`;
      return;
    }
    const kind = this.ledger.kind(life.from);
    this.text.textContent = `${this.ledger.name(life.from)}, ${kind.shape}, ${kind.category}: ` +
      `${exactBytes(kind.bytes)} at offset ` +
      `${withCommas(this.ledger.events.offset[life.from - 1])}, ` +
      `events ${withCommas(life.from)} to ${withCommas(life.to)}`;
  }
}
