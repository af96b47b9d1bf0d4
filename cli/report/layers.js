// Which layers hold what is live at the event that is looked at.

const kMostBars = 30;

class LayersPicture {
  constructor(box, ledger) {
    this.ledger = ledger;
    this.bars = make("div", {class: "bars"});
    box.append(this.bars);
    this.when = box.closest("section").querySelector(".when");
  }

  /** By layer, the largest first: [layer, bytes by category, total]. */
  at(e) {
    const {ledger} = this;
    const layers = new Map();
    for (const born of ledger.live(e)) {
      const kind = ledger.kind(born);
      if (!layers.has(kind.layer))
        layers.set(kind.layer, [ledger.layer(kind.layer) || "none", kCategories.map(() => 0), 0]);
      const row = layers.get(kind.layer);
      row[1][ledger.category[ledger.events.kind[born - 1]]] += kind.bytes;
      row[2] += kind.bytes;
    }
    return [...layers.values()].sort((a, b) => b[2] - a[2]);
  }

  show(e, pinned) {
    const rows = this.at(e);
    if (rows.length > kMostBars) {
      const rest = rows.splice(kMostBars);
      rows.push([`${rest.length} others`,
                 kCategories.map((_, c) => rest.reduce((sum, row) => sum + row[1][c], 0)),
                 rest.reduce((sum, row) => sum + row[2], 0)]);
    }
    const most = Math.max(1, ...rows.map((row) => row[2]));
    this.when.textContent = pinned ? `At event ${withCommas(e)}, ${this.ledger.where(e)}:`
                                   : "At the peak:";
    this.bars.replaceChildren(...rows.map(([name, bytes, total]) => {
      const bar = make("span", {class: "bar"});
      bytes.forEach((value, c) => {
        if (value === 0) return;
        const part = make("span", {class: `b${c}`,
                                   title: `${name}: ${kCategories[c]}: ${exactBytes(value)}`});
        part.style.width = `${value / most * 100}%`;
        bar.append(part);
      });
      return make("div", {class: "row"}, make("span", {class: "name"}, name), bar,
                  make("span", {class: "size"}, humanBytes(total)));
    }));
  }
}
