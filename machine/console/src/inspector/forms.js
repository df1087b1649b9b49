// The forms of the dialogs. Each repeats the decision; the server decides in one
// commit whether that is still possible.

import { machinePath as of, post } from "./api.js";
import { object } from "./commands.js";
import { refreshDialog } from "./dialog.js";
import { h } from "./dom.js";
import { button, warning } from "./parts.js";
import { fields, isCut, question } from "./payload.js";
import { count } from "./text.js";

const typed = (data, name) => data.get(name)?.trim() ?? "";
/** The reason that was given, if one was. */
export const reason = (data) => (typed(data, "reason") ? { reason: typed(data, "reason") } : {});
const options = (data, ...names) => names.map((name) => [name, typed(data, name)]);
const text = (name, label, more = {}) =>
  h(
    "label",
    { key: name },
    `${label} `,
    h(more.rows ? "textarea" : "input", { name, autocomplete: "off", ...more }),
  );
const why = (label = "Reason (optional)") => text("reason", label, { maxlength: 2000 });
/** A box to tick, or one of several. */
const tick = (type, name, label, more = {}) => h("label", null, h("input", { type, name, ...more }), ` ${label}`);
const asked = (subject) => question(subject.question || subject.summary);
const about = ({ id, summary }) =>
  h("p", { key: "about" }, h("strong", null, summary || "Machine"), " ", h("code", { class: "data" }, id));
const how = (text) => h("p", { key: "how" }, text);

const FOUND = { true: "applied", false: "not-applied" };
/** An event is for the state that the person has seen, and for no later one. */
const seenOf = (step, subject) => step.seen ?? subject.transitionCount ?? null;

/** A type without `Option<..>`. */
const plainType = (type) => /^Option<(.*)>$/.exec(type)?.[1] ?? type;
const isOptional = ({ optional, type }) => optional || plainType(type) !== type;
/** A number as it was typed: large ones would lose digits. */
const number = (text) => JSON.rawJSON?.(text) ?? Number(text);

const line = (inputmode) => (name) => h("input", { name, inputmode, autocomplete: "off" });
const area = (name) => h("textarea", { name, rows: 2, autocomplete: "off", spellcheck: "false" });

/** The field of a value of each type, and the value in JSON; throws what is wrong with it. */
const TYPES = [
  {
    of: /^bool$/,
    field: (name) =>
      h("select", { name }, ["", "true", "false"].map((value) => h("option", { value }, value || "–"))),
    read: (text) => text === "true",
  },
  {
    of: /^[iu](8|16|32|64|128|size)$/,
    field: line("numeric"),
    read(text, type) {
      if (!(type.startsWith("u") ? /^\d+$/ : /^-?\d+$/).test(text)) throw `is a whole number (${type})`;
      return number(text.replace(/^(-?)0+(?=\d)/, "$1"));
    },
  },
  {
    of: /^f(32|64)$/,
    field: line("decimal"),
    read(text) {
      if (!Number.isFinite(Number(text))) throw "is a number, such as 1.5";
      return Number(text);
    },
  },
  {
    of: /^(String|Box<str>|Arc<str>|&'static str)$/,
    field: area,
    read: (text) => text,
  },
  {
    of: /./s,
    isJson: true,
    field: area,
    read(text) {
      try {
        return JSON.parse(text);
      } catch {
        throw "is not JSON. Text in JSON needs quotation marks";
      }
    },
  },
];
const typeOf = (item) => TYPES.find(({ of }) => of.test(plainType(item.type)));

/** The field for one value of an event. */
function fieldOf(item) {
  const { field, isJson } = typeOf(item);
  return h(
    "label",
    { key: `value ${item.name}` },
    `${item.name}: ${plainType(item.type)}${isJson ? ", as JSON" : ""}${isOptional(item) ? " (optional)" : ""} `,
    field(`value ${item.name}`),
  );
}

/** The values of an event that are there, and why it cannot be sent. */
function valuesOf(items, data) {
  const [values, problems] = [{}, []];
  for (const item of items) {
    const text = data.get(`value ${item.name}`) ?? "";
    try {
      if (text) values[item.name] = typeOf(item).read(text, plainType(item.type));
      else if (!isOptional(item)) problems.push(`“${item.name}” is empty.`);
    } catch (problem) {
      problems.push(`“${item.name}” ${problem}.`);
    }
  }
  return { values, problems };
}

/** The items whose values are there or have to be. */
const given = (items, data) => items.filter((item) => data.get(`value ${item.name}`) || !isOptional(item));

/** The data of a machine of the program, which the person decides about; `shown` is the machine. */
const dataOf = ({ shown }) =>
  shown && [
    h("h3", { key: "state?" }, "Current data"),
    fields({ ...shown.context, ...shown.state }, `dialog/${shown.id}`, refreshDialog, [], true),
  ];

/**
 * The dialog of each kind of step: its content, what it sends, and what its command has besides the machine
 * and the person.
 */
export const FORMS = {
  approve: (step, subject) => {
    // An approval is for a text that was shown, so there is no digest without the whole text.
    let isShown = !isCut(subject.question);
    const showAll = () => {
      isShown = true;
      refreshDialog();
    };
    const { whole } = subject;
    return {
      title: "Approve this action?",
      body: () => [
        question(isShown && whole ? whole.question : subject.question || subject.summary),
        !isShown &&
          h(
            "p",
            { class: "warning", key: "cut" },
            "Part of this is not shown. Show all of it to approve. ",
            whole && button(`Show all ${count(whole.question.length, "character")}`, showAll),
          ),
        subject.refused && h("p", { class: "warning", key: "refused" }, subject.refused),
      ],
      yes: "Approve",
      isReady: () => isShown && Boolean(whole),
      options: () => [["whole", isCut(subject.question)]],
      run: () => post("api/approvals/approve", { gates: [{ id: subject.id, digest: whole.digest }] }),
      done: "Approved",
    };
  },
  decline: (step, subject) => ({
    title: "Decline this action?",
    body: [asked(subject), why("Reason (the agent reads it)")],
    yes: "Decline",
    options: (data) => options(data, "reason"),
    run: (data) => post("api/approvals/decline", { gates: [subject.id], ...reason(data) }),
    done: "Declined",
  }),
  confirm: (step, subject) => ({
    title: "Did this take effect?",
    body: [
      asked(subject),
      h(
        "fieldset",
        { key: "answer" },
        h("legend", null, "The finding at the service"),
        tick("radio", "applied", "It took effect. It is recorded as done and is never repeated.", {
          value: "true",
          required: true,
        }),
        tick("radio", "applied", "It did not take effect. Its key is released for another attempt.", {
          value: "false",
          required: true,
        }),
      ),
      text("receipt", "Receipt, if it took effect (optional)", { maxlength: 2000 }),
      why("How you know, if it did not (optional)"),
      h(
        "details",
        { key: "override" },
        h("summary", null, "Override"),
        warning(
          "“Did not take effect” is refused while the worker may still be making the call, and until the service has had time to settle. An override skips that check. If the call takes effect after all, a retry does it twice. Your name is recorded.",
        ),
        tick("checkbox", "override", "Take responsibility for “did not take effect”"),
      ),
    ],
    yes: "Record it",
    words: (data) => [FOUND[data.get("applied")] ?? "applied|not-applied"],
    options: (data) => [...options(data, "receipt", "reason"), ["override", data.get("override") !== null]],
    run: (data) => {
      const applied = data.get("applied") === "true";
      const [receipt, override] = [typed(data, "receipt"), data.get("override") !== null];
      if (applied && override) throw new Error("An override is for “did not take effect”.");
      if (applied && typed(data, "reason"))
        throw new Error(
          "The reason is for “did not take effect”; the proof that it took effect is the receipt.",
        );
      if (!applied && receipt) throw new Error("A receipt is for “it took effect”.");
      const found = applied
        ? receipt
          ? { receipt }
          : {}
        : { ...reason(data), ...(override ? { override } : {}) };
      return post(`${of(subject.id)}/confirm`, { applied, ...found });
    },
    done: "Recorded",
  }),
  acknowledge: (step, subject) => ({
    title: "Acknowledge this contradiction?",
    body: [
      about(subject),
      how(
        "It is recorded as not done, and a receipt says that it took effect. Once acknowledged, it needs no attention until another receipt arrives.",
      ),
    ],
    yes: "Acknowledge",
    run: () => post(`${of(subject.id)}/acknowledge`, {}),
    done: "Acknowledged",
  }),
  retry: (step, subject) => ({
    title: "Retry this action?",
    body: [
      about(subject),
      how(
        "A retry is a new attempt at the same action with the same idempotency key. It counts as approved by you, and a worker runs it.",
      ),
    ],
    yes: "Retry",
    run: () => post(`${of(subject.id)}/retry`, {}),
    done: "Retry created",
  }),
  cancel: (step, subject) => ({
    title: "Cancel this?",
    body: [
      about(subject),
      dataOf(subject),
      how("It ends as CANCELLED where its rules allow that. What has taken effect stays."),
      why(),
    ],
    yes: "Cancel the machine",
    options: (data) => options(data, "reason"),
    run: (data) => post(`${of(subject.id)}/cancel`, reason(data)),
    done: "Cancelled, or left for its worker to cancel",
  }),
  fence: (step, subject) => ({
    title: "Fence the worker of this call?",
    body: [
      about(subject),
      h(
        "p",
        { class: "warning", key: "how" },
        "The worker can no longer write its outcome, and the call is in doubt until a person confirms whether it took effect. The call itself is not stopped. A receipt still counts.",
      ),
      why(),
    ],
    yes: "Fence it",
    options: (data) => options(data, "reason"),
    run: (data) => post(`${of(subject.id)}/fence`, reason(data)),
    done: "The worker is fenced",
  }),
  requeue: (step, subject) => ({
    title: "Let workers retry this?",
    body: [
      about(subject),
      how("Workers have stopped working on it. They start again, counting attempts from zero."),
      (subject.setAside ?? []).map((one) =>
        h(
          "label",
          { key: one.correlation },
          h("input", { type: "checkbox", name: "message", value: one.correlation, checked: true }),
          ` The message ${one.trigger ?? ""} ${one.correlation}${one.why ? `: ${one.why}` : ""}`,
        ),
      ),
    ],
    yes: "Try again",
    options: (data) => data.getAll("message").map((message) => ["message", message]),
    run: (data) => post(`${of(subject.id)}/requeue`, { messages: data.getAll("message") }),
    done: "Workers will retry it",
  }),
  send: (step, subject) => ({
    title: `Send “${step.trigger}”?`,
    body: [
      about(subject),
      how(
        "The event is stored. The program of this machine applies it, or sets it aside if its rules refuse it.",
      ),
      dataOf(subject),
      (step.payload ?? []).map(fieldOf),
    ],
    yes: "Send",
    words: () => [step.trigger],
    options: (data) => [
      ["seen", seenOf(step, subject)?.toString()],
      ["payload", step.payload?.length && object(given(step.payload, data), valuesOf(step.payload, data).values)],
    ],
    run: (data) => {
      const { values, problems } = valuesOf(step.payload ?? [], data);
      if (problems.length) throw new Error(problems.join(" "));
      return post(`${of(subject.id)}/send`, {
        trigger: step.trigger,
        payload: values,
        seen: seenOf(step, subject),
      });
    },
    done: `Sent ${step.trigger}`,
  }),
  respond: (step, subject) => ({
    title: "Answer this question",
    body: [asked(subject), text("response", "Answer", { rows: 3, required: true })],
    yes: "Answer and resume",
    words: (data) => [data.get("response") ?? ""],
    run: async (data) => {
      await post("ecs/respond", { execution_id: subject.id, response: data.get("response") });
      await post("ecs/continue", { execution_id: subject.id });
    },
    done: "Answered",
  }),
};
