// A machine as its definition draws it, with the path that was taken.

import { h } from "./dom.js";
import { scrollable } from "./parts.js";
import { count, digits } from "./text.js";

const edge = (from, to) => JSON.stringify([from, to]);

/** The path through the states: how often each was visited, and each move made. */
export function pathOf(initial, transitions) {
  const path = {
    current: initial,
    visited: new Map([[initial, 1]]),
    edges: new Map(),
    last: null,
    states: [initial],
  };
  for (const { from, to, trigger, stays } of transitions) {
    const key = edge(from, to);
    const one = path.edges.get(key) ?? { count: 0, triggers: new Map() };
    one.count += 1;
    one.triggers.set(trigger, (one.triggers.get(trigger) ?? 0) + 1);
    path.edges.set(key, one);
    Object.assign(path, { current: to, last: key });
    if (stays) continue;
    path.visited.set(to, (path.visited.get(to) ?? 0) + 1);
    path.states.push(to);
  }
  return path;
}

/** The end of a path in words: what the drawing shows, for those who cannot see it. */
export function pathText(path, labels, longest = 8) {
  const name = (status) => labels.get(status) ?? status;
  const end = path.states.slice(-longest).map(name).join(" → ");
  const before = path.states.length - longest;
  return before > 0 ? `${count(before, "earlier state")}, then ${end}` : end;
}

/** The head of an arrow at the end of its line. */
function head([, via, end]) {
  const angle = Math.atan2(end[1] - via[1], end[0] - via[0]);
  const wing = (turn) => [end[0] - 9 * Math.cos(angle + turn), end[1] - 9 * Math.sin(angle + turn)];
  return [end, wing(0.4), wing(-0.4)].map((point) => point.join(",")).join(" ");
}

/** Whether an arrow was taken. */
function traceOf(one, path) {
  const key = edge(one.from, one.to);
  const taken = path?.edges.get(key);
  return { key, taken, tone: path?.last === key ? "last" : taken ? "taken" : "" };
}

function arrow(one, path) {
  const { key, tone } = traceOf(one, path);
  return h(
    "g",
    { key, class: `arrow ${tone}` },
    h("polyline", { points: one.line.map((point) => point.join(",")).join(" ") }),
    h("polygon", { points: head(one.line) }),
  );
}

function moves(one, path) {
  const { key, taken, tone } = traceOf(one, path);
  const isOnly = one.moves.length === 1;
  return one.moves.map(({ trigger, label }, index) => {
    const times = taken?.triggers.get(trigger) ?? 0;
    const y = one.y + 20 * (index - (one.moves.length - 1) / 2) + 5;
    const counted = times > 1 ? `×${digits(times)}` : "";
    // The layout has room for the label only; under a single one there is some for its count.
    return h(
      "text",
      { key: `${key}${index}`, class: `move ${times ? tone : ""}`, x: one.x, y },
      label,
      counted && (isOnly ? h("tspan", { x: one.x, dy: 14 }, counted) : ` ${counted}`),
    );
  });
}

function state(node, path) {
  const isCurrent = path?.current === node.status;
  const times = path?.visited.get(node.status) ?? 0;
  const tone = isCurrent ? "current" : times ? "visited" : "";
  const box = (inset) => ({
    x: node.x - node.width / 2 + inset,
    y: node.y - node.height / 2 + inset,
    width: node.width - 2 * inset,
    height: node.height - 2 * inset,
    rx: 6,
  });
  return h(
    "g",
    { key: node.status, class: `state ${tone}${node.stable && !node.terminal ? " waits" : ""}` },
    node.initial && h("circle", { cx: node.x - node.width / 2 - 4, cy: node.y - node.height / 2 - 4, r: 5 }),
    h("rect", box(0)),
    node.terminal && h("rect", { ...box(3), class: "inner" }),
    h("text", { x: node.x, y: node.y + (node.note ? -5 : 5) }, node.label),
    node.note && h("text", { class: "note", x: node.x, y: node.y + 15 }, node.note),
  );
}

/** The drawing of a definition; with a path, the state at its end is lit. */
export function diagram(drawing, name, path = null) {
  const labels = new Map(drawing.nodes.map((node) => [node.status, node.label]));
  const label = path
    ? `State machine ${name}. Path: ${pathText(path, labels)} (current state).`
    : `State machine ${name}: ${count(drawing.nodes.length, "state")}, as listed in the table.`;
  // Long paths have counts at their labels, which need more room than the layout left.
  return scrollable(
    `Diagram of ${name}`,
    h(
      "svg",
      {
        class: "diagram",
        viewBox: `-4 0 ${drawing.width + 8} ${drawing.height}`,
        role: "img",
        "aria-label": label,
        style: { width: `${drawing.width + 8}px` },
      },
      drawing.arrows.map((one) => arrow(one, path)),
      drawing.nodes.map((one) => state(one, path)),
      drawing.arrows.map((one) => moves(one, path)),
    ),
    { class: "drawing" },
  );
}
