// Peaks against the batch (or the size of an image), and the line that rules.

const sumOf = (categories) => Object.values(categories).reduce((sum, value) => sum + value, 0);

class SweepPicture {
  constructor(box, json) {
    const over = Object.keys(json.decomposition).length === 0 ? "side" : "batch";
    const x = (point) => over === "batch" ? point.batch : Number(point.input.split("x").pop());
    const points = json.points.filter((point) => point.bytes);
    const modes = [...new Set(points.map((point) => point.mode))];
    const lines = modes.filter((mode) => json.decomposition[mode]?.pieces.length);
    const places = [...new Set([...(over === "batch" ? [0] : []), ...points.map(x)])]
      .sort((a, b) => a - b);
    const peaks = new Map(points.map((point) => [`${point.mode} ${x(point)}`,
                                                 point.bytes.peak_requested]));
    const rows = places.map((place) => [
      place,
      ...modes.map((mode) => peaks.get(`${mode} ${place}`) ?? null),
      ...lines.map((mode) => this.line(json.decomposition[mode], place)),
    ]);
    const names = lines.map((mode) => `${mode}, the line`);
    const colours = () => [...modes, ...lines].map((mode) => colour(`--s${modes.indexOf(mode)}`));
    const series = {};
    lines.forEach((mode, i) => {
      series[names[i]] = {strokePattern: [6, 4], strokeWidth: 1, drawPoints: false};
    });
    const last = places[places.length - 1];
    this.chart = new Chart(box, [places[0], last > places[0] ? last : places[0] + 1], () => rows, {
      labels: [over, ...modes, ...names],
      colors: colours(),
      series,
      drawPoints: true,
      pointSize: 2.5,
      strokeWidth: 1.5,
      includeZero: true,
      highlightCircleSize: 4,
      connectSeparatedPoints: true,
      highlightCallback: (_, at) => this.show(over, at, rows.find((row) => row[0] === at),
                                              [...modes, ...names]),
      axes: {y: {ticker: byteTicks}},
    });
    this.colours = colours;
    this.chart.buttons();
    const key = make("ul", {class: "legend"}, ...modes.map((mode, i) =>
      make("li", {}, make("span", {class: `swatch t${i}`}), this.legend(mode, json))));
    this.text = make("p", {class: "panel", "aria-live": "polite"},
                     over === "batch" ? "Point at a batch." : "Point at a size.");
    box.append(key, this.text);
  }

  recolour() {
    this.chart.recolour({colors: this.colours()});
  }

  line(d, batch) {
    const forwards = d.micro_batch ? batch / d.micro_batch : 1;
    return sumOf(d.fixed) + sumOf(d.per_sample) * batch + sumOf(d.per_forward) * forwards;
  }

  legend(mode, json) {
    const d = json.decomposition[mode];
    if (!d?.pieces.length) return mode;
    const forward = sumOf(d.per_forward);
    return `${mode}: fixed ${exactBytes(sumOf(d.fixed))}, ` +
      `${exactBytes(sumOf(d.per_sample))} a sample` +
      (forward ? `, ${exactBytes(forward)} a micro-batch` : "") +
      ` (dashed; from batch ${d.valid_from})`;
  }

  show(over, at, row, names) {
    this.text.textContent = `${over} ${at}: ` + names.map((name, i) =>
      row[i + 1] === null ? "" : `${name} ${exactBytes(Math.round(row[i + 1]))}`)
      .filter(Boolean).join("; ");
  }
}
