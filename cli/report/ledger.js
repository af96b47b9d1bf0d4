// A run's books, at any event. Event e is counted from 1; "at e" is what is live after it.

const kEvery = 256;  // events between two compositions that are kept

class Ledger {
  constructor(timeline) {
    this.timeline = timeline;
    this.events = decodeEvents(timeline);
    this.count = this.events.count;
    this.category = timeline.kinds.map((kind) => kCategories.indexOf(kind.category));
    this.bytes = Float64Array.from(timeline.kinds, (kind) => kind.bytes);
    this.totals = new Float64Array(this.count + 1);
    this.kept = new Float64Array((Math.floor(this.count / kEvery) + 1) * kCategories.length);
    this.used = kCategories.map(() => false);
    const now = new Float64Array(kCategories.length);
    for (let e = 0; e <= this.count; ++e) {
      if (e > 0) {
        const category = this.apply(now, e);
        const difference = this.difference(e);
        this.totals[e] = this.totals[e - 1] + difference;
        if (difference > 0) this.used[category] = true;
      }
      if (e % kEvery === 0) this.kept.set(now, e / kEvery * kCategories.length);
    }
    this.peak = this.highest(0, this.count);
  }

  /** Bytes that an event adds. */
  difference(e) {
    const what = this.events.what[e - 1];
    return what > 1 ? 0 : (what === 0 ? 1 : -1) * this.bytes[this.events.kind[e - 1]];
  }

  apply(composition, e) {
    const category = this.category[this.events.kind[e - 1]];
    if (this.events.what[e - 1] < 2) composition[category] += this.difference(e);
    return category;
  }

  /** Live bytes by category. */
  at(e) {
    const from = Math.floor(e / kEvery);
    const result = this.kept.slice(from * kCategories.length, (from + 1) * kCategories.length);
    for (let i = from * kEvery + 1; i <= e; ++i) this.apply(result, i);
    return result;
  }

  /** Calls with the composition, not to be kept, at events in ascending order. */
  each(events, call) {
    let now = null, at = 0;
    events.forEach((e, i) => {
      if (now === null || e - at > kEvery) {
        now = this.at(e);
      } else {
        while (at < e) this.apply(now, ++at);
      }
      at = e;
      call(now, i);
    });
  }

  /** The first event in [from, to] with the highest total. */
  highest(from, to) {
    let best = from;
    for (let e = from + 1; e <= to; ++e) if (this.totals[e] > this.totals[best]) best = e;
    return best;
  }

  /**
   * Events that show [from, to] in so many columns, and where each is drawn: all of them where
   * there is room; else of each column the lowest and the highest, in their order, half a column
   * each. So whatever is drawn is true, and nothing that sticks out is left out or thinner than
   * half a column.
   */
  chosen(from, to, columns) {
    const result = {events: [], x: []};
    const add = (e, x) => {
      result.events.push(e);
      result.x.push(x);
    };
    const count = to - from + 1;
    if (count <= 2 * columns) {
      for (let e = from; e <= to; ++e) add(e, e);
      return result;
    }
    for (let i = 0; i < columns; ++i) {
      const begin = from + Math.floor(count * i / columns);
      const end = from + Math.floor(count * (i + 1) / columns);
      extremes(begin, end, (e) => this.totals[e])
        .forEach((e, k) => add(e, from + count * (i + k / 2) / columns));
    }
    return result;
  }

  /** Allocations (event numbers) of what is live, in order. */
  live(e) {
    const born = new Map();
    for (let i = 0; i < e; ++i) {
      if (this.events.what[i] === 0) born.set(this.events.buffer[i], i + 1);
      if (this.events.what[i] === 1) born.delete(this.events.buffer[i]);
    }
    return [...born.values()].sort((a, b) => a - b);
  }

  layer(index) {
    return index < 0 ? "" : this.timeline.layers[index];
  }

  kind(e) {
    return this.timeline.kinds[this.events.kind[e - 1]];
  }

  name(e) {
    const kind = this.kind(e);
    return kind.micro ? `${kind.name} (micro-batch ${this.events.micro[e - 1]})` : kind.name;
  }

  /** "step 1, backward of conv2". */
  where(e) {
    const scope = this.timeline.scopes[this.events.scope[e - 1]];
    const step = this.events.step[e - 1];
    const phase = step > 0 ? `step ${step}, ${scope.phase}` : scope.phase;
    return scope.layer < 0 ? phase : `${phase} of ${this.layer(scope.layer)}`;
  }
}
