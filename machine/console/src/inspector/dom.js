// Elements from descriptions, patched in place. What the reader holds on to (focus, caret, text selection,
// scroll position, open <details>) belongs to elements, so an update must keep them: nothing is replaced
// that is still described. There is no innerHTML anywhere, and every text passes through `visible`.

import { visible } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";
/** The key and the last attributes of an element that this module made. */
const KNOWN = Symbol("known");

/**
 * Describes an element. `props` are attributes, `on…` handlers, and:
 * `key` (identity among its siblings), `ref` (called with the element after each patch), `opaque` (its
 * children are made by `ref`), `style` (an object of CSS properties).
 */
export function h(tag, props, ...children) {
  return {
    tag,
    props: props ?? {},
    children: children.flat(Infinity).filter((it) => it !== null && it !== undefined && it !== false),
  };
}

/** Makes the children of `parent` what is described. */
export function patch(parent, ...children) {
  reconcile(parent, children.flat(Infinity).filter(Boolean));
}

/** Moves without losing focus or scroll positions, where the browser can do that. */
function place(parent, node, before) {
  if (node.parentNode === parent && parent.moveBefore) parent.moveBefore(node, before);
  else parent.insertBefore(node, before);
}

function reconcile(parent, described) {
  const keyed = new Map();
  const others = [];
  for (const node of parent.childNodes) {
    const key = node[KNOWN]?.key;
    if (key === undefined) others.push(node);
    else keyed.set(key, node);
  }
  const kept = new Set();
  const nodes = described.map((one) => {
    const node = found(one, keyed, others) ?? created(one, parent);
    kept.add(node);
    return node;
  });
  for (const node of [...parent.childNodes]) if (!kept.has(node)) node.remove();
  let next = parent.firstChild;
  nodes.forEach((node, index) => {
    if (node === next) next = next.nextSibling;
    else place(parent, node, next);
    update(node, described[index]);
  });
}

function found(one, keyed, others) {
  if (typeof one !== "object") return take(others, (node) => node.nodeType === Node.TEXT_NODE);
  if (one.props.key !== undefined) {
    const node = keyed.get(String(one.props.key));
    keyed.delete(String(one.props.key));
    return node?.localName === one.tag ? node : undefined;
  }
  return take(others, (node) => node.localName === one.tag);
}

/** Takes the first that fits; those before it are no longer described. */
function take(nodes, fits) {
  const index = nodes.findIndex(fits);
  return index < 0 ? undefined : nodes.splice(0, index + 1).at(-1);
}

function created(one, parent) {
  if (typeof one !== "object") return document.createTextNode("");
  const inSvg = one.tag === "svg" || (parent.namespaceURI === SVG && parent.localName !== "foreignObject");
  const node = inSvg ? document.createElementNS(SVG, one.tag) : document.createElement(one.tag);
  node[KNOWN] = { key: one.props.key === undefined ? undefined : String(one.props.key), props: {} };
  return node;
}

function update(node, one) {
  if (typeof one !== "object") {
    const text = visible(String(one));
    if (node.data !== text) node.data = text;
    return;
  }
  const { props } = one;
  const before = (node[KNOWN] ??= { props: {} }).props;
  for (const name in before) if (!(name in props)) set(node, name, undefined, before[name]);
  // A <select> takes its value only when it has its options.
  if (!props.opaque) reconcile(node, one.children);
  for (const name in props) set(node, name, props[name], before[name]);
  node[KNOWN].props = props;
  props.ref?.(node);
}

function set(node, name, value, before) {
  if (name === "key" || name === "ref" || name === "opaque") return;
  if (name.startsWith("on")) {
    node[name] = value ?? null;
  } else if (name === "style") {
    for (const property in value ?? {}) node.style.setProperty(property, value[property]);
  } else if (name === "value" || name === "open" || name === "checked") {
    // Input of the reader (text, ticks, opened details) stays until the description itself changes.
    const isTyping =
      name === "value" && node === document.activeElement && /^(text|search|textarea)$/.test(node.type);
    if (value !== before && !isTyping) node[name] = value ?? (name === "value" ? "" : false);
  } else if (name === "disabled" || name === "selected") {
    if (node[name] !== Boolean(value)) node[name] = Boolean(value);
  } else if (value === undefined || value === null || value === false) {
    node.removeAttribute(name);
  } else if (value !== before || !node.hasAttribute(name)) {
    node.setAttribute(name, value === true ? "" : visible(String(value)));
  }
}
