// What the dialogs ask before something is done. Each repeats what is decided; the server decides in one
// commit whether that is still possible.

import { post } from "./api.js";
import { object } from "./commands.js";
import { h } from "./dom.js";
import { question } from "./payload.js";

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
const asked = (subject) => question(subject.question || subject.summary);
const of = (id) => `api/machines/${encodeURIComponent(id)}`;
const about = ({ id, summary }) =>
  h("p", { key: "about" }, h("strong", null, summary || "Machine"), " ", h("code", { class: "data" }, id));

const FOUND = { true: "applied", false: "not-applied" };
/** An event is for the state that the person has seen, and for no later one. */
const seenOf = (step, subject) => step.seen ?? subject.transitionCount ?? null;

/** The values of an event that are there, or why one cannot be sent. */
function valuesOf(names, data) {
  const [values, problems] = [{}, []];
  for (const name of names) {
    const value = data.get(`value ${name}`) ?? "";
    const isJson = data.get(`type ${name}`) === "json";
    try {
      if (value) values[name] = isJson ? JSON.parse(value) : value;
      else problems.push(`“${name}” is empty. An empty text is the JSON "".`);
    } catch {
      problems.push(`“${name}” is not JSON. Text in JSON needs quotation marks.`);
    }
  }
  return { values, problems };
}

/**
 * The dialog of each kind of step: its content, what it sends, and what its command has besides the machine
 * and the person.
 */
export const FORMS = {
  approve: (step, subject) => ({
    title: "Approve this action?",
    body: [asked(subject)],
    yes: "Approve",
    run: () => post("api/approvals/approve", { gates: [subject.id] }),
    done: "Approved",
  }),
  decline: (step, subject) => ({
    title: "Decline this action?",
    body: [asked(subject), text("reason", "Reason (the agent reads it)", { maxlength: 2000 })],
    yes: "Decline",
    options: (data) => options(data, "reason"),
    run: (data) => post("api/approvals/decline", { gates: [subject.id], ...reason(data) }),
    done: "Declined",
  }),
  confirm: (step, subject) => ({
    title: "Did this take place?",
    body: [
      asked(subject),
      h(
        "fieldset",
        { key: "answer" },
        h("legend", null, "What you found out at the service"),
        h(
          "label",
          null,
          h("input", { type: "radio", name: "applied", value: "true", required: true }),
          " It took place. It is recorded as done and is never repeated.",
        ),
        h(
          "label",
          null,
          h("input", { type: "radio", name: "applied", value: "false", required: true }),
          " It did not take place. Its key becomes free, so it may be tried again.",
        ),
      ),
      text("receipt", "Receipt, if it took place (optional)", { maxlength: 2000 }),
      text("reason", "How you know, if it did not (optional)", { maxlength: 2000 }),
      h(
        "details",
        { key: "override" },
        h("summary", null, "Override"),
        h(
          "p",
          { class: "warning" },
          "“Did not take place” is refused while the worker may still be making the call, and until the service has had time to settle. An override skips that check. If the call takes effect after all, a retry does it twice. Your name is on record.",
        ),
        h(
          "label",
          null,
          h("input", { type: "checkbox", name: "override" }),
          " Take responsibility for “did not take place”",
        ),
      ),
    ],
    yes: "Record it",
    words: (data) => [FOUND[data.get("applied")] ?? "applied|not-applied"],
    options: (data) => [...options(data, "receipt", "reason"), ["override", data.get("override") !== null]],
    run: (data) => {
      const applied = data.get("applied") === "true";
      const [receipt, override] = [typed(data, "receipt"), data.get("override") !== null];
      if (applied && override) throw new Error("An override is for “did not take place”.");
      if (applied && typed(data, "reason"))
        throw new Error(
          "The reason is for “did not take place”; what shows that it took place is the receipt.",
        );
      if (!applied && receipt) throw new Error("A receipt is for “it took place”.");
      const found = applied
        ? receipt
          ? { receipt }
          : {}
        : { ...reason(data), ...(override ? { override } : {}) };
      return post(`${of(subject.id)}/confirm`, { applied, ...found });
    },
    done: "Recorded",
  }),
  retry: (step, subject) => ({
    title: "Try this again?",
    body: [
      about(subject),
      h(
        "p",
        { key: "how" },
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
      h("p", { key: "how" }, "It ends as CANCELLED where its rules allow that. What has taken effect stays."),
      text("reason", "Reason (optional)", { maxlength: 2000 }),
    ],
    yes: "Cancel the machine",
    options: (data) => options(data, "reason"),
    run: (data) => post(`${of(subject.id)}/cancel`, reason(data)),
    done: "Cancelled, or left for its worker to cancel",
  }),
  fence: (step, subject) => ({
    title: "Shut out the worker of this call?",
    body: [
      about(subject),
      h(
        "p",
        { class: "warning", key: "how" },
        "The worker cannot write its outcome any more, and the call is in doubt until somebody finds out whether it took place. The call itself is not stopped. A receipt still counts.",
      ),
      text("reason", "Reason (optional)", { maxlength: 2000 }),
    ],
    yes: "Shut it out",
    options: (data) => options(data, "reason"),
    run: (data) => post(`${of(subject.id)}/fence`, reason(data)),
    done: "The worker is shut out",
  }),
  requeue: (step, subject) => ({
    title: "Let workers try this again?",
    body: [
      about(subject),
      h(
        "p",
        { key: "how" },
        "Workers set it aside because it failed too often. They start counting from zero.",
      ),
      (subject.setAside ?? []).map((one) =>
        h(
          "label",
          { key: one.correlation },
          h("input", { type: "checkbox", name: "message", value: one.correlation, checked: true }),
          ` The message ${one.trigger ?? ""} ${one.correlation}`,
        ),
      ),
    ],
    yes: "Try again",
    options: (data) => data.getAll("message").map((message) => ["message", message]),
    run: (data) => post(`${of(subject.id)}/requeue`, { messages: data.getAll("message") }),
    done: "Workers try it again",
  }),
  send: (step, subject) => ({
    title: `Send “${step.trigger}”?`,
    body: [
      about(subject),
      h(
        "p",
        { key: "how" },
        "The event is stored. The program of this machine applies it, or sets it aside if its rules refuse it.",
      ),
      (step.payload ?? []).map((name) =>
        h(
          "fieldset",
          { key: `payload ${name}` },
          h("legend", null, name),
          h(
            "label",
            null,
            "Value ",
            h("textarea", { name: `value ${name}`, rows: 2, autocomplete: "off", spellcheck: "false" }),
          ),
          h(
            "label",
            null,
            "Send it as ",
            h(
              "select",
              { name: `type ${name}` },
              h("option", { value: "text" }, "text"),
              h("option", { value: "json" }, "JSON (number, true, list, object)"),
            ),
          ),
        ),
      ),
    ],
    yes: "Send",
    words: () => [step.trigger],
    options: (data) => [
      ["seen", seenOf(step, subject)?.toString()],
      ["payload", step.payload?.length && object(step.payload, valuesOf(step.payload, data).values)],
    ],
    run: (data) => {
      const { values, problems } = valuesOf(step.payload ?? [], data);
      if (problems.length) throw new Error(problems.join(" "));
      return post(`${of(subject.id)}/send`, {
        trigger: step.trigger,
        payload: values,
        transition_count: seenOf(step, subject),
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
