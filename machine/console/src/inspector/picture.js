// A history as a picture over time: a lane per machine, a bar per stay in a state. The axis is linear, so a
// gap is as long as it was. Only what is in sight is drawn, and what is narrower than a pixel or two is
// drawn together, so ten thousand stays need no more elements than the window has pixels.

import { h, patch } from "./dom.js";
import { none, smallButton } from "./parts.js";
import { count, exact, length, moment, now } from "./text.js";

const LANE = 44;
const BAR = 18;
const TOP = 20;
const AXIS = 26;
/** After the end, for its mark and the name of the state, in pixels. */
const ROOM = 110;
/** The largest zoom. */
const MOST = 1 << 16;
const zooms = new Map();

/**
 * `lanes`: `{ id, label, stays: [{ from, to (null: until now), status, label, kind, number }] }` with the kinds
 * `work`, `wait` and `end`. `at` marks a moment, `select(number)` is called with the stay that was pressed.
 */
export function picture({ key, name, lanes, at = null, select = null }) {
  const all = lanes.flatMap((lane) => lane.stays);
  if (!all.length) return none("Nothing has happened yet.");
  const start = Math.min(...lanes.map((lane) => lane.stays[0]?.from ?? Infinity));
  const isOpen = all.some((stay) => stay.to === null && stay.kind !== "end");
  const newest = lanes.reduce((last, lane) => Math.max(last, lane.stays.at(-1)?.from ?? 0), 0);
  const end = Math.max(isOpen ? now() : newest, start + 1);
  const model = { key, lanes, start, end, at, select, isOpen };
  const stays = count(all.length, "stay");
  const label = `${name}: ${stays} in a state over ${length(end - start)}. The table below has the same data.`;
  const zoom = (factor) => (event) => {
    const scroller = event.currentTarget.closest(".picture").querySelector(".scroller");
    const before = zooms.get(key) ?? 1;
    const after = Math.min(MOST, Math.max(1, factor === 0 ? 1 : before * factor));
    const middle = (scroller.scrollLeft + scroller.clientWidth / 2) / before;
    zooms.set(key, after);
    scroller.model = model;
    layOut(scroller);
    scroller.scrollLeft = middle * after - scroller.clientWidth / 2;
    draw(scroller);
  };
  const ref = (scroller) => {
    scroller.model = model;
    layOut(scroller);
    draw(scroller);
  };
  return h(
    "div",
    { class: "picture", key },
    h(
      "div",
      { class: "bar" },
      h(
        "span",
        { class: "key" },
        [
          ["work", "at work"],
          ["wait", "waiting"],
          ["many", "many, too close to tell apart"],
          ["end", "ended"],
        ].map(([kind, text]) => [h("i", { class: `swatch ${kind}`, "aria-hidden": "true" }), ` ${text} `]),
      ),
      h(
        "span",
        { class: "actions" },
        smallButton("Zoom in", zoom(2)),
        smallButton("Zoom out", zoom(0.5)),
        smallButton("Whole time", zoom(0)),
      ),
    ),
    h("div", {
      class: "scroller",
      tabindex: "0",
      role: "group",
      "aria-label": `${name}, scrollable`,
      opaque: true,
      ref,
      onscroll: (event) => draw(event.currentTarget),
      "data-name": label,
    }),
  );
}

/** Pictures that end now go on growing, and all of them follow the width of the window. */
export function redraw() {
  for (const scroller of document.querySelectorAll(".scroller")) {
    const { model } = scroller;
    if (model?.isOpen) model.end = Math.max(model.end, now());
    if (model) draw(scroller);
  }
}

/** The wide part makes the native scroll bar; the drawing itself is only as wide as the window. */
function layOut(scroller) {
  if (!scroller.firstChild) {
    scroller.append(document.createElement("div"));
    scroller.firstChild.append(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
  }
  scroller.firstChild.style.width = `${100 * (zooms.get(scroller.model.key) ?? 1)}%`;
}

function draw(scroller) {
  const { model } = scroller;
  const width = scroller.clientWidth;
  if (!width) return;
  const svg = scroller.querySelector("svg");
  const scale = (width * (zooms.get(model.key) ?? 1) - ROOM) / (model.end - model.start);
  const left = scroller.scrollLeft;
  const x = (time) => (time - model.start) * scale - left;
  const height = TOP + model.lanes.length * LANE + AXIS;
  const attributes = { width, height, role: "img", "aria-label": scroller.dataset.name };
  for (const name in attributes) svg.setAttribute(name, attributes[name]);
  patch(
    svg,
    axis(model, scale, left, width, height),
    model.lanes.map((lane, index) => drawn(lane, TOP + index * LANE, x, width, model)),
    model.at !== null &&
      h("line", { key: "at", class: "at", x1: x(model.at), x2: x(model.at), y1: 0, y2: height - AXIS }),
  );
}

function drawn(lane, top, x, width, model) {
  const bars = [];
  let many = null;
  const flush = () => {
    if (many) bars.push(many);
    many = null;
  };
  for (const stay of lane.stays) {
    const x1 = x(stay.from);
    if (x1 > width) break;
    if (stay.kind === "end") {
      flush();
      bars.push({ stays: 1, x1, x2: x1 + 4, from: stay.from, to: stay.from, stay });
      continue;
    }
    const to = stay.to ?? now();
    const x2 = x(to);
    if (x2 < 0) continue;
    if (x2 - x1 >= 3) {
      flush();
      bars.push({ stays: 1, x1, x2, from: stay.from, to, stay });
    } else if (many && x2 - many.x1 < 6) {
      Object.assign(many, { stays: many.stays + 1, x2: Math.max(x2, many.x1 + 3), to });
    } else {
      flush();
      many = { stays: 1, x1, x2: Math.max(x2, x1 + 3), from: stay.from, to, stay };
    }
  }
  flush();
  return h(
    "g",
    { key: lane.id },
    h("text", { key: "lane", class: "lane", x: 4, y: top + 10 }, lane.label),
    bars.map((bar, index) =>
      drawnBar(bar, top + 15, model.select && lane.isMain ? model.select : null, index, width),
    ),
  );
}

function drawnBar({ stays, x1, x2, from, to, stay }, top, select, index, width) {
  const isOne = stays === 1;
  const kind = isOne ? stay.kind : "many";
  const left = Math.max(x1, -10);
  const right = Math.min(x2, width + 10);
  const isEnd = kind === "end";
  const text = isEnd || right - left > stay.label.length * 7 + 10 ? (isOne ? stay.label : "") : "";
  const took = stay.to === null && !isEnd ? `for ${length(to - from)} so far` : `for ${length(to - from)}`;
  const title = isEnd
    ? `${stay.label} at ${exact(from)}`
    : isOne
      ? `${stay.label} ${took}, ${exact(from)} to ${exact(to)}`
      : `${count(stays, "stay")} ${took}`;
  return h(
    "g",
    {
      key: index,
      class: `stay ${kind}${stay.to === null && !isEnd ? " open" : ""}${select ? " press" : ""}`,
      onclick: select ? () => select(stay.number) : undefined,
    },
    h("title", null, title),
    h("rect", {
      x: left,
      y: top,
      width: Math.max(1, right - left - (isOne && !isEnd ? 1 : 0)),
      height: BAR,
      rx: 2,
    }),
    kind === "wait" && h("path", { d: hatch(left, right, top) }),
    text && h("text", { x: isEnd ? right + 4 : Math.max(left, 0) + 5, y: top + 13 }, text),
  );
}

/** Waits are hatched, so that they differ by more than colour. */
function hatch(left, right, top) {
  const lines = [];
  for (let at = left + 4; at < right - 8 && lines.length < 400; at += 8)
    lines.push(`M${at.toFixed(1)} ${top + BAR}l7 -${BAR}`);
  return lines.join("");
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5,
  72e5, 108e5, 216e5, 432e5, 864e5, 1728e5, 6048e5, 12096e5, 25920e5,
];

function axis(model, scale, left, width, height) {
  const step =
    STEPS.find((one) => one * scale >= 110) ?? STEPS.at(-1) * Math.ceil(110 / (STEPS.at(-1) * scale));
  const first = Math.ceil((model.start + left / scale) / step) * step;
  const ticks = [];
  for (let at = first; (at - model.start) * scale - left < width && ticks.length < 100; at += step) {
    const x = (at - model.start) * scale - left;
    ticks.push(
      h(
        "g",
        { key: at, class: "tick" },
        h("line", { x1: x, x2: x, y1: TOP - 6, y2: height - AXIS }),
        h("text", { x: x + 3, y: height - 8 }, step < 1000 ? exact(at) : moment(at)),
      ),
    );
  }
  return h("g", { key: "axis" }, ticks);
}

/** The stays of a machine from its transitions; `kindOf(status)` says what kind of state that is. */
export function staysOf(created, initial, transitions, { labelOf, kindOf }) {
  const stay = (from, status, number) => {
    return { from, to: null, status, label: labelOf(status), kind: kindOf(status), number };
  };
  const stays = [stay(created, initial, 0)];
  for (const { at, to, number, stays: isSame } of transitions) {
    if (isSame) continue;
    stays.at(-1).to = at;
    stays.push(stay(at, to, number));
  }
  return stays;
}
