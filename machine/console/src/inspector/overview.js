// The first page: what needs attention, then all machines.

import { get } from "./api.js";
import { h } from "./dom.js";
import { held } from "./hold.js";
import { data as dataCell, heading, idCell, machineLink, none, note, pages, part, rowHead, sessionLink, table, titleOf, unreadable } from "./parts.js";
import { wording } from "./payload.js";
import { readOnly, stepList } from "./steps.js";
import { badge, count, failed, moment, short, since, words } from "./text.js";

export const FILTERS = ["machine", "status", "session", "key", "calls", "order"];
const STAGES = ["asked", "running", "in_doubt", "pending"];
const TYPING_MS = 300;
let typing;

const REASONS = {
  contradicted: ["CONTRADICTED", "It is recorded as not done, but a receipt says that it took effect."],
  in_doubt: ["IN_DOUBT", "Its effect is unknown. It is not repeated until a person confirms it."],
  unreadable: ["UNREADABLE", "Its row cannot be read. Others are not affected."],
  set_aside: ["SET_ASIDE", "Workers do not retry it until a person requests it."],
  no_worker: ["NO_WORKER", "It is ready, but no live worker can continue it."],
  stuck: ["STUCK", "Nothing can move it"],
  overdue: ["OVERDUE", "It has not happened in time"],
  failing: ["FAILING", "It failed and is retried automatically."],
  many_messages: ["MANY_MESSAGES", "Many messages wait for it"],
  waits_for_person: ["WAITS_FOR_A_PERSON", "It continues when a person answers."],
};

export const overview = {
  title: (data) =>
    data?.attention.concerns.length
      ? `${count(data.attention.concerns.length, "needs", "need")} attention`
      : "Machines",

  async load({ params, audience }) {
    const query = { audience, limit: 50, after: params.after, order: "newest" };
    for (const name of FILTERS) if (params[name]) query[name] = params[name];
    const [attention, machines] = await Promise.all([
      get("api/attention", { limit: 100, audience }),
      // A name that nothing has is said next to the filters, which stay.
      get("api/machines", query).catch((problem) => {
        if (problem.status !== 404) throw problem;
        return { machines: [], unreadable: [], next: null, unknown: problem.message };
      }),
    ]);
    return { attention, machines };
  },

  /** Every change can concern this page. */
  concerns: () => true,

  /** The next steps of a machine; `null` if this page does not know them. */
  stepsOf({ attention }, id) {
    const one = attention.concerns.find((concern) => concern.id === id);
    return one?.next ?? (attention.truncated ? null : []);
  },

  render: (page, data) => [
    heading("Overview"),
    attentionPart(page, data.attention),
    machinesPart(page, data.machines),
  ],
};

function attentionPart(page, { concerns, truncated }) {
  const identity = (one) => one.id ?? `${one.reason} ${one.summary}`;
  const offer = (one) =>
    JSON.stringify([one.reason, one.calls?.label, one.cause, one.question, one.next, one.transition_count, one.answered_with, one.open_call, one.trouble?.cause, one.missing]);
  const rows = held(`attention ${page.audience}`, concerns, {
    id: identity,
    alike: (a, b) => offer(a) === offer(b),
  });
  return part(
    "attention",
    ["Needs attention", h("span", { class: "number" }, ` ${concerns.length}${truncated ? "+" : ""}`)],
    rows.length === 0 && none("Nothing. No decision is needed now."),
    rows.length > 0 && readOnly(),
    h(
      "ul",
      { class: "cards" },
      rows.map(({ item, gone }) => concern(page, item, gone, identity(item))),
    ),
    truncated && note("More exist than are shown here."),
  );
}

function concern(page, one, gone, key) {
  const [label, why] = REASONS[one.reason] ?? [one.reason, ""];
  const subject = {
    id: one.id,
    summary: one.summary,
    question: one.question,
    transitionCount: one.transition_count,
  };
  const name = wording(one.question) || one.summary || `${one.machine ?? "machine"} ${short(one.id ?? "")}`;
  return h(
    "li",
    { key, class: gone ? "card gone" : `card ${one.reason}` },
    h(
      "div",
      { class: "line" },
      badge(label),
      one.id ? machineLink(page, one.id, name) : h("span", { class: "data" }, name),
      h("span", { class: "right" }, "for ", since(one.since, "for")),
    ),
    h(
      "p",
      { class: "why" },
      gone
        ? "This has changed: it is settled, or other actions are possible now."
        : one.cause
          ? `${why}: ${one.cause}.`
          : why,
    ),
    one.trouble
      ? h("p", { class: "data" }, failed(one.trouble, one.error))
      : one.error && h("p", { class: "data" }, one.error),
    one.missing && h("p", { class: "data" }, one.missing),
    openCall(one.open_call),
    typeof one.answered_with === "string" &&
      note(`Answered with “${one.answered_with}”, which its program has not applied yet.`),
    stepList(one.next, subject, { gone, compact: true, isQuestionFolded: true }),
  );
}

/** A call that can still take effect, and the process to restart. */
export function openCall(call) {
  if (!call) return null;
  const { process, cut_off_at: at, settles_at: until } = call;
  if (until !== null)
    return note(`The call can still take effect until ${moment(until)}: “not applied” is accepted from then on; or override.`);
  const where = `in process ${process.pid} on ${process.host}`;
  return at === null
    ? note(`The call may still be running ${where}: wait, or restart it, then answer; or override.`)
    : note("The call was cut off ", since(at), ` ${where}: restart it, then answer; or override.`);
}

function machinesPart(page, { machines, unreadable: errors, next, unknown }) {
  const { params } = page;
  const rows = held(`machines ${page.address}`, machines, { inPlace: true });
  const active = FILTERS.filter((name) => params[name]);
  const list = Object.fromEntries(FILTERS.map((name) => [name, params[name]]));
  return part(
    "machines",
    "Machines",
    filterForm(page),
    h(
      "div",
      { key: "unknown", role: "alert" },
      unknown && h("p", { class: "warning data" }, `${unknown[0].toUpperCase()}${unknown.slice(1)}.`),
    ),
    rows.length === 0 &&
      !unknown &&
      none(active.length ? "No machine matches these filters." : "There are no machines yet."),
    rows.length > 0 &&
      table(
        "Machines",
        ["State", "About", "Kind", "Session", "In this state", "Deadline", "Id"],
        rows,
        ({ item: one, gone }) => [
          { key: one.id, class: gone ? "gone" : "" },
          badge(one.calls?.label ?? one.label),
          rowHead(machineLink(page, one.id, titleOf(one), list)),
          dataCell(one.machine),
          typeof one.session === "string" ? sessionLink(page, one.session) : "–",
          since(one.entered_at, "for"),
          since(one.due_at, "due"),
          idCell(one.id),
        ],
        { class: "machines" },
      ),
    unreadable(errors),
    pages(page, "Pages of machines", next, { path: "", params: list, names: ["First page", "Next page"] }),
  );
}

function filterForm(page) {
  const { params } = page;
  const field = (name, label, hint) =>
    h(
      "label",
      { key: name },
      label,
      h("input", {
        name,
        type: "search",
        value: params[name] ?? "",
        placeholder: hint,
        autocomplete: "off",
        spellcheck: "false",
        oninput: (event) => {
          clearTimeout(typing);
          const form = event.currentTarget.form;
          typing = setTimeout(() => apply(page, form, true), TYPING_MS);
        },
      }),
    );
  const choice = (name, label, value, options) =>
    h(
      "label",
      { key: name },
      label,
      h(
        "select",
        { name, value, onchange: (event) => apply(page, event.currentTarget.form, false) },
        options.map(([value, text]) => h("option", { key: value, value }, text)),
      ),
    );
  const onsubmit = (event) => {
    event.preventDefault();
    clearTimeout(typing);
    apply(page, event.currentTarget, false);
  };
  return h(
    "form",
    // After a navigation, the fields say what is shown, and not what was typed before it.
    { key: `filters ${page.visit}`, class: "filters", role: "search", "aria-label": "Filter machines", onsubmit },
    field("machine", "Kind", "execution"),
    field("status", "State", "IN_DOUBT"),
    field("session", "Session", ""),
    field("key", "Idempotency key", ""),
    choice("calls", "Calls", params.calls ?? "", [["", "any"], ...STAGES.map((stage) => [stage, words(stage)])]),
    choice("order", "Order", params.order ?? "newest", [["newest", "newest first"], ["oldest", "oldest first"]]),
    h(
      "p",
      { class: "actions" },
      h("button", { type: "submit" }, "Filter"),
      h("a", { class: "button", href: page.link("") }, "Clear"),
    ),
  );
}

/** Filters are the address, so that a link shows the same. What is being typed replaces its own entry. */
function apply(page, form, isTyping) {
  const data = new FormData(form);
  const params = {};
  for (const name of FILTERS) if (data.get(name)?.trim()) params[name] = data.get(name).trim();
  if (params.order === "newest") delete params.order;
  page.go(page.link("", params), { replace: isTyping });
}
