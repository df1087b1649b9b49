// The page of one machine: where it is, what would move it, and how it came there.

import { get } from "./api.js";
import { diagram, pathOf, pathText } from "./diagram.js";
import { h } from "./dom.js";
import { History, entries, entry, stepper } from "./history.js";
import { CHILDREN, findAttempts, findOffspring, initialOf, labelsOf, lanesOf, nameOf } from "./lanes.js";
import { heldOne } from "./hold.js";
import { FILTERS, openCall } from "./overview.js";
import { crumbs, data as dataCell, machineLink, plainTable, rowHead, sessionLink, table } from "./parts.js";
import { copyButton, fields, payload, question } from "./payload.js";
import { picture } from "./picture.js";
import { definitionOf } from "./records.js";
import { readOnly, setAside, stepList } from "./steps.js";
import { badge, count, failed, short, since, whyStopped, words } from "./text.js";

/** The fields of an execution that only some audiences see. */
const RESTRICTED = [
  "last_actor",
  "idempotency_key",
  "timeout_seconds",
  "reference",
  "action_detail",
  "metadata",
];

const labelOf = (data) => data.execution?.label ?? data.calls?.label ?? data.machine.label;

export const machine = {
  /** The heading of a machine that cannot be shown; the problem is above it. */
  broken: ({ id }, { status }) => [
    "Machine ",
    h("code", { class: "data" }, id),
    " ",
    badge(status === 404 ? "not found" : "UNREADABLE"),
  ],

  title: (data) => (data ? `${labelOf(data)} ${nameOf(data)}` : "Machine"),

  async load(page, before) {
    const { id, audience } = page;
    const same = before?.history.audience === audience ? before : null;
    const history = same?.history ?? new History(id, audience);
    const [shown] = await Promise.all([
      get(`api/machines/${encodeURIComponent(id)}`, { audience }),
      history.load(page.render),
    ]);
    const definition = await definitionOf(shown.definition).catch(() => null);
    const data = {
      ...shown,
      definition,
      history,
      attempts: same?.attempts ?? null,
      offspring: same?.offspring ?? [],
    };
    await Promise.all([findAttempts(data, audience), findOffspring(data, same, audience)]).catch(() => {});
    return data;
  },

  concerns(ids, data, { id }) {
    if (ids.has(id)) return true;
    return (
      data.children.some((child) => ids.has(child.id)) ||
      data.call_list.some((call) => ids.has(call.gate)) ||
      (data.attempts?.lanes ?? []).some((lane) => ids.has(lane.id))
    );
  },

  stepsOf(data, id) {
    if (data.machine.id !== id && data.gate?.id !== id) return null;
    return data.next.filter((step) => step.id === id);
  },

  /** The announcement of a live update, if it is worth one. */
  news: (before, data) => (labelOf(before) === labelOf(data) ? null : `Now ${words(labelOf(data))}`),

  render(page, data) {
    const { params } = page;
    const filters = Object.fromEntries(FILTERS.map((name) => [name, params[name]]));
    const { history } = data;
    const step =
      params.step === undefined
        ? Math.max(0, history.last)
        : Math.min(Number(params.step) || 0, Math.max(0, history.last));
    return [
      crumbs(
        h("a", { href: page.link("", filters) }, "Machines"),
        typeof data.machine.session === "string" ? [" / ", sessionLink(page, data.machine.session)] : "",
      ),
      h("h1", { tabindex: "-1" }, h("span", { class: "data" }, nameOf(data)), " ", badge(labelOf(data))),
      facts(page, data),
      nextPart(page, data),
      historyPart(page, data, step),
      dataPart(page, data),
      callsPart(page, data),
      messagesPart(page, data),
      childrenPart(page, data),
    ];
  },
};

function facts(page, { machine: one, execution }) {
  const fact = (name, ...value) => h("div", { key: name }, h("dt", null, name), h("dd", null, ...value));
  const deadline = one.due_at ?? execution?.answer_by;
  return h(
    "dl",
    { class: "facts" },
    fact("In this state", since(one.entered_at, "for")),
    fact("Deadline", deadline ? since(deadline, "due") : "none"),
    fact("Created", since(one.created_at)),
    fact("Moves made", one.transition_count.toLocaleString("en-GB")),
    fact("Kind", h("a", { class: "data", href: page.link("", { machine: one.machine }) }, one.machine)),
    // To ask a person has no effect; what a gate asks for is in its question.
    execution?.action_type !== "ecs_request" &&
      fact(
        "Effect",
        execution
          ? (execution.irreversible ? "irreversible" : "can be repeated") +
              (execution.human_confirmed ? `, approved by ${execution.approved_by ?? "a person"}` : "")
          : "–",
      ),
    fact("Id", h("code", { class: "data" }, one.id), " ", copyButton(one.id, "id")),
  );
}

const stagesOf = ({ stages }) =>
  stages.map(({ stage, count: number }) => `${number} ${words(stage)}`).join(", ");

function whyOf(data) {
  const { machine: one, execution, gate, answered_with: answer, messages, missing, trouble } = data;
  if (execution?.label === "IN_DOUBT")
    return "It waits because the outcome of the call is unknown. It is not repeated until the outcome is known.";
  if (execution?.label === "CONTRADICTED")
    return `It ended as not done, and a receipt says that it took effect.${
      execution.acknowledged ? " A person has acknowledged that." : ""
    }`;
  if (one.is_terminal) return "It has ended; this state is terminal.";
  const stopped = whyStopped(trouble, messages);
  if (stopped) return stopped;
  if (missing) return `It waits for a worker: ${missing}.`;
  if (data.late) return `${sentence(data.late)}.`;
  if (data.calls?.stages.length) return `It waits for its calls, which are listed below: ${stagesOf(data.calls)}.`;
  if (data.stale) return `${data.stale}.`;
  if (data.caution) return `It waits for an answer. ${data.caution}.`;
  if (execution?.waits_for_service)
    return "It waits for the report of its service, which has accepted the call. Without one before the deadline it is in doubt.";
  if (execution?.question) return "It waits for an answer.";
  if (typeof answer === "string")
    return `It was answered with “${answer}”. Its program has not applied that yet.`;
  if (gate) return "It waits for a person, who says at its gate whether it may run.";
  const { cause, text } = data.waits_for;
  if (cause === "deadline" || (cause === "person" && one.due_at !== null))
    return "It waits for one of the moves below; when its deadline passes, the deadline's move is made.";
  if (cause === "person") return "It waits, without a deadline, for one of the moves below.";
  return `It waits for ${text}.`;
}

/** While the reader is in this part, its buttons stay where they are; those that are gone are disabled. */
function nextPart(page, data) {
  const { machine: one, execution, gate, next } = data;
  const subject = {
    id: one.id,
    summary: nameOf(data),
    question: execution?.question,
    transitionCount: one.transition_count,
    until: execution?.answer_by ?? null,
    setAside: setAside(data.messages),
    gate: gate && {
      id: gate.id,
      summary: nameOf(data),
      question: gate.question,
      until: gate.expires_at ?? null,
    },
  };
  const { item, gone } = heldOne(`steps ${one.id}`, { next, subject }, document.getElementById("next"));
  const labels = labelsOf(data);
  return h(
    "section",
    { id: "next", "aria-labelledby": "next-title" },
    h(
      "h2",
      { id: "next-title" },
      one.is_terminal ? "What can still be done" : "Why it waits, and its next steps",
    ),
    h(
      "p",
      { class: "why" },
      gone ? "It has changed since these buttons were shown. “Show held” brings the new ones." : whyOf(data),
    ),
    !one.is_terminal && data.trouble && h("p", { class: "data" }, failed(data.trouble, data.error)),
    execution?.question && question(execution.question),
    gate && question(gate.question, gate.id),
    openCall(data.open_call),
    item.next.length > 0 && readOnly(),
    stepList(item.next, item.subject, { gone }) ??
      h("p", { class: "none" }, "There is nothing to do here."),
    one.moves.length > 0 &&
      h(
        "details",
        { key: "moves" },
        h("summary", null, `${count(one.moves.length, "legal move")} from here`),
        plainTable(
          ["Move", "To", "Brings", "Who may do it"],
          one.moves.map((move) =>
            h(
              "tr",
              { key: move.trigger },
              h("th", { scope: "row", class: "data" }, move.trigger),
              h("td", null, move.targets.map((target) => labels.get(target) ?? target).join(" or ")),
              dataCell(move.payload.map((item) => `${item.name}: ${item.type}`).join(", ") || "–"),
              h("td", null, (move.actors ?? move.categories).join(", ") || "anyone"),
            ),
          ),
        ),
      ),
  );
}

function historyPart(page, data, step) {
  const { history, definition, machine: one } = data;
  const labels = labelsOf(data);
  const path = pathOf(
    initialOf(history, definition, one.status),
    history.moves.filter((move) => move.number <= step),
  );
  const lanes = lanesOf(data);
  const name = nameOf(data);
  return h(
    "section",
    { "aria-labelledby": "history" },
    h("h2", { id: "history" }, "History"),
    stepper(page, history, step),
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        { key: "diagram" },
        definition
          ? diagram(definition.diagram, one.machine, path)
          : h(
              "p",
              { class: "none" },
              "The definition that it was written under cannot be read, so there is no diagram.",
            ),
        h("p", { class: "note data" }, "Path: ", pathText(path, labels)),
      ),
      entry(page, history, step),
    ),
    h("h3", null, "Over time"),
    picture({
      key: `picture ${one.id}`,
      name: `Timeline of ${name}`,
      lanes,
      at: history.at(step)?.at ?? null,
      select: page.step,
    }),
    h("h3", null, "Entries"),
    entries(page, history, step),
  );
}

function dataPart(page, { machine: one, execution }) {
  const key = `${one.id}/now`;
  const hidden = execution ? RESTRICTED.filter((name) => !(name in execution)) : [];
  const about =
    execution &&
    Object.fromEntries(
      ["result", "error_message", "refusal", ...RESTRICTED]
        .filter((name) => execution[name] !== null && execution[name] !== undefined)
        .map((name) => [name, execution[name]]),
    );
  return h(
    "section",
    { "aria-labelledby": "data" },
    h("h2", { id: "data" }, "Data now"),
    page.audience !== "internal" &&
      h(
        "p",
        { class: "note" },
        `Shown for the audience “${page.audience}”: fields without a mark for it are hidden.`,
      ),
    execution && [
      h("h3", { key: "about" }, "Action"),
      fields(about, `${key}/execution`, page.render, hidden),
    ],
    h("h3", { key: "state" }, "State"),
    fields(one.state, `${key}/state`, page.render),
    h("h3", { key: "context" }, "Context"),
    fields(one.context, `${key}/context`, page.render),
  );
}

function messagesPart(page, { messages, machine: one }) {
  if (!messages.length) return null;
  return h(
    "section",
    { "aria-labelledby": "messages", key: "messages" },
    h("h2", { id: "messages" }, "Messages to it"),
    table(
      "Messages",
      ["Status", "Sent", "Attempts", "Trigger", "Correlation", "More"],
      messages.map((message, index) =>
        message.unreadable
          ? h("tr", { key: index }, h("td", { colspan: 6, class: "data" }, message.unreadable))
          : h(
              "tr",
              { key: message.correlation },
              h("td", null, badge(message.moved_on ? "not_applied" : message.status)),
              h("td", null, since(message.sent_at)),
              h("td", null, String(message.attempts)),
              h("th", { scope: "row", class: "data" }, message.trigger ?? "–"),
              h("td", null, h("code", { class: "data" }, message.correlation)),
              h("td", null, moreOf(message, `${one.id}/${message.correlation}`, page.render)),
            ),
      ),
    ),
  );
}

/** The last cell of a message. */
const moreOf = (message, key, refresh) => [
  message.moved_on && h("div", { key: "moved" }, "The machine had moved on."),
  message.waits_for && h("div", { key: "waits" }, `${sentence(message.waits_for)}.`),
  ["actor", message.actor_name ? "actor_name" : "person", message.error ? "error" : "reason", "body"]
    .filter((name) => message[name])
    .map((name) =>
      h("div", { key: name }, `${words(name)}: `, payload(message[name], `${key}/${name}`, refresh, name)),
    ),
];

const sentence = (text) => text[0].toUpperCase() + text.slice(1);

/** What the calls do that the machine made by entering its state, and those that it left and that are not settled. */
function callsPart(page, { call_list: calls }) {
  if (!calls.length) return null;
  return h(
    "section",
    { "aria-labelledby": "calls", key: "calls" },
    h("h2", { id: "calls" }, "Calls"),
    table(
      "Calls",
      ["State", "Call", "About", "Since", "More", "Execution"],
      calls.map((call) =>
        h(
          "tr",
          { key: call.execution ?? `place ${call.position}` },
          h("td", null, badge(call.stage)),
          rowHead(h("span", { class: "data" }, call.name), ` ${call.position}`),
          dataCell(call.summary),
          h("td", null, since(call.since, "for")),
          h("td", null, moreOfCall(page, call)),
          h("td", null, call.execution ? machineLink(page, call.execution, short(call.execution)) : "–"),
        ),
      ),
    ),
  );
}

/** Why a call waits, and what waits for it. */
const moreOfCall = (page, call) =>
  [
    !call.is_current && ["left", "It is of a state that was left."],
    call.gate && ["gate", "It waits for ", h("a", { href: page.link(`machines/${call.gate}`) }, "its gate")],
    call.answer_by !== null && ["by", "An answer is due ", since(call.answer_by, "due"), "."],
    call.behind && ["key", "It waits for the key that ", machineLink(page, call.behind, short(call.behind)), " has."],
    call.is_overdue
      ? ["overdue", "The machine no longer waits for it."]
      : call.wait_until !== null && ["until", "The machine stops waiting ", since(call.wait_until, "due"), "."],
    call.is_waited_for && ["moves", "Moves out of the state wait for it."],
    call.error && ["error", `Nothing was called: ${words(call.error)}.`],
  ]
    .filter(Boolean)
    .map(([key, ...text]) => h("div", { key }, ...text));

/** The reason why an open child waits. */
function childWaits(page, open) {
  if (!open) return "";
  if (open.missing) return open.missing;
  if (open.gate)
    return [
      "a person, who answers ",
      h("a", { href: page.link(`machines/${open.gate}`) }, "its gate"),
    ];
  return open.question ?? "";
}

function childrenPart(page, { children }) {
  if (!children.length) return null;
  return h(
    "section",
    { "aria-labelledby": "children", key: "children" },
    h("h2", { id: "children" }, "Children"),
    children.length > CHILDREN &&
      h("p", { class: "note" }, `The picture has the first ${CHILDREN} of ${children.length}.`),
    plainTable(
      ["State", "Kind", "About", "Waits for", "Id"],
      children
        .slice(0, 200)
        .map((child) =>
          h(
            "tr",
            { key: child.id },
            h("td", null, badge(child.open?.label ?? child.status)),
            dataCell(child.machine),
            dataCell(child.open?.summary ?? ""),
            h("td", null, childWaits(page, child.open)),
            rowHead(h("a", { href: page.link(`machines/${child.id}`) }, h("code", null, child.id))),
          ),
        ),
    ),
    children.length > 200 && h("p", { class: "note" }, `${children.length - 200} more are not listed.`),
  );
}
