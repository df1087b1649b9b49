// The history of a machine: loaded in pages, stepped through entry by entry, each compared with the one
// before it.

import { get, machinePath } from "./api.js";
import { h } from "./dom.js";
import { isBusy } from "./hold.js";
import { button, data as dataCell, dataHead, none, note, pairs, plainTable, rowHead, scrollable, smallButton } from "./parts.js";
import { payload } from "./payload.js";
import { count, digits, exact, length, stamp } from "./text.js";

const PAGE = 1000;
/** The part of a long history that a page holds; the rest is loaded on request. */
const MOST = 20_000;
const HALF = 50;
const ROWS = 2 * HALF;

/** The loaded part of the history of one machine, oldest first. */
export class History {
  constructor(id, audience) {
    Object.assign(this, { id, audience, events: [], moves: [], total: 0, isComplete: false, loading: null });
  }

  get first() {
    return this.events[0]?.number ?? 0;
  }

  get last() {
    return this.events.at(-1)?.number ?? -1;
  }

  /** The entry with this number, or the newest. */
  at(number) {
    return this.events[number - this.first] ?? this.events.at(-1);
  }

  /** Loads what is new: the first page before this returns, and the others while `shown()` shows them. */
  async load(shown) {
    if (this.loading) return;
    const next = await this.#page();
    if (!next) return;
    this.loading = (async () => {
      try {
        while (await this.#page()) shown();
      } catch {
        // The missing part is loaded with the next update; until then the page shows its size.
      } finally {
        this.loading = null;
        shown();
      }
    })();
  }

  /** Loads everything, however long it is. */
  async loadAll(shown) {
    await this.loading;
    Object.assign(this, { events: [], moves: [], isComplete: true });
    await this.load(shown);
  }

  /** One more page; whether there is another. */
  async #page() {
    const path = `${machinePath(this.id)}/timeline`;
    const query = { limit: PAGE, audience: this.audience };
    let page = await get(path, { ...query, after: this.last < 0 ? null : this.last });
    if (this.last < 0 && page.total > MOST && !this.isComplete) {
      page = await get(path, { ...query, after: page.total - MOST - 1 });
    }
    this.total = page.total;
    for (const event of page.events) {
      if (this.events.length && event.number <= this.last) continue;
      this.events.push(event);
      if (event.transition) {
        const { from_status: from, to_status: to, trigger, stays } = event.transition;
        this.moves.push({ number: event.number, at: event.at, from, to, trigger, stays });
      }
    }
    return page.next !== null && page.next !== undefined;
  }
}

/** Buttons and a slider that choose an entry. */
export function stepper(page, history, step) {
  const { first, last } = history;
  const event = history.at(step);
  const go = (to) => page.step(to >= last ? null : Math.max(first, to));
  const chooses = (text, to, label, disabled) =>
    smallButton(text, () => go(to), { disabled, "aria-label": label });
  return h(
    "div",
    { class: "stepper", role: "group", "aria-label": "Step through the history", key: "stepper" },
    chooses("First", first, "First entry", step <= first),
    chooses("Back", step - 1, "One entry back", step <= first),
    h("input", {
      type: "range",
      min: first,
      max: Math.max(last, first),
      step: 1,
      value: String(step),
      "aria-label": "Entry",
      "aria-valuetext": `Entry ${step}: ${event?.text ?? ""}`,
      oninput: (input) => go(Number(input.currentTarget.value)),
    }),
    chooses("Forward", step + 1, "One entry forward", step >= last),
    chooses("Latest", last, "Latest entry", step >= last),
    h(
      "output",
      null,
      `Entry ${digits(step)} of ${digits(Math.max(0, history.total - 1))}${page.params.step === undefined ? " (follows)" : ""}`,
    ),
  );
}

/** An entry, and its changes to the data of the state. */
export function entry(page, history, step) {
  const event = history.at(step);
  if (!event) return null;
  const before = event.number > history.first ? history.at(event.number - 1) : null;
  const { key } = page;
  return h(
    "div",
    { class: "entry", key: "entry" },
    h("h3", { class: "data" }, event.text),
    note(
      exact(event.at),
      ` by ${who(event)}`,
      before ? `, ${passed(event, before, " after the entry before it")}` : "",
    ),
    given(event, key, page.render),
    h("h3", null, "Data of the state, compared with the entry before"),
    difference(event, before, key, page.render),
    event.fact !== undefined &&
      h(
        "details",
        { class: "payload", key: "fact" },
        h("summary", null, "The entry as it is stored"),
        payload(event.fact, `${key}/fact${event.number}`, page.render, "entry"),
      ),
  );
}

/** The time since the entry before, or that the clock was set back in between. */
const passed = (event, before, words = "") =>
  event.at < before.at
    ? `the clock went back by ${length(before.at - event.at)}`
    : `${length(event.at - before.at)}${words}`;

const who = (event) => [event.actor_category, event.actor, event.actor_name ?? event.person].filter(Boolean).join(", ");

/** The payload of the actor. */
function given(event, key, render) {
  const names = Object.keys(event.payload ?? {});
  if (!names.length) return null;
  return pairs(
    { class: "fields" },
    names.map((name) => [
      `With ${name}`,
      payload(event.payload[name], `${key}/${event.number}/${name}`, render, name),
    ]),
  );
}

const MARKS = { added: "+ added", removed: "− removed", changed: "± changed", same: "same" };

function difference(event, before, key, render) {
  if (!event.data) return none("The journal has no data for this entry.");
  const unknown = new Set(event.unknown ?? []);
  const was = before?.data ?? {};
  const names = [...new Set([...Object.keys(was), ...Object.keys(event.data), ...unknown])].sort();
  if (!names.length) return none("No data visible to this audience.");
  return plainTable(
    ["Field", "Change", "Value"],
    names,
    (name) => {
      const change = unknown.has(name) ? "same" : changeOf(was, event.data, name);
      const id = `${key}/${event.number}/data/${name}`;
      const value = (data, side) => payload(data[name], `${id}/${side}`, render, name);
      return [
        { key: name, class: change },
        dataHead(name),
        unknown.has(name) ? "?" : MARKS[change],
        unknown.has(name)
          ? h("span", { class: "none" }, "computed, not in the journal")
          : [
              (change === "removed" || change === "changed") && h("del", { key: "was" }, value(was, "was")),
              change !== "removed" &&
                h(change === "same" ? "span" : "ins", { key: "is" }, value(event.data, "is")),
            ],
      ];
    },
    { class: "difference" },
  );
}

function changeOf(was, is, name) {
  if (!(name in was)) return "added";
  if (!(name in is)) return "removed";
  return JSON.stringify(was[name]) === JSON.stringify(is[name]) ? "same" : "changed";
}

/** Brings the chosen entry into sight, unless the reader is looking at others. */
function follow(rows, step) {
  if (rows.shownStep === step || isBusy(rows)) return;
  rows.shownStep = step;
  const chosen = rows.querySelector(".chosen");
  if (!chosen) return;
  const above = chosen.offsetTop - rows.querySelector("thead").offsetHeight;
  if (above < rows.scrollTop || chosen.offsetTop + chosen.offsetHeight > rows.scrollTop + rows.clientHeight) {
    rows.scrollTop = chosen.offsetTop - rows.clientHeight / 2;
  }
}

function entryRow(page, event, before, isChosen) {
  const { number } = event;
  return [
    { key: number, class: isChosen ? "chosen" : "", "aria-current": isChosen ? "step" : undefined },
    rowHead(smallButton(String(number), () => page.step(number), { "aria-label": `Show entry ${number}` })),
    stamp(event.at),
    before ? passed(event, before) : "–",
    who(event),
    dataCell(event.text),
  ];
}

/** The entries around the chosen one, as a table. */
export function entries(page, history, step) {
  const { events, first, total } = history;
  // Half of the rows come before the chosen entry's own half, so there is always something around it.
  const start = Math.max(0, Math.floor(Math.max(0, step - first) / HALF) - 1) * HALF;
  const rows = events.slice(start, start + ROWS);
  const missing = total - events.length;
  const loadAll = () => history.loadAll(page.render);
  return [
    (missing > 0 || history.loading) &&
      h(
        "p",
        { class: "note", key: "missing" },
        history.loading
          ? `Loaded ${digits(events.length)} of ${count(total, "entry", "entries")}…`
          : [
              `${count(missing, "older entry is", "older entries are")} not loaded; the diagram, the counts and the picture begin after them. `,
              smallButton("Load all", loadAll),
            ],
      ),
    scrollable(
      "Entries",
      plainTable(
        ["Entry", "When", "After", "By", "What"],
        rows,
        (event, index) => entryRow(page, event, events[start + index - 1], event.number === step),
        { class: "entries" },
      ),
      { class: "wide rows", key: "entries", ref: (rows) => follow(rows, step) },
    ),
    events.length > ROWS &&
      h(
        "p",
        { class: "actions", key: "pages" },
        button(`Older ${ROWS}`, () => page.step(Math.max(first, first + start - HALF)), { disabled: start === 0 }),
        button(`Newer ${ROWS}`, () => page.step(Math.min(history.last, first + start + ROWS + HALF)), {
          disabled: start + ROWS >= events.length,
        }),
        h("span", null, `Entries ${digits(rows[0]?.number)} to ${digits(rows.at(-1)?.number)}`),
      ),
  ];
}
