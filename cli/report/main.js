// Live pictures in the places of still ones.

const documents = [...document.querySelectorAll("script.document")]
  .map((element) => JSON.parse(element.textContent));
const ledgers = documents.map((json) => json.timeline ? new Ledger(json.timeline) : null);
const pictures = {timeline: [], addresses: [], layers: [], two: [], sweep: [], whatIf: []};

/** Each picture's box; the still one inside stays for paper. */
function boxes(kind, call) {
  for (const place of document.querySelectorAll(`[data-picture="${kind}"]`)) {
    const live = make("div", {class: "live"});
    place.classList.add("has-live");
    place.append(live);
    call(live, Number(place.dataset.index), place);
  }
}

/** Draws what is far down only when it comes near: a page opens sooner. */
function whenSeen(element, call) {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    call();
  }, {rootMargin: "400px"});
  observer.observe(element);
}

boxes("timeline", (box, index) => {
  if (ledgers[index].count > 0)
    pictures.timeline[index] = new TimelinePicture(box, ledgers[index], index);
});
boxes("layers", (box, index) => {
  const picture = pictures.layers[index] = new LayersPicture(box, ledgers[index]);
  const timeline = pictures.timeline[index];
  if (!timeline) return;
  const show = oncePerFrame((e, pinned) => picture.show(e, pinned));
  picture.show(timeline.ledger.peak, false);
  timeline.listeners.push(show);
});
boxes("addresses", (box, index, place) => whenSeen(place, () => {
  const timeline = pictures.timeline[index];
  if (!timeline) return;
  const spans = JSON.parse(place.querySelector(".spans").textContent);
  const picture = pictures.addresses[index] = new AddressPicture(box, ledgers[index], spans);
  const follow = (e, pinned) => picture.chart.mark("pin", pinned ? e : null);
  timeline.listeners.push(follow);
  // One window for both; each tells the other, and the second time there is nothing to do.
  const same = (a, b) => a[0] === b[0] && a[1] === b[1];
  const together = (from, to) => oncePerFrame(() => {
    if (!same(to.window, from.window)) to.show(...from.window);
    follow(timeline.pin, timeline.pin !== null);
  });
  const own = timeline.chart.moved, tell = together(timeline.chart, picture.chart);
  timeline.chart.moved = (window) => {
    own(window);
    tell();
  };
  picture.chart.moved = together(picture.chart, timeline.chart);
  if (!same(timeline.chart.window, picture.chart.window))
    picture.chart.show(...timeline.chart.window);
  follow(timeline.pin, timeline.pin !== null);
}));
boxes("two", (box, index, place) => {
  const runs = documents.map((_, i) => i).filter((i) => ledgers[i]?.count > 0).slice(0, 2);
  if (runs.length !== 2) return;
  const {titles, slots} = JSON.parse(place.querySelector(".slots").textContent);
  pictures.two.push(new TwoPicture(box, runs.map((i) => ledgers[i]), titles, slots));
});
boxes("sweep", (box, index) => pictures.sweep.push(new SweepPicture(box, documents[index])));
boxes("what-if", (box, index, place) => {
  const sweeps = documents.filter((json) => json.schema.startsWith("arenagrad.sweep/"));
  const made = JSON.parse(place.querySelector(".made").textContent);
  pictures.whatIf.push(new WhatIf(box, sweeps, made));
});

// The event that is looked at is in the address: #e=12345, of the second run #e=12345@1.
function restore() {
  const [, e, index] = /^#e=(\d+)(?:@(\d+))?$/.exec(location.hash) ?? [];
  if (e === undefined) return;
  const first = pictures.timeline.findIndex(Boolean);
  const timeline = pictures.timeline[index === undefined ? first : Number(index)];
  if (!timeline || timeline.pin === Number(e)) return;
  timeline.set(Number(e));
  timeline.box.scrollIntoView({block: "center"});
}
pictures.timeline.forEach((timeline, index) => timeline.listeners.push((e, pinned) => {
  const first = pictures.timeline.findIndex(Boolean) === index;
  const hash = pinned ? `#e=${e}${first ? "" : `@${index}`}` : "#";
  if (location.hash !== hash) history.replaceState(null, "", hash);
}));
restore();
addEventListener("hashchange", restore);

// dygraphs draws with colours that were read once.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const kind of ["timeline", "addresses", "two", "sweep"])
    for (const picture of pictures[kind]) picture?.recolour();
});

// On paper nothing can be opened.
const folded = [...document.querySelectorAll("main details")];
addEventListener("beforeprint", () => {
  for (const one of folded) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of folded) one.open = false;
});

// For tests, and for whoever opens a console.
globalThis.arenagradReport = {documents, ledgers, pictures};
document.documentElement.dataset.drawn = Math.round(performance.now());
