// What a setting would take, from the sweeps of this page, in whole numbers.

/** Bytes by category, and their total, by the piece that holds at a batch. */
function evaluate(decomposition, samples) {
  const batch = BigInt(samples);
  const micro = decomposition.micro_batch === null ? batch : BigInt(decomposition.micro_batch);
  const forwards = (batch + micro - 1n) / micro;
  const piece = decomposition.pieces.findLast((one) => BigInt(one.from) <= batch) ??
    decomposition.pieces[0];
  const bytes = {};
  let total = 0n;
  for (const category of kCategories) {
    bytes[category] = BigInt(piece.fixed[category]) + BigInt(piece.per_sample[category]) * batch +
      BigInt(piece.per_forward[category]) * forwards;
    total += bytes[category];
  }
  return {bytes, total, at: piece.peak_at, inside: batch <= BigInt(piece.to)};
}

const planned = (point) => ({
  bytes: Object.fromEntries(
    kCategories.map((c) => [c, BigInt(point.bytes.by_category_at_peak[c])])),
  total: BigInt(point.bytes.peak_requested),
  at: point.peak_at,
});

function optimizerName({kind, momentum, nesterov}) {
  return momentum ? `${kind}, momentum ${momentum}${nesterov ? ", nesterov" : ""}` : kind;
}

/** Of a sweep over images the command line alone says it. */
function microBatch(json, point) {
  const line = json.decomposition[point.mode];
  if (line) return String(line.micro_batch ?? "the batch");
  const words = json.argv ?? [];
  const at = words.findIndex((word) => word.split("=")[0] === "--micro-batch");
  if (at < 0) return "1";
  return words[at].split("=")[1] ?? words[at + 1];
}

class WhatIf {
  /** `made`: by setting, what each sweep was made under; it keeps those that differ apart. */
  constructor(box, sweeps, made) {
    this.sweeps = sweeps;
    this.settings = {
      "image size": (json, point) => point.input ?? "as the spec has it",
      mode: (json, point) => point.mode,
      "micro-batch": (json, point) =>
        point.mode === "full-batch" ? "the batch" : microBatch(json, point),
      policy: (json) => json.policy,
      optimizer: (json) => optimizerName(json.optimizer_settings),
    };
    const always = [...Object.keys(this.settings), "model", "steps"];
    for (const [name, values] of Object.entries(made))
      this.settings[name] = (json) => values[sweeps.indexOf(json)] || "not said";
    this.cases = this.findCases();
    this.fields = {};
    const form = make("form", {class: "fields"});
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const name of Object.keys(this.settings)) {
      const values = [...new Set(this.cases.map((one) => one[name]))];
      const field = make("select", {name}, ...values.map((value) => make("option", {}, value)));
      field.disabled = values.length === 1;
      this.fields[name] = field;
      // The page says what all have in common.
      if (values.length > 1 || always.includes(name)) form.append(make("label", {}, name, field));
    }
    this.batch = make("input", {type: "number", min: 1, step: 1, value: 8, name: "batch",
                                inputmode: "numeric"});
    form.prepend(make("label", {}, "batch", this.batch));
    this.answer = make("output", {class: "panel"});
    box.append(form, this.answer);
    form.addEventListener("input", (event) => {
      this.follow(event.target.name);
      this.show();
    });
    this.show();
  }

  /** Sets the other fields to what was swept with the one just set, where they were not. */
  follow(name) {
    const names = Object.keys(this.settings);
    const agreeing = (one) => names.filter((key) => one[key] === this.fields[key].value).length;
    const possible = this.cases.filter((one) => one[name] === this.fields[name]?.value);
    if (possible.length === 0) return;
    const best = possible.reduce((a, b) => agreeing(b) > agreeing(a) ? b : a);
    for (const key of names) this.fields[key].value = best[key];
  }

  /** One for each combination of settings that was swept. */
  findCases() {
    const cases = new Map();
    for (const json of this.sweeps) {
      for (const point of json.points) {
        if (!point.bytes) continue;
        const one = {};
        for (const [name, of] of Object.entries(this.settings)) one[name] = of(json, point);
        const key = JSON.stringify(one);
        if (!cases.has(key)) cases.set(key, {...one, points: new Map(), lines: new Set()});
        const found = cases.get(key);
        found.points.set(point.batch, point);
        const line = json.decomposition[point.mode];
        if (line?.pieces.length) found.lines.add(line);
      }
    }
    return [...cases.values()];
  }

  /** What is known of a batch under settings: {bytes, total, at, how} or {missing}. */
  at(settings, batch) {
    const found = this.cases.find((one) =>
      Object.keys(this.settings).every((name) => one[name] === settings[name]));
    if (!found) return {missing: "no sweep of this page has these settings together"};
    const point = found.points.get(batch);
    const pieces = this.lineAt(found, batch);
    if (!pieces)
      return point ? {...planned(point), how: "planned"}
                   : {missing: "this image size was swept at other batches"};
    const result = evaluate(pieces, batch);
    if (point) {
      const plan = planned(point);
      return plan.total === result.total
        ? {...result, how: "by the formula, and planned: equal"}
        : {...plan, how: `planned; the formula is ${humanBytes(plan.total - result.total)} off ` +
                         `(${pieces.residual_cause ?? "this batch is on no line"})`};
    }
    return {...result, how: result.inside
      ? "by the formula; this batch was not planned by itself: scratch that changes with it, or " +
        "an uneven last micro-batch, would not show"
      : "by the formula of the largest batch that was swept"};
  }

  /** Of sweeps over several batches the line that was examined around this one, or else the one
   *  that reaches furthest. */
  lineAt(found, batch) {
    const lines = [...found.lines];
    const last = (line) => line.pieces[line.pieces.length - 1].to;
    return lines.find((line) => line.pieces[0].from <= batch && batch <= last(line)) ??
      lines.sort((a, b) => last(b) - last(a))[0] ?? null;
  }

  show() {
    const settings = Object.fromEntries(
      Object.entries(this.fields).map(([name, field]) => [name, field.value]));
    const batch = Number(this.batch.value);
    if (!Number.isSafeInteger(batch) || batch < 1) {
      this.answer.replaceChildren("expected a batch of 1 or more");
      return;
    }
    const result = this.at(settings, batch);
    if (result.missing) {
      delete this.answer.dataset.total;
      this.answer.replaceChildren(`${result.missing}; make one with arenagrad sweep and --json, ` +
                                  "and give its file to arenagrad report too");
      return;
    }
    this.answer.dataset.total = result.total;
    const rows = kCategories.filter((c) => result.bytes[c] !== 0n)
      .map((c) => [c, exactBytes(result.bytes[c])]);
    this.answer.replaceChildren(
      make("p", {}, make("strong", {}, exactBytes(result.total)),
           ` at the peak, in ${result.at}; ${result.how}.`),
      make("div", {class: "scroll"}, make("table", {}, tableBody(rows))));
  }
}
