// What all pictures share: numbers as the program prints them, elements, colours.

const kCategories = [
  "parameter", "parameter_gradient", "optimizer_state", "model_state", "input", "activation",
  "stash", "activation_gradient", "workspace", "library",
];

/** "1,610,612,736", of a number or a BigInt. */
function withCommas(value) {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** "512 B", "1.50 GiB": two decimals, rounded half up. */
function humanBytes(value) {
  let bytes = BigInt(value);
  const sign = bytes < 0n ? "-" : "";
  if (bytes < 0n) bytes = -bytes;
  if (bytes < 1024n) return `${sign}${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let unit = 0, size = 1024n;
  const hundredths = () => (bytes * 200n + size) / (2n * size);
  while (unit + 1 < units.length && hundredths() >= 102400n) {
    unit += 1;
    size *= 1024n;
  }
  const rounded = hundredths();
  return `${sign}${rounded / 100n}.${String(rounded % 100n).padStart(2, "0")} ${units[unit]}`;
}

/** "1.50 GiB (1,610,612,736 B)". */
function exactBytes(value) {
  const small = value < 1024 && value > -1024;
  return small ? humanBytes(value) : `${humanBytes(value)} (${withCommas(value)} B)`;
}

/** An element with attributes and children (text or elements). */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A table's body: rows of cells, the first a header. */
function tableBody(rows) {
  return make("tbody", {}, ...rows.map(([head, ...cells]) =>
    make("tr", {}, make("th", {scope: "row"}, head),
         ...cells.map((cell) => make("td", {class: "number"}, cell)))));
}

/** A colour of the style sheet. */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Places for lines across at powers of two of bytes, with their labels. */
function byteTicks(low, high, pixels) {
  const most = Math.max(2, pixels / 40);
  let step = 1;
  while ((high - low) / step > most) step *= 2;
  const ticks = [];
  for (let v = Math.ceil(low / step) * step; v <= high; v += step)
    ticks.push({v, label: humanBytes(v)});
  return ticks;
}

/** The last of `count` numbers, ascending, that is at most `value`; the first where none is. */
function lastUpTo(count, number, value) {
  let low = 0, high = count - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (number(middle) <= value) low = middle; else high = middle - 1;
  }
  return low;
}

/** Where in [begin, end) the lowest and the highest number are, in their order; or both. */
function extremes(begin, end, number) {
  let low = begin, high = begin;
  for (let i = begin + 1; i < end; ++i) {
    if (number(i) < number(low)) low = i;
    if (number(i) > number(high)) high = i;
  }
  return low === high ? [low] : [Math.min(low, high), Math.max(low, high)];
}

/** Calls at most once a frame, with the latest arguments. */
function oncePerFrame(call) {
  let waiting = null;
  return (...args) => {
    if (waiting === null) requestAnimationFrame(() => {
      const latest = waiting;
      waiting = null;
      call(...latest);
    });
    waiting = args;
  };
}
