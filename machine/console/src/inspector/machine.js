// The page of one machine: where it is, what would move it, and how it came there.

import { getMachine } from "./api.js";
import { diagram, pathOf, pathText } from "./diagram.js";
import { h } from "./dom.js";
import { History, entries, entry, stepper } from "./history.js";
import { CHILDREN, findAttempts, findOffspring, initialOf, labelsOf, lanesOf, nameOf } from "./lanes.js";
import { heldOne } from "./hold.js";
import { FILTERS, openCall } from "./overview.js";
import { crumbs, data as dataCell, dataHead, heading, machineLink, none, note, part, plainTable, rowHead, sessionLink, table } from "./parts.js";
import { copyButton, fields, payload, question } from "./payload.js";
import { picture } from "./picture.js";
import { definitionOf } from "./records.js";
import { readOnly, setAside, stepList } from "./steps.js";
import { badge, count, digits, failed, short, since, whyStopped, words } from "./text.js";

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
      getMachine(id, { audience }),
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
      heading([h("span", { class: "data" }, nameOf(data)), " ", badge(labelOf(data))]),
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
    fact("Moves made", digits(one.transition_count)),
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
      none("There is nothing to do here."),
    one.moves.length > 0 &&
      h(
        "details",
        { key: "moves" },
        h("summary", null, `${count(one.moves.length, "legal move")} from here`),
        plainTable(["Move", "To", "Brings", "Who may do it"], one.moves, (move) => [
          move.trigger,
          dataHead(move.trigger),
          move.targets.map((target) => labels.get(target) ?? target).join(" or "),
          dataCell(move.payload.map((item) => `${item.name}: ${item.type}`).join(", ") || "–"),
          (move.actors ?? move.categories).join(", ") || "anyone",
        ]),
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
  return part(
    "history",
    "History",
    stepper(page, history, step),
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        { key: "diagram" },
        definition
          ? diagram(definition.diagram, one.machine, path)
          : none("The definition that it was written under cannot be read, so there is no diagram."),
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
  return part(
    "data",
    "Data now",
    page.audience !== "internal" &&
      note(`Shown for the audience “${page.audience}”: fields without a mark for it are hidden.`),
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
  const heads = ["Status", "Sent", "Attempts", "Trigger", "Correlation", "More"];
  return part(
    "messages",
    "Messages to it",
    table("Messages", heads, messages, (message, index) =>
      message.unreadable
        ? [index, h("td", { colspan: 6, class: "data" }, message.unreadable)]
        : [
            message.correlation,
            badge(message.moved_on ? "not_applied" : message.status),
            since(message.sent_at),
            String(message.attempts),
            dataHead(message.trigger ?? "–"),
            h("code", { class: "data" }, message.correlation),
            moreOf(message, `${one.id}/${message.correlation}`, page.render),
          ],
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
  return part(
    "calls",
    "Calls",
    table("Calls", ["State", "Call", "About", "Since", "More", "Execution"], calls, (call) => [
      call.execution ?? `place ${call.position}`,
      badge(call.stage),
      rowHead(h("span", { class: "data" }, call.name), ` ${call.position}`),
      dataCell(call.summary),
      since(call.since, "for"),
      moreOfCall(page, call),
      call.execution ? machineLink(page, call.execution, short(call.execution)) : "–",
    ]),
  );
}

/** Why a call waits, and what waits for it. */
const moreOfCall = (page, call) =>
  [
    !call.is_current && ["left", "It is of a state that was left."],
    call.gate && ["gate", "It waits for ", gateLink(page, call)],
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

const gateLink = (page, { gate }) => h("a", { href: page.link(`machines/${gate}`) }, "its gate");

/** The reason why an open child waits. */
const childWaits = (page, open) =>
  open?.missing || (open?.gate ? ["a person, who answers ", gateLink(page, open)] : (open?.question ?? ""));

function childrenPart(page, { children }) {
  if (!children.length) return null;
  return part(
    "children",
    "Children",
    children.length > CHILDREN && note(`The picture has the first ${CHILDREN} of ${children.length}.`),
    plainTable(["State", "Kind", "About", "Waits for", "Id"], children.slice(0, 200), (child) => [
      child.id,
      badge(child.open?.label ?? child.status),
      dataCell(child.machine),
      dataCell(child.open?.summary ?? ""),
      childWaits(page, child.open),
      rowHead(h("a", { href: page.link(`machines/${child.id}`) }, h("code", null, child.id))),
    ]),
    children.length > 200 && note(`${children.length - 200} more are not listed.`),
  );
}
