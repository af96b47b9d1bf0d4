// dygraphs, set up the same way for every picture: a window on the x axis that data is made for
// whenever it changes.

class Chart {
  /**
   * `rows(from, to, columns)` makes the data of a window; `whole` is the widest one; `options` goes
   * to dygraphs. `moved(window)` is called when the window has changed.
   */
  constructor(box, whole, rows, options, moved = () => {}) {
    this.whole = whole;
    this.window = [...whole];
    this.least = 2;  // the narrowest window
    this.rows = rows;
    this.moved = moved;
    this.box = box;
    this.canvas = make("div", {class: "canvas"});
    box.append(this.canvas);
    this.used = this.columns();
    this.drawn = rows(...whole, this.used);
    this.graph = new Dygraph(this.canvas, this.drawn, {
      dateWindow: [...whole],
      animatedZooms: false,
      legend: "never",
      highlightCircleSize: 0,
      axisLabelFontSize: 12,
      gridLineColor: colour("--line"),
      axisLineColor: colour("--line"),
      xRangePad: 0,
      axisLabelWidth: 84,
      drawCallback: (graph) => this.follow(graph),
      interactionModel: this.interaction(),
      ...options,
    });
    this.follow(this.graph);  // now that the width is known
  }

  /** Of two pixels each. */
  columns() {
    const width = this.graph ? this.graph.getArea().w : this.canvas.clientWidth - 96;
    return Math.max(100, Math.floor(width / 2));
  }

  /** With the style sheet's colours as they are now. */
  recolour(options = {}) {
    this.graph.updateOptions({gridLineColor: colour("--line"), axisLineColor: colour("--line"),
                              ...options});
  }

  /**
   * As dygraphs has it, but that a double click shows everything, of our window, and that one
   * finger is the page's: it scrolls, and a tap is a click.
   */
  interaction() {
    const model = {...Dygraph.defaultInteractionModel, dblclick: () => this.show(...this.whole)};
    for (const name of ["touchstart", "touchmove", "touchend"]) {
      const theirs = model[name];
      model[name] = (event, graph, context) => {
        const fingers = Math.max(event.touches.length, context.initialTouches?.length ?? 0);
        if (fingers > 1) theirs(event, graph, context);
        if (name === "touchend" && event.touches.length === 0) context.initialTouches = [];
      };
    }
    return model;
  }

  /** dygraphs has moved the window, by dragging or by fingers, or has another width. */
  follow(graph) {
    if (!this.graph) return;
    const [from, to] = graph.xAxisRange();
    if (from === this.window[0] && to === this.window[1] && this.columns() === this.used) return;
    this.show(from, to);
  }

  show(from, to) {
    const width = Math.min(Math.max(to - from, this.least), this.whole[1] - this.whole[0]);
    const begin = Math.min(Math.max(from, this.whole[0]), this.whole[1] - width);
    this.window = [begin, begin + width];
    this.used = this.columns();
    this.drawn = this.rows(...this.window, this.used);
    this.graph.updateOptions({file: this.drawn, dateWindow: [...this.window], valueRange: null});
    this.moved(this.window);
  }

  /** Closer (below 1) or farther, around a place. */
  zoom(factor, around = (this.window[0] + this.window[1]) / 2) {
    this.show(around - (around - this.window[0]) * factor,
              around + (this.window[1] - around) * factor);
  }

  /** Where on the x axis a mouse is. */
  xOf(mouse) {
    return this.graph.toDataXCoord(mouse.clientX - this.canvas.getBoundingClientRect().left);
  }

  yOf(mouse) {
    return this.graph.toDataYCoord(mouse.clientY - this.canvas.getBoundingClientRect().top);
  }

  /** What a pointer does here, each called with its event; a click has not moved. */
  listen({hover, leave, click}) {
    let down = null;
    this.canvas.addEventListener("mousemove", oncePerFrame(hover));
    this.canvas.addEventListener("mouseleave", leave);
    this.canvas.addEventListener("mousedown", (mouse) => {
      down = [mouse.clientX, mouse.clientY];
    }, true);
    this.canvas.addEventListener("click", (mouse) => {
      if (down && Math.hypot(mouse.clientX - down[0], mouse.clientY - down[1]) < 4) click(mouse);
    });
  }

  /** A line down at x, named by its class; gone where x is null or outside. */
  mark(name, x, text = "") {
    let line = this.canvas.querySelector(`.${name}`);
    const area = this.graph.getArea();
    const inside = x !== null && x >= this.window[0] && x <= this.window[1];
    if (!inside) return line?.remove();
    if (!line) this.canvas.append(line = make("div", {class: `marker ${name}`}));
    line.textContent = text;
    const left = this.graph.toDomXCoord(x);
    line.style.left = `${left}px`;
    line.style.top = `${area.y}px`;
    line.style.height = `${area.h}px`;
    line.classList.toggle("left", left > area.x + area.w / 2);
  }

  /** Buttons for what the mouse and the keyboard do. */
  buttons(...more) {
    const button = (text, title, call) => {
      const element = make("button", {type: "button", title}, text);
      element.addEventListener("click", call);
      return element;
    };
    this.box.append(make("div", {class: "buttons"},
                         button("+", "zoom in", () => this.zoom(0.5)),
                         button("−", "zoom out", () => this.zoom(2)),
                         button("all", "show everything", () => this.show(...this.whole)),
                         ...more.map((one) => button(...one))));
  }
}
