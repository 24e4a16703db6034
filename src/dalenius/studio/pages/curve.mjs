// The curve and its slider: where points stand, and which one is nearest. A promise is never interpolated.
import { make } from "./studio.mjs";

const SVG = "http://www.w3.org/2000/svg";
const WIDE = 640;
const HIGH = 320;
const EDGE = { left: 66, right: 18, top: 16, bottom: 48 };

function draw(tag, attributes, text = null) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== null) element.textContent = text;
  return element;
}

/** Round numbers from 0 to just above the largest value. */
function ticks(most) {
  if (!(most > 0)) return [0, 1];
  const unit = 10 ** Math.floor(Math.log10(most));
  const step = [0.1, 0.2, 0.5, 1, 2].map((part) => part * unit).find((size) => most / size <= 5);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, k) => Number((k * step).toPrecision(12)));
}

/** A curve with a handle that snaps to solved points; `picked(index, done)` is called when it moves. */
export function curve(picked) {
  const svg = draw("svg", { class: "curve", viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true" });
  const slider = make("input", { type: "range", id: "slide", min: 0, max: 1000, step: 1, "aria-label": "Position on the curve" });
  const element = make("div", {}, svg, slider);
  let points = [];
  let at = 0;
  let across = [0, 1];
  let up = [0, 1];
  const handle = draw("circle", { class: "c-h", r: 10 });
  const drop = draw("line", { class: "c-d" });
  const x = (value) => EDGE.left + (value / across.at(-1)) * (WIDE - EDGE.left - EDGE.right);
  const y = (value) => HIGH - EDGE.bottom - (value / up.at(-1)) * (HIGH - EDGE.top - EDGE.bottom);

  function nearest(value) {
    return points.reduce((best, point, k) => (Math.abs(point.x - value) < Math.abs(points[best].x - value) ? k : best), 0);
  }

  function place() {
    const point = points[at];
    if (!point) return;
    handle.setAttribute("cx", x(point.x));
    handle.setAttribute("cy", y(point.y));
    for (const [name, value] of [["x1", x(point.x)], ["x2", x(point.x)], ["y1", y(point.y)], ["y2", y(0)]]) drop.setAttribute(name, value);
    slider.value = Math.round((1000 * point.x) / across.at(-1));
    slider.setAttribute("aria-valuetext", `${point.title}; ${point.x.toFixed(1)} entries changed per 100 rows`);
  }

  function move(index, done) {
    const next = Math.max(0, Math.min(points.length - 1, index));
    const changed = next !== at;
    at = next;
    place();
    if (changed || done) picked(at, done);
  }

  function update(found, chosen, axis) {
    points = found;
    at = chosen;
    across = ticks(Math.max(...points.map((point) => point.x), 0));
    up = ticks(Math.max(...points.map((point) => point.y), 0));
    const line = points.map((point, k) => `${k ? "L" : "M"}${x(point.x).toFixed(1)},${y(point.y).toFixed(1)}`).join("");
    const below = points.length ? `${line}L${x(points.at(-1).x).toFixed(1)},${y(0)}L${x(points[0].x).toFixed(1)},${y(0)}Z` : "";
    svg.replaceChildren(
      draw("path", { class: "c-never", d: below }),
      ...up.flatMap((value) => [
        draw("line", { class: "c-grid", x1: EDGE.left, x2: WIDE - EDGE.right, y1: y(value), y2: y(value) }),
        draw("text", { class: "c-t", x: EDGE.left - 7, y: y(value) + 4, "text-anchor": "end" }, String(value)),
      ]),
      ...across.map((value) => draw("text", { class: "c-t", x: x(value), y: HIGH - EDGE.bottom + 19, "text-anchor": "middle" }, String(value))),
      draw("text", { class: "c-t", x: EDGE.left, y: HIGH - 6 }, `${axis.across} →`),
      draw("path", { class: "c-line", d: line }),
      ...points.map((point) => draw("circle", { class: "c-p", r: 3, cx: x(point.x), cy: y(point.y) })),
      ...(points.length ? [drop, handle] : []),
    );
    slider.hidden = points.length < 2;
    place();
  }

  const STEP = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 3, PageDown: -3, Home: -1000, End: 1000 };
  slider.addEventListener("keydown", (event) => {
    const step = STEP[event.key];
    if (step === undefined) return;
    event.preventDefault();
    move(at + step, true);
  });
  slider.addEventListener("input", () => move(nearest((slider.value / 1000) * across.at(-1)), false));
  slider.addEventListener("change", () => move(nearest((slider.value / 1000) * across.at(-1)), true));
  let dragged = false;
  const under = (event) => {
    const box = svg.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * WIDE;
    return nearest(((place - EDGE.left) / (WIDE - EDGE.left - EDGE.right)) * across.at(-1));
  };
  svg.addEventListener("pointerdown", (event) => {
    if (!points.length) return;
    dragged = true;
    svg.setPointerCapture(event.pointerId);
    move(under(event), false);
  });
  svg.addEventListener("pointermove", (event) => {
    if (dragged) move(under(event), false);
  });
  svg.addEventListener("pointerup", (event) => {
    if (dragged) move(under(event), true);
    dragged = false;
  });
  return { element, update, dragging: () => dragged, at: () => at };
}
