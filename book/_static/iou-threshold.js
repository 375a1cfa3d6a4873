/* <iou-threshold>: a real picture's predictions under three thresholds that the reader moves.

   Around a figure, it puts itself in the place of the figure's picture. What was predicted stands in
   iou-threshold-data.js, which book/stills.py writes; iou.js suppresses and matches.          */
"use strict";

{
  const PHOTO = new URL("iou-coins.png", document.currentScript.src).href;
  const { width, height, truths, boxes, scores } = IOU_THRESHOLD_DATA;
  const lowest = Math.floor(Math.min(...scores) * 100) / 100;
  const highest = Math.ceil(Math.max(...scores) * 100) / 100;
  const SLIDERS = [
    { key: "score", title: "Show scores from", min: lowest, max: highest, step: 0.01, value: lowest },
    { key: "nms", title: "NMS drops above IoU", min: 0, max: 1, step: 0.05, value: 1 },
    { key: "tau", title: "True from IoU τ =", min: 0.05, max: 1, step: 0.05, value: 0.5 },
  ];
  const MARKS = { duplicate: "D", "poor placing": "P", background: "B" };
  const CHART = { width: 240, height: 210, left: 44, right: 12, top: 12, bottom: 40 };

  function node(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function draw(parent, name, attributes = {}, text = "") {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    parent.append(made);
    return made;
  }

  /* Which predictions are shown, which of them NMS keeps, and what becomes of those. */
  function settle({ score, nms, tau }) {
    const shown = IoU.byFallingScore(scores).filter((i) => scores[i] >= score);
    const of = (indices, list) => indices.map((i) => list[i]);
    const kept = IoU.nms(of(shown, boxes), of(shown, scores), nms).map((k) => shown[k]);
    const taken = IoU.match(of(kept, boxes), of(kept, scores), truths, tau);
    return { shown, kept, taken, outcomes: IoU.outcomes(of(kept, boxes), taken, truths, tau) };
  }

  /* Recall and precision after each of the predictions, the surest first. */
  function curveOf(taken) {
    let found = 0;
    return taken.map((truth, i) => {
      found += truth >= 0;
      return [found / truths.length, found / (i + 1)];
    });
  }

  let count = 0;

  class Threshold extends HTMLElement {
    connectedCallback() {
      if (this.root) return;
      this.id ||= `iou-threshold-${++count}`;
      this.root = node("div", { class: "iou-threshold" });
      const picture = this.querySelector("figure a:has(> img), figure img");
      if (picture) picture.replaceWith(this.root);
      else this.prepend(this.root);
      this.sliders = {};
      this.root.append(...SLIDERS.map((slider) => this.slider(slider)));
      this.picture = draw(this.root, "svg", {
        class: "iou-picture", viewBox: `0 0 ${width} ${height}`, role: "img",
      });
      draw(this.picture, "image", { href: PHOTO, width, height });
      this.marks = draw(this.picture, "g");
      this.result = node("p", { class: "iou-result" });
      this.chart = draw(node("div"), "svg", {
        class: "iou-chart", viewBox: `0 0 ${CHART.width} ${CHART.height}`, role: "img",
      });
      this.root.append(node("div", { class: "iou-side" }, this.chart, this.result));
      this.live = node("p", { class: "iou-live", "aria-live": "polite" });
      this.root.append(this.live);
      this.render();
    }

    slider({ key, title, ...range }) {
      const input = node("input", { type: "range", id: `${this.id}-${key}`, ...range });
      // The slider says its value itself, and the result is announced: not twice.
      const output = node("output", { for: input.id, "aria-live": "off" });
      input.addEventListener("input", () => {
        this.render();
        clearTimeout(this.saying);
        this.saying = setTimeout(() => (this.live.textContent = this.summary), 300);
      });
      this.sliders[key] = { input, output };
      const label = node("label", { for: input.id }, title);
      return node("div", { class: "iou-slider" }, label, input, output);
    }

    render() {
      const values = {};
      for (const [key, { input, output }] of Object.entries(this.sliders)) {
        values[key] = Number(input.value);
        output.textContent = key === "nms" && values.nms === 1 ? "off" : values[key].toFixed(2);
        input.setAttribute("aria-valuetext", output.textContent);
      }
      const { shown, kept, taken, outcomes } = settle(values);
      const found = taken.filter((truth) => truth >= 0).length;
      const wrong = kept.length - found;
      const missed = truths.length - found;
      this.summary =
        `${shown.length} shown, ${shown.length - kept.length} dropped by NMS; ` +
        `${found} true, ${wrong} false, ${missed} missed${missed ? " (filled)" : ""}. ` +
        `Precision ${found}/${kept.length}, recall ${found}/${truths.length}.`;
      this.result.textContent = this.summary;
      this.renderPicture(shown, kept, taken, outcomes);
      this.renderChart(curveOf(taken), curveOf(settle({ ...values, score: 0 }).taken));
    }

    renderPicture(shown, kept, taken, outcomes) {
      this.marks.replaceChildren();
      const rectangle = ([x1, y1, x2, y2], kind) => {
        const place = { x: x1, y: y1, width: x2 - x1, height: y2 - y1 };
        // A light line below keeps the dark one visible on a dark picture.
        draw(this.marks, "rect", { ...place, class: "iou-halo" });
        draw(this.marks, "rect", { ...place, class: kind });
      };
      truths.forEach((box, t) => rectangle(box, taken.includes(t) ? "iou-truth" : "iou-missed"));
      for (const i of shown) if (!kept.includes(i)) rectangle(boxes[i], "iou-dropped");
      kept.forEach((i) => rectangle(boxes[i], "iou-prediction"));
      kept.forEach((i, k) => {
        if (!MARKS[outcomes[k]]) return;
        const [x1, y1, x2, y2] = boxes[i];
        const [cx, cy] = [(x1 + x2) / 2, (y1 + y2) / 2];
        draw(this.marks, "circle", { cx, cy, r: 6 });
        draw(this.marks, "text", { x: cx, y: cy + 3.5 }, MARKS[outcomes[k]]);
      });
      this.picture.setAttribute("aria-label", `Coins with truths and predictions: ${this.summary}`);
    }

    renderChart(here, whole) {
      const { left, right, top, bottom } = CHART;
      const x = (recall) => left + recall * (CHART.width - left - right);
      const y = (precision) => top + (1 - precision) * (CHART.height - top - bottom);
      this.chart.replaceChildren();
      for (const tick of [0, 0.5, 1]) {
        draw(this.chart, "line", { x1: x(tick), x2: x(tick), y1: y(0), y2: y(1) });
        draw(this.chart, "line", { x1: x(0), x2: x(1), y1: y(tick), y2: y(tick) });
        draw(this.chart, "text", { x: x(tick), y: y(0) + 16 }, String(tick));
        draw(this.chart, "text", { x: x(0) - 16, y: y(tick) + 4 }, String(tick));
      }
      draw(this.chart, "text", { x: x(0.5), y: CHART.height - 6 }, "recall");
      const [tx, ty] = [12, y(0.5)];
      draw(this.chart, "text", { x: tx, y: ty, transform: `rotate(-90 ${tx} ${ty})` }, "precision");
      const points = whole.map(([recall, precision]) => `${x(recall)},${y(precision)}`);
      draw(this.chart, "polyline", { points: points.join(" ") });
      const [recall, precision] = here.at(-1) ?? [0, 0];
      draw(this.chart, "circle", { cx: x(recall), cy: y(precision), r: 6 });
      const at = `recall ${recall.toFixed(2)}, precision ${precision.toFixed(2)}`;
      this.chart.setAttribute("aria-label", `Precision over recall; now ${at}`);
    }
  }

  customElements.define("iou-threshold", Threshold);
}
