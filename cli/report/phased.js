// A run along an axis of phases. The page has the axis: [step, phase, begin, end] of each slot.

class PhasedRun {
  /** An entry is an event, or the one whose level holds where a phase of a step has none. */
  constructor(ledger, slots) {
    this.ledger = ledger;
    this.slots = slots;
    const {count, events: {step, scope}} = ledger;
    const {scopes} = ledger.timeline;
    const place = new Map(slots.map(([ofStep, phase], s) => [`${ofStep} ${phase}`, s]));
    const slot = new Uint32Array(count);
    const sizes = new Float64Array(slots.length), last = new Float64Array(slots.length);
    const steps = new Set(step);
    for (let i = 0; i < count; ++i) {
      const same = i > 0 && scope[i] === scope[i - 1] && step[i] === step[i - 1];
      const s = slot[i] = same ? slot[i - 1] : place.get(`${step[i]} ${scopes[scope[i]].phase}`);
      sizes[s] += 1;
      last[s] = i + 1;
    }
    /** Where a slot's entries begin; `held` those that stand in for events. */
    this.start = new Uint32Array(slots.length + 1);
    this.held = sizes.map((size, s) => size === 0 && steps.has(slots[s][0]) ? 1 : 0);
    for (let s = 0; s < slots.length; ++s)
      this.start[s + 1] = this.start[s] + sizes[s] + this.held[s];
    this.entries = new Uint32Array(this.start[slots.length]);
    for (let s = 0, reached = 0; s < slots.length; ++s) {
      if (this.held[s]) this.entries[this.start[s]] = reached;
      reached = Math.max(reached, last[s]);
    }
    const next = this.start.slice();
    for (let i = 0; i < count; ++i) this.entries[next[slot[i]]++] = i + 1;
    this.peak = this.entries.indexOf(ledger.peak);
  }

  /** The last slot that begins at x or before. */
  slotAt(x) {
    return lastUpTo(this.slots.length, (s) => this.slots[s][2], x);
  }

  /** The entry that is in force at x; where there is none, the next one. */
  entryAt(x) {
    const s = this.slotAt(x);
    const [,, begin, end] = this.slots[s];
    const size = this.start[s + 1] - this.start[s];
    if (size === 0) return this.start[s];
    const share = Math.floor((x - begin) / (end - begin) * size);
    return this.start[s] + Math.min(Math.max(share, 0), size - 1);
  }

  /** Whether the run has no such step. */
  absent(x) {
    const s = this.slotAt(x);
    return this.start[s] === this.start[s + 1];
  }

  slotOf(entry) {
    return lastUpTo(this.slots.length, (s) => this.start[s], entry);
  }

  /** Where an entry begins. */
  xOf(entry) {
    const s = this.slotOf(entry);
    const [,, begin, end] = this.slots[s];
    return begin + (entry - this.start[s]) / (this.start[s + 1] - this.start[s]) * (end - begin);
  }

  total(entry) {
    return this.ledger.totals[this.entries[entry]];
  }

  /** The first entry from `from` to `to` with the highest total. */
  highest(from, to) {
    let best = from;
    for (let i = from + 1; i <= to; ++i) if (this.total(i) > this.total(best)) best = i;
    return best;
  }

  /**
   * [x, total] in [from, to], NaN where there is no such step: every entry where there is room;
   * else of each column the lowest and the highest in their order, as in Ledger.chosen.
   */
  drawn(from, to, columns) {
    const points = [];
    const first = this.entryAt(from), last = this.entryAt(to);
    if (last - first < 2 * columns) {
      for (let s = this.slotAt(from); s < this.slots.length && this.slots[s][2] <= to; ++s) {
        if (this.start[s] === this.start[s + 1]) points.push([this.slots[s][2], NaN]);
        for (let i = Math.max(first, this.start[s]); i < this.start[s + 1] && i <= last; ++i)
          points.push([this.xOf(i), this.total(i)]);
      }
    } else {
      for (let i = 0; i < columns; ++i) {
        const x = from + (to - from) * i / columns, half = (to - from) / columns / 2;
        this.column(points, x, half);
      }
    }
    if (!this.absent(to)) points.push([to, this.total(last)]);
    return points;
  }

  column(points, x, half) {
    const begin = this.entryAt(x), end = this.entryAt(x + 2 * half);
    if (begin === end) {
      if (this.absent(x)) points.push([x, NaN]);
      else if (points.length === 0) points.push([x, this.total(begin)]);
      return;
    }
    extremes(begin, end, (i) => this.total(i))
      .forEach((i, k) => points.push([x + k * half, this.total(i)]));
  }
}
