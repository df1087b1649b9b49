// The parts that several pages have: headings, buttons, tables, links to other pages, and the way
// from page to page of a list.

import { h } from "./dom.js";
import { short } from "./text.js";

/** The heading of a page, which has the focus when the page is opened. */
export const heading = (text, props) => h("h1", { tabindex: "-1", ...props }, text);

/** A part of a page, with its heading. */
export const part = (id, title, ...content) =>
  h("section", { key: id, "aria-labelledby": id }, h("h2", { id }, title), ...content);

export const note = (...content) => h("p", { class: "note" }, ...content);
/** In place of what is not there. */
export const none = (text) => h("p", { class: "none" }, text);
export const warning = (...content) => h("p", { class: "warning" }, ...content);

export const button = (text, onclick, props) => h("button", { type: "button", onclick, ...props }, text);
export const smallButton = (text, onclick, props) => button(text, onclick, { class: "small", ...props });

/** A list of names with their values: `[name, value, key]`; the key is by default the name. */
export const pairs = (props, all) =>
  h(
    "dl",
    props,
    all.map(([name, value, key = name]) => [h("dt", { key: `${key}?` }, name), h("dd", { key }, value)]),
  );

/** A table; `rowOf` gives the key or the properties of a row, then its cells. `props` are those of the table. */
export const plainTable = (heads, items, rowOf, props) =>
  h(
    "table",
    props,
    h("thead", null, h("tr", null, heads.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", null, items.map((item, index) => row(...rowOf(item, index)))),
  );

const row = (key, ...cells) =>
  h(
    "tr",
    typeof key === "object" ? key : { key },
    cells.map((cell) => (/^t[dh]$/.test(cell?.tag) ? cell : h("td", null, cell))),
  );

/** Content that is scrolled when it does not fit, also by keys. */
export const scrollable = (label, content, props = {}) =>
  h("div", { class: "wide", tabindex: "0", role: "group", "aria-label": `${label}, scrollable`, ...props }, content);

/** A table that is scrolled sideways. */
export const table = (label, ...of) => scrollable(label, plainTable(...of));

/** A cell with data of machines. */
export const data = (...content) => h("td", { class: "data" }, ...content);

/** The cell that names its row. */
export const rowHead = (...content) => h("th", { scope: "row" }, ...content);

/** The same, with data of machines. */
export const dataHead = (...content) => h("th", { scope: "row", class: "data" }, ...content);

/** The end of an id; the whole one is in its title. */
export const idCell = (id) => h("td", null, h("code", { title: id }, short(id)));

/** A link to a machine; without a text, its kind and the end of its id. */
export const machineLink = (page, id, text, params) =>
  h("a", { class: "data", href: page.link(`machines/${id}`, params) }, text);

/** The title of a machine in a list. */
export const titleOf = (one) => one.summary || `${one.machine} ${short(one.id)}`;

/** The address of a session. */
export const sessionPath = (id) => `sessions/${encodeURIComponent(id)}`;

export const sessionLink = (page, id) =>
  h("a", { class: "data", href: page.link(sessionPath(id)) }, id);

/** The way back: links and names of the pages above. */
export const crumbs = (...links) => h("p", { class: "crumbs" }, ...links);

/** Buttons that are links, by their keys: `[key, text, href]`. */
export const turner = (label, ...links) =>
  h(
    "nav",
    { "aria-label": label, class: "actions" },
    links.filter(Boolean).map(([key, text, href]) => h("a", { key, class: "button", href }, text)),
  );

/** Links to the first page of a list, unless it is shown, and to the next one, if there is one. */
export const pages = (page, label, next, { path, params = {}, names: [first, more] }) =>
  turner(
    label,
    page.params.after && ["first", first, page.link(path, params)],
    next !== null && next !== undefined && ["next", more, page.link(path, { ...params, after: next })],
  );

/** Machines and definitions that cannot be read. */
export const unreadable = (errors) =>
  errors?.map((error) => h("p", { class: "warning data", key: error }, error));
