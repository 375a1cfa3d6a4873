/* <iou-playground>: two boxes to drag, and the derivation with their numbers.

   Around a figure, it puts itself in the place of the figure's picture. Attributes:
     upto="intersection" | "iou" | "variants"   how far the derivation goes (default: variants)
     preset="Name"                              what it starts with
     full                                       the page's own playground: takes a state from the
                                                address, and shows all settings at once        */
"use strict";

{
  const PRESETS = {
    "Worked example 1": [[1, 1, 5, 5], [3, 2, 7, 6]],
    "Worked example 2": [[120, 110, 220, 210], [100, 100, 200, 200]],
    "Worked example 3": [[0, 0, 4, 4], [2, 2, 6, 6]],
    "Apart": [[0, 0, 2, 2], [3, 3, 5, 5]],
    "Apart on one axis": [[1, 1, 4, 5], [6, 2, 9, 6]],
    "Touching": [[1, 1, 4, 4], [4, 2, 7, 5]],
    "Nested": [[1, 1, 7, 6], [2, 2, 5, 4]],
    "Equal": [[2, 1, 6, 5], [2, 1, 6, 5]],
    "One half: shifted": [[1, 1, 4, 4], [2, 1, 5, 4]],
    "One half: too small": [[1, 1, 5, 5], [1, 2, 5, 4]],
    "One half: too large": [[2, 2, 5, 5], [1, 2, 7, 5]],
    "One half: wrong shape": [[1, 2, 7, 6], [2, 1, 6, 7]],
    "No area": [[3, 2, 3, 5], [3, 2, 3, 5]],
  };
  const LARGEST = 1e6; // Coordinates beyond this are not taken.
  const TARGET = 44; // The least side, in pixels, of what a finger has to hit.
  const PAD = { left: 34, right: 18, top: 18, bottom: 30 };
  const CORNERS = [[0, 1], [2, 1], [0, 3], [2, 3]]; // Which numbers of a box a corner moves.
  const FAR_CORNER = CORNERS[3];
  const NAMES = { a: "A", b: "B" };
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  // Numbers and text

  const tidy = (x) => Number(x.toFixed(3)) + 0; // + 0 turns −0 into 0.
  const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
  const digits = (x) => String(Number(x.toFixed(4)) + 0);
  const show = (x) => digits(x).replace("-", "−");
  const inBrackets = (x) => (x < 0 ? `(${show(x)})` : show(x));
  const fractionText = ([p, q]) => (q === 1n ? `${p}` : `${p}/${q}`).replace("-", "−");
  const valueText = (x) => x.toFixed(4).replace(/^-(?=0\.0000$)/, "").replace("-", "−");

  function node(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function draw(parent, name, attributes = {}) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    place(made, attributes);
    parent.append(made);
    return made;
  }

  function place(drawn, attributes) {
    for (const [key, value] of Object.entries(attributes)) drawn.setAttribute(key, value);
  }

  // The state: both boxes as typed corners, and the settings

  function encode(state) {
    const parts = [`a=${state.a}`, `b=${state.b}`];
    if (state.pixels) parts.push("pixels=1");
    if (state.up) parts.push("y=up");
    if (state.format !== "xyxy") parts.push(`format=${state.format}`);
    if (!state.snap) parts.push("snap=0");
    return `#${parts.join("&")}`;
  }

  /* What an address says, or null where it names no two valid boxes. */
  function decode(hash) {
    const given = new URLSearchParams(hash.replace(/^#/, ""));
    const [a, b] = ["a", "b"].map((name) => {
      const numbers = (given.get(name) ?? "").split(",");
      const box = numbers.map((text) => (text.trim() ? tidy(Number(text)) : NaN));
      return isBox(box) ? box : null;
    });
    if (!a || !b) return null;
    const format = given.get("format");
    return {
      a, b,
      pixels: given.get("pixels") === "1",
      up: given.get("y") === "up",
      format: ["xywh", "cxcywh"].includes(format) ? format : "xyxy",
      snap: given.get("snap") !== "0",
    };
  }

  const isBox = (box) =>
    box.length === 4 && box.every((x) => Math.abs(x) <= LARGEST) &&
    box[0] <= box[2] && box[1] <= box[3];

  /* The part of the plane to show: both boxes with a cell to spare, on a grid of 1, 2 or 5. */
  function viewOf(a, b) {
    const [x1, y1, x2, y2] = IoU.derive(a, b).hull;
    const span = Math.max(0.1, Math.max(x2 - x1, y2 - y1) || 3);
    const unit = 10 ** Math.floor(Math.log10(span / 3));
    const step = unit * [1, 2, 5].find((k) => span / (k * unit) <= 13);
    const [left, top] = [x1, y1].map((x) => (Math.floor(x / step) - 1) * step);
    const cells = (end, start) => Math.ceil((end - start) / step) + 1;
    const rows = Math.max(8, cells(y2, top));
    const columns = Math.max(11, rows, cells(x2, left));
    return { left, top, step, unit, columns, rows };
  }

  /* A box with a corner, or all of it, moved; it stays in the view and never turns inside out. */
  function moved(box, corner, by, grid, bounds) {
    const next = [...box];
    const snapped = (x) => Math.round(x / grid) * grid;
    for (const axis of [0, 1]) {
      const [low, high] = [axis, axis + 2];
      if (!by[axis]) continue;
      if (!corner) {
        const side = box[high] - box[low];
        next[low] = clamp(snapped(box[low] + by[axis]), bounds[low], bounds[high] - side);
        next[high] = next[low] + side;
      } else {
        const edge = corner[axis];
        const limits = edge === low ? [bounds[low], box[high]] : [box[low], bounds[high]];
        next[edge] = clamp(snapped(box[edge] + by[axis]), ...limits);
      }
    }
    return next.map(tidy);
  }

  let count = 0; // Elements on a page need ids that differ.

  class Playground extends HTMLElement {
    connectedCallback() {
      if (this.root) return;
      this.id ||= `iou-playground-${++count}`;
      this.full = this.hasAttribute("full");
      this.upto = this.getAttribute("upto") ?? "variants";
      const preset = this.getAttribute("preset") ?? "Worked example 1";
      const [a, b] = PRESETS[preset];
      this.first = { a, b, pixels: false, up: false, format: "xyxy", snap: true };
      this.build();
      this.start((this.full && decode(location.hash)) || this.first);
      if (this.full) {
        addEventListener("hashchange", () => {
          const linked = decode(location.hash);
          if (linked) this.start(linked);
        });
      }
      new ResizeObserver(() => this.render()).observe(this.board);
    }

    // What there is on the page

    build() {
      this.root = node("div", { class: "iou-playground" });
      const picture = this.querySelector("figure a:has(> img), figure img");
      if (picture) picture.replaceWith(this.root);
      else this.prepend(this.root);
      this.root.append(
        this.chooser(),
        this.drawing(),
        node("div", { class: "iou-boxes" }, this.fields("a"), this.fields("b")),
        this.derivation(),
        (this.live = node("p", { class: "iou-live", "aria-live": "polite" })),
        this.settings(),
        this.sharing(),
      );
    }

    chooser() {
      this.presets = node("select", { id: `${this.id}-preset` });
      this.presets.append(new Option("your own", ""));
      for (const name of Object.keys(PRESETS)) this.presets.append(new Option(name, name));
      this.presets.addEventListener("change", () => {
        const [a, b] = PRESETS[this.presets.value] ?? [this.state.a, this.state.b];
        this.start({ ...this.state, a, b });
      });
      const reset = node("button", { type: "button" }, "Start again");
      reset.addEventListener("click", () => this.start(this.first));
      const label = node("label", { for: this.presets.id }, "Boxes");
      return node("div", { class: "iou-row" }, label, this.presets, reset);
    }

    drawing() {
      this.board = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      place(this.board, { class: "iou-board", role: "group", "aria-label": "Two boxes on a grid" });
      const layer = (name) => draw(this.board, "g", { class: name, "aria-hidden": "true" });
      this.grid = layer("iou-grid");
      const terms = layer("iou-terms");
      const outlines = layer("iou-outlines");
      this.shapes = {
        shared: draw(terms, "rect", { class: "iou-shared" }),
        hull: draw(terms, "rect", { class: "iou-hull" }),
        diagonal: draw(terms, "line", { class: "iou-diagonal" }),
        between: draw(terms, "line", { class: "iou-between" }),
        centreA: draw(terms, "circle", { class: "iou-a", r: 4 }),
        centreB: draw(terms, "circle", { class: "iou-b", r: 4 }),
        a: draw(outlines, "rect", { class: "iou-outline iou-a" }),
        b: draw(outlines, "rect", { class: "iou-outline iou-b" }),
        nameA: draw(outlines, "text", { class: "iou-name iou-a" }),
        nameB: draw(outlines, "text", { class: "iou-name iou-b" }),
      };
      this.shapes.nameA.textContent = NAMES.a;
      this.shapes.nameB.textContent = NAMES.b;
      // What can be taken hold of: bodies below, so that a corner is never out of reach.
      const bodies = draw(this.board, "g");
      const corners = draw(this.board, "g");
      this.bodies = {};
      this.corners = { a: [], b: [] };
      for (const which of ["a", "b"]) {
        this.bodies[which] = this.grip(bodies, "rect", which, null);
        for (const corner of CORNERS) {
          const handle = this.grip(corners, "g", which, corner);
          handle.target = draw(handle, "rect", { width: TARGET, height: TARGET });
          handle.knob = draw(handle, "circle", { r: 6 });
          this.corners[which].push(handle);
        }
      }
      this.board.addEventListener("pointermove", (event) => this.drag(event));
      for (const end of ["pointerup", "pointercancel"]) {
        this.board.addEventListener(end, () => this.drop());
      }
      return this.board;
    }

    /* Something on the board that pointer and keyboard can move. */
    grip(parent, shape, which, corner) {
      const made = draw(parent, shape, {
        class: `${corner ? "iou-corner" : "iou-body"} iou-${which}`,
        role: "application",
        "aria-roledescription": corner ? "movable corner" : "movable box",
        tabindex: 0,
      });
      made.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        made.focus({ preventScroll: true });
        made.setPointerCapture(event.pointerId);
        this.held = { which, corner, x: event.clientX, y: event.clientY, box: this.state[which] };
      });
      made.addEventListener("keydown", (event) => {
        const arrow = ARROWS[event.key];
        if (!arrow || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        const part = corner ?? (event.shiftKey ? FAR_CORNER : null);
        const by = [arrow[0] * this.step(), arrow[1] * this.step() * (this.state.up ? -1 : 1)];
        this.move(which, part, by, this.state[which]);
      });
      return made;
    }

    fields(which) {
      const group = node("fieldset", { class: `iou-${which}` });
      group.append(node("legend", {}, `Box ${NAMES[which]}`));
      const inputs = [0, 1, 2, 3].map((i) => {
        const id = `${this.id}-${which}${i}`;
        const input = node("input", { id, type: "number", step: "any", inputmode: "decimal" });
        const label = node("label", { for: id });
        group.append(node("div", {}, label, input));
        input.label = label;
        input.addEventListener("input", () => this.type(which, input));
        input.addEventListener("blur", () => {
          input.removeAttribute("aria-invalid");
          this.render();
        });
        return input;
      });
      this.inputs = { ...this.inputs, [which]: inputs };
      return group;
    }

    settings() {
      const box = node("details", { class: "iou-settings" }, node("summary", {}, "Settings"));
      if (this.full) box.open = true;
      const tick = (key, text) => {
        const input = node("input", { type: "checkbox", id: `${this.id}-${key}` });
        input.addEventListener("change", () => this.set({ [key]: input.checked }));
        box.append(node("div", {}, input, node("label", { for: input.id }, text)));
        return input;
      };
      const format = node("select", { id: `${this.id}-format` });
      for (const name of ["xyxy", "xywh", "cxcywh"]) format.append(new Option(name, name));
      format.addEventListener("change", () => this.set({ format: format.value }));
      this.switches = {
        pixels: tick("pixels", "Inclusive pixels: the last one belongs to the box, + 1"),
        up: tick("up", "y points up"),
        snap: tick("snap", "Snap to the grid"),
        format,
      };
      const label = node("label", { for: format.id }, "The four numbers are");
      box.append(node("div", {}, label, format));
      return box;
    }

    derivation() {
      this.steps = {};
      const list = node("dl", { class: "iou-steps" });
      const step = (key, title) => {
        this.steps[key] = node("dd");
        list.append(node("div", {}, node("dt", {}, title), this.steps[key]));
      };
      step("width", "Shared width");
      step("height", "Shared height");
      step("intersection", "Intersection");
      if (this.upto === "intersection") return list;
      step("areaA", "Area of A");
      step("areaB", "Area of B");
      step("union", "Union");
      step("iou", "IoU");
      if (this.upto === "iou") return list;
      step("giou", "GIoU");
      step("diou", "DIoU");
      step("ciou", "CIoU");
      return list;
    }

    sharing() {
      const line = (key, title) => {
        const field = node("input", { readonly: "", id: `${this.id}-${key}`, spellcheck: "false" });
        const copy = node("button", { type: "button", "aria-label": `Copy: ${title}` }, "Copy");
        copy.addEventListener("click", () => this.copy(field));
        const label = node("label", { for: field.id }, title);
        return [field, node("div", { class: "iou-row" }, label, field, copy)];
      };
      const [python, pythonRow] = line("python", "Python");
      const [link, linkRow] = line("link", "Link");
      this.share = { python, link };
      const box = node("details", { class: "iou-share" }, node("summary", {}, "Take it with you"));
      if (this.full) box.open = true;
      box.append(pythonRow, linkRow);
      if (!this.full) {
        this.opener = node("a", { href: this.page() }, "Open these boxes in the playground");
        box.append(node("p", {}, this.opener));
      }
      return box;
    }

    /* The page that has the playground to itself, beside the page that one reads. */
    page() {
      return new URL(this.full ? location.pathname : "playground.html", location.href).href;
    }

    // What happens to the state

    start(state) {
      this.view = null;
      this.set(state);
    }

    set(change) {
      const loading = !this.state;
      this.state = { ...this.state, ...change };
      this.render();
      if (!loading) this.say(this.result());
    }

    result() {
      const last = this.upto === "intersection" ? "intersection" : "iou";
      return `${last === "iou" ? "IoU" : "Intersection"}: ${this.steps[last].textContent}`;
    }

    format() {
      const { format, pixels } = this.state;
      return pixels && format === "xyxy" ? "xyxy_inclusive" : format;
    }

    /* Both boxes as the region of the plane that they cover. */
    covered() {
      const format = this.state.pixels ? "xyxy_inclusive" : "xyxy";
      return [this.state.a, this.state.b].map((box) => IoU.toCorners(box, format));
    }

    /* A whole unit; without snapping, a tenth of one. */
    step() {
      return this.state.snap ? this.view.unit : this.view.unit / 10;
    }

    move(which, corner, by, from) {
      const { left, top, step, columns, rows } = this.view;
      const more = this.state.pixels ? 1 : 0;
      const bounds = [left, top, left + columns * step - more, top + rows * step - more];
      this.set({ [which]: moved(from, corner, by, this.step(), bounds) });
      this.say(`${this.described(which)}. ${this.result()}`);
    }

    described(which) {
      const [x1, y1, x2, y2] = this.state[which].map(show);
      return `Box ${NAMES[which]}, from (${x1}, ${y1}) to (${x2}, ${y2})`;
    }

    drag(event) {
      if (!this.held) return;
      const { which, corner, x, y, box } = this.held;
      const down = (event.clientY - y) / this.scale;
      const by = [(event.clientX - x) / this.scale, this.state.up ? -down : down];
      this.move(which, corner, by, box);
    }

    drop() {
      this.held = null;
      this.render();
    }

    type(which, input) {
      const numbers = this.inputs[which].map(({ value }) => (value ? Number(value) : NaN));
      const pixels = this.state.pixels ? "xyxy_inclusive" : "xyxy";
      const box = IoU.fromCorners(IoU.toCorners(numbers, this.format()), pixels).map(tidy);
      const good = isBox(box);
      input.setAttribute("aria-invalid", !good);
      if (good) this.set({ [which]: box });
      else this.say(`Not a box: ${this.complaint(numbers)}.`);
    }

    complaint(numbers) {
      if (!numbers.every((x) => Math.abs(x) <= LARGEST)) return "it needs four numbers";
      return this.state.format === "xyxy" ? "it ends before it starts" : "a side is below 0";
    }

    async copy(field) {
      field.select();
      try {
        await navigator.clipboard.writeText(field.value);
        this.say("Copied.");
      } catch {
        this.say("Selected: copy it with Ctrl+C.");
      }
    }

    /* Tell those who listen and do not see, once things have come to rest. */
    say(text) {
      clearTimeout(this.saying);
      this.saying = setTimeout(() => (this.live.textContent = text), 300);
    }

    // What is seen of it

    render() {
      const [a, b] = this.covered();
      const fits = this.view && this.contains(IoU.derive(a, b).hull);
      if (!fits) this.view = viewOf(a, b);
      const terms = IoU.derive(a, b);
      this.renderBoard(a, b, terms);
      this.renderFields();
      this.renderSteps(a, b, terms);
      const format = this.format();
      const numbers = (box) => IoU.fromCorners(box, format).map((x) => digits(x)).join(", ");
      const how = format === "xyxy" ? "" : `, fmt="${format}"`;
      this.share.python.value = `from iou import iou; iou((${numbers(a)}), (${numbers(b)})${how})`;
      this.share.link.value = this.page() + encode(this.state);
      if (this.opener) this.opener.href = this.share.link.value;
    }

    contains([x1, y1, x2, y2]) {
      const { left, top, step, columns, rows } = this.view;
      return x1 >= left && y1 >= top && x2 <= left + columns * step && y2 <= top + rows * step;
    }

    renderBoard(a, b, terms) {
      const { left, top, step, columns, rows } = this.view;
      const cell = ((this.board.clientWidth || 480) - PAD.left - PAD.right) / columns;
      this.scale = cell / step;
      this.board.style.height = `${rows * cell + PAD.top + PAD.bottom}px`;
      const { up } = this.state;
      const x = (at) => PAD.left + (at - left) * this.scale;
      const y = (at) => PAD.top + (up ? top + rows * step - at : at - top) * this.scale;
      const rectangle = ([x1, y1, x2, y2]) => ({
        x: x(x1),
        y: Math.min(y(y1), y(y2)),
        width: (x2 - x1) * this.scale,
        height: (y2 - y1) * this.scale,
      });
      const centre = ([x1, y1, x2, y2]) => [x((x1 + x2) / 2), y((y1 + y2) / 2)];

      this.renderGrid(x, y);
      const { shapes } = this;
      place(shapes.a, rectangle(a));
      place(shapes.b, rectangle(b));
      place(shapes.shared, terms.intersection ? rectangle([...terms.start, ...terms.end]) : {
        width: 0, height: 0,
      });
      const shown = this.upto === "variants";
      for (const key of ["hull", "diagonal", "between", "centreA", "centreB"]) {
        shapes[key].style.display = shown ? "" : "none";
      }
      place(shapes.hull, rectangle(terms.hull));
      const [hx1, hy1, hx2, hy2] = terms.hull;
      place(shapes.diagonal, { x1: x(hx1), y1: y(hy1), x2: x(hx2), y2: y(hy2) });
      const [[ax, ay], [bx, by]] = [centre(a), centre(b)];
      place(shapes.between, { x1: ax, y1: ay, x2: bx, y2: by });
      place(shapes.centreA, { cx: ax, cy: ay });
      place(shapes.centreB, { cx: bx, cy: by });
      // Names stand inside, at the corners that look away from the other box.
      for (const [which, box, other] of [["a", a, b], ["b", b, a]]) {
        const name = shapes[`name${NAMES[which]}`];
        const r = rectangle(box);
        const before = centre(box)[0] < centre(other)[0] || (which === "a" && ax === bx);
        place(name, {
          x: before ? r.x + 14 : r.x + r.width - 14,
          y: centre(box)[1] <= centre(other)[1] ? r.y + 22 : r.y + r.height - 12,
        });
        this.renderGrips(which, r);
      }
      // The smaller body lies on top, or nobody could reach it. Move the one without the focus.
      const [over, under] = terms.areaA < terms.areaB ? ["a", "b"] : ["b", "a"];
      if (!this.held && this.bodies[over].nextSibling) {
        const focused = document.activeElement === this.bodies[over];
        if (focused) this.bodies[over].before(this.bodies[under]);
        else this.bodies[under].after(this.bodies[over]);
      }
      const word = terms.intersection ? "overlap" : "share nothing";
      place(this.board, { "aria-label": `Two boxes on a grid. They ${word}.` });
    }

    renderGrid(x, y) {
      const { left, top, step, columns, rows } = this.view;
      const { up } = this.state;
      const key = [this.board.clientWidth, left, top, step, columns, rows, up].join();
      if (this.gridKey === key) return;
      this.gridKey = key;
      this.grid.replaceChildren();
      const [right, bottom] = [left + columns * step, top + rows * step];
      const base = up ? y(top) : y(bottom);
      const text = (at, down, content) => {
        draw(this.grid, "text", { x: at, y: down }).textContent = content;
      };
      const every = columns * 26 > this.board.clientWidth ? 2 : 1; // Numbers need room.
      for (let i = 0; i <= columns; i++) {
        const at = left + i * step;
        draw(this.grid, "line", { x1: x(at), x2: x(at), y1: y(top), y2: y(bottom) });
        if (i % every === 0 && i < columns) text(x(at), base + 18, show(at));
      }
      for (let i = 0; i <= rows; i++) {
        const at = top + i * step;
        draw(this.grid, "line", { x1: x(left), x2: x(right), y1: y(at), y2: y(at) });
        if (i % every === 0 && i < rows) text(x(left) - 16, y(at) + 4, show(at));
      }
      text(x(right) - 2, base + 18, "x →");
      text(x(left) - 16, y(bottom) + 4, up ? "y ↑" : "y ↓");
    }

    /* A box is taken hold of by a rectangle of at least 44 pixels, and by that one's corners. */
    renderGrips(which, r) {
      const more = [r.width, r.height].map((side) => Math.max(0, TARGET - side) / 2);
      const grip = {
        x: r.x - more[0],
        y: r.y - more[1],
        width: r.width + 2 * more[0],
        height: r.height + 2 * more[1],
      };
      place(this.bodies[which], grip);
      const help = "Arrow keys move it";
      place(this.bodies[which], {
        "aria-label": `${this.described(which)}. ${help}; with Shift, its far corner.`,
      });
      CORNERS.forEach((corner, i) => {
        const atRight = corner[0] === 2;
        const atBottom = (corner[1] === 3) !== this.state.up;
        const handle = this.corners[which][i];
        const cx = grip.x + (atRight ? grip.width : 0);
        const cy = grip.y + (atBottom ? grip.height : 0);
        place(handle.knob, { cx, cy });
        const inside = 12; // So much of the target covers the box, the rest lies outside.
        place(handle.target, {
          x: atRight ? cx - inside : cx - TARGET + inside,
          y: atBottom ? cy - inside : cy - TARGET + inside,
        });
        const at = `(${show(this.state[which][corner[0]])}, ${show(this.state[which][corner[1]])})`;
        place(handle, { "aria-label": `Corner of box ${NAMES[which]} at ${at}. ${help}.` });
        handle.style.cursor = atRight === atBottom ? "nwse-resize" : "nesw-resize";
      });
    }

    renderFields() {
      const boxes = this.covered();
      ["a", "b"].forEach((which, k) => {
        IoU.fromCorners(boxes[k], this.format()).forEach((value, i) => {
          const input = this.inputs[which][i];
          input.label.textContent = IoU.FORMATS[this.format()][i];
          if (Number(input.value) === tidy(value) && input.value !== "") return;
          const typing = document.activeElement === input && input.matches("[aria-invalid=true]");
          if (!typing) input.value = digits(value);
        });
      });
      const { switches, state } = this;
      for (const key of ["pixels", "up", "snap"]) switches[key].checked = state[key];
      switches.format.value = state.format;
      const same = ([a, b]) => `${a}` === `${state.a}` && `${b}` === `${state.b}`;
      const known = Object.keys(PRESETS).find((name) => same(PRESETS[name]));
      this.presets.value = known ?? "";
    }

    renderSteps(a, b, t) {
      const { pixels } = this.state;
      const exact = IoU.fractions(a, b);
      const one = pixels ? " + 1" : "";
      const [p, q] = [this.state.a, this.state.b];
      const side = (axis) => {
        const [low, high] = [axis, axis + 2];
        const end = `min(${show(p[high])}, ${show(q[high])})`;
        const start = `max(${show(p[low])}, ${show(q[low])})`;
        const length = Math.min(p[high], q[high]) - Math.max(p[low], q[low]) + (pixels ? 1 : 0);
        const line = `${end} − ${start}${one} = ${show(length)}`;
        return length < 0 ? `${line}, clamped to 0` : line;
      };
      const area = (box) => {
        const sides = [0, 1].map((i) => `(${show(box[i + 2])} − ${inBrackets(box[i])}${one})`);
        return sides.join(" × ");
      };
      // Goes on from what is computed: with the fraction in lowest terms, if there is one and it
      // is not what stands there already, and the decimals, with ≈ where they are rounded.
      const value = (computed, key) => {
        const [p, q] = exact?.[key] ?? [];
        const whole = exact ? 10000n % q === 0n : Math.abs(t[key] - tidy(t[key])) < 1e-12;
        const decimals = `${whole ? "=" : "≈"} ${whole ? show(t[key]) : valueText(t[key])}`;
        if (!exact || q === 1n || fractionText([p, q]) === computed) return `${computed} ${decimals}`;
        return `${computed} = ${fractionText([p, q])} ${decimals}`;
      };
      const start = exact ? fractionText(exact.iou) : valueText(t.iou);
      const squares = ([x, y]) => `(${show(Math.abs(x))}² + ${show(Math.abs(y))}²)`;
      const lines = {
        width: side(0),
        height: side(1),
        intersection: `${show(t.width)} × ${show(t.height)} = ${show(t.intersection)}`,
        areaA: `${area(p)} = ${show(t.areaA)}`,
        areaB: `${area(q)} = ${show(t.areaB)}`,
        union: `${show(t.areaA)} + ${show(t.areaB)} − ${show(t.intersection)} = ${show(t.union)}`,
        iou: value(`${show(t.intersection)}/${show(t.union)}`, "iou"),
        giou: value(`${start} − (${show(t.hullArea)} − ${show(t.union)})/${show(t.hullArea)}`, "giou"),
        diou: value(`${start} − ${squares(t.between)}/${squares(t.hullSides)}`, "diou"),
        ciou: `DIoU − αv = ${valueText(t.diou)} − ${valueText(t.alpha)} · ${valueText(t.v)} ≈ ` +
          valueText(t.ciou),
      };
      if (t.union === 0) lines.iou += ", by definition";
      for (const [key, step] of Object.entries(this.steps)) step.textContent = lines[key];
    }
  }

  customElements.define("iou-playground", Playground);
}
