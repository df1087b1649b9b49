// What a person can do, and the dialogs that ask before it is done. Each dialog repeats what is decided; the
// server decides in one commit whether that is still possible, and a refusal is shown in its words.

import { post } from "./api.js";
import { h, patch } from "./dom.js";
import { copyButton } from "./payload.js";
import { count, short, words } from "./text.js";

/** A second click of a double click is not an answer to the dialog that the first one opened. */
const GUARD_MS = 500;

let shell = null;
let open = null;

/**
 * What the page around offers: `person()` and `command()`; `isOffered(kind, id)`, whether a step is still
 * possible as far as it knows; `done(text)` after a decision, and `refresh()`.
 */
export function useShell(value) {
  shell = value;
}

const STEPS = {
  approve: { name: "Approve", primary: true },
  decline: { name: "Decline" },
  confirm: { name: "Say what happened", primary: true },
  retry: { name: "Retry", primary: true },
  cancel: { name: "Cancel it" },
  fence: { name: "Shut out its worker" },
  requeue: { name: "Try again", primary: true },
  send: { name: "Send" },
  respond: { name: "Answer", primary: true },
};

/** The command of a step, with the name of the person where the server leaves a gap for it. */
const commandOf = (step) => {
  const name = shell.person();
  return name ? step.command.replace("--as NAME", `--as ${name}`) : step.command;
};

/** Buttons and commands of steps. `subject` is what they are about: `{ id, summary, question }`. */
export function stepList(steps, subject, { gone = false, compact = false, isQuestionFolded = false } = {}) {
  const known = steps.filter((step) => STEPS[step.do]);
  if (!known.length) return null;
  const folded = (key, title, content) => h("details", { key }, h("summary", null, title), content);
  const button = (step) => {
    const { name, primary } = STEPS[step.do];
    const text = step.do === "send" ? `Send ${step.trigger}` : name;
    return h("button", { type: "button", key: step.do + (step.trigger ?? ""), class: primary ? "primary" : "", disabled: gone, "aria-label": `${text}: ${subject.summary || short(subject.id)}`, onclick: () => ask(step, subject) }, `${text}…`);
  };
  const commands = h("dl", { class: "commands" }, known.map((step) => [
    h("dt", { key: `${step.command}?` }, step.do === "send" ? `Send ${step.trigger}` : STEPS[step.do].name),
    h("dd", { key: step.command }, h("code", { class: "data" }, commandOf(step)), " ", copyButton(commandOf(step), "command")),
  ]));
  return h("div", { class: compact ? "steps compact" : "steps" },
    shell.person() && h("p", { class: "actions", key: "buttons" }, known.map(button)),
    isQuestionFolded && subject.question && folded("question", "Exact question", h("pre", { class: "question data" }, subject.question)),
    compact ? folded("commands", known.length === 1 ? "Command" : "Commands", commands) : commands);
}

/** Says why there are no buttons, where there are none. */
export function readOnly() {
  if (shell.person()) return null;
  return h("p", { class: "note" }, "Read-only: decisions need an operator token. ", h("code", null, "machine serve FILE.db --as NAME"), " prints a link that has one; the commands below work without this page.");
}

/** Opens the dialog of a step. */
export function ask(step, subject) {
  show({ ...FORMS[step.do](step, subject), kind: step.do, ids: [subject.id], command: commandOf(step) });
}

/** Opens the dialog for several gates at once. */
export function askAll(kind, gates) {
  const ids = gates.map((gate) => gate.gate);
  const name = shell.person() ?? "NAME";
  const command = `${shell.command()} ${kind} ${ids.join(" ")} --as ${name}`;
  const form = FORMS[kind]({}, { id: ids[0], summary: "" });
  const what = count(gates.length, "action");
  show({
    ...form,
    kind,
    title: `${STEPS[kind].name} ${what}?`,
    ids,
    command,
    body: [
      h("p", null, `All ${gates.length} or none: if one of them cannot be answered any more, nothing is decided.`),
      gates.map((gate) => h("pre", { class: "question data", key: gate.gate }, gate.question)),
      ...(kind === "decline" ? form.body.slice(-1) : []),
    ],
    run: (data) => post(`api/approvals/${kind}`, { gates: ids, ...reason(data) }),
    done: `${kind === "approve" ? "Approved" : "Declined"}: ${what}`,
  });
}

const reason = (data) => (data.get("reason")?.trim() ? { reason: data.get("reason").trim() } : {});
const text = (name, label, more = {}) => h("label", { key: name }, `${label} `, h(more.rows ? "textarea" : "input", { name, autocomplete: "off", ...more }));
const question = ({ question: asked, summary }) => h("pre", { class: "question data", key: "question" }, asked || summary);
const of = (id) => `api/machines/${encodeURIComponent(id)}`;
const about = ({ id, summary }) => h("p", { key: "about" }, h("strong", null, summary || "Machine"), " ", h("code", { class: "data" }, id));

const FORMS = {
  approve: (step, subject) => ({
    title: "Approve this action?",
    body: [question(subject)],
    yes: "Approve",
    run: () => post("api/approvals/approve", { gates: [subject.id] }),
    done: "Approved",
  }),
  decline: (step, subject) => ({
    title: "Decline this action?",
    body: [question(subject), text("reason", "Reason (the agent reads it)", { maxlength: 2000 })],
    yes: "Decline",
    run: (data) => post("api/approvals/decline", { gates: [subject.id], ...reason(data) }),
    done: "Declined",
  }),
  confirm: (step, subject) => ({
    title: "Did this take place?",
    body: [
      question(subject),
      h("fieldset", { key: "answer" }, h("legend", null, "What you found out at the service"),
        h("label", null, h("input", { type: "radio", name: "applied", value: "true", required: true }), " It took place. It is recorded as done and is never repeated."),
        h("label", null, h("input", { type: "radio", name: "applied", value: "false", required: true }), " It did not take place. Its key becomes free, so it may be tried again.")),
      text("receipt", "Receipt, if it took place (optional)", { maxlength: 2000 }),
      text("reason", "How you know, if it did not (optional)", { maxlength: 2000 }),
      h("details", { key: "override" }, h("summary", null, "Override"),
        h("p", { class: "warning" }, "“Did not take place” is refused while the worker may still be making the call, and until the service has had time to settle. An override skips that check. If the call takes effect after all, a retry does it twice. Your name is on record."),
        h("label", null, h("input", { type: "checkbox", name: "override" }), " Take responsibility for “did not take place”")),
    ],
    yes: "Record it",
    run: (data) => {
      const applied = data.get("applied") === "true";
      const [receipt, override] = [data.get("receipt").trim(), data.get("override") !== null];
      if (applied && override) throw new Error("An override is for “did not take place”.");
      if (applied && data.get("reason").trim()) throw new Error("The reason is for “did not take place”; what shows that it took place is the receipt.");
      if (!applied && receipt) throw new Error("A receipt is for “it took place”.");
      const found = applied ? (receipt ? { receipt } : {}) : { ...reason(data), ...(override ? { override } : {}) };
      return post(`${of(subject.id)}/confirm`, { applied, ...found });
    },
    done: "Recorded",
  }),
  retry: (step, subject) => ({
    title: "Try this again?",
    body: [about(subject), h("p", { key: "how" }, "A retry is a new attempt at the same action with the same idempotency key. It counts as approved by you, and a worker runs it.")],
    yes: "Retry",
    run: () => post(`${of(subject.id)}/retry`, {}),
    done: "Retry created",
  }),
  cancel: (step, subject) => ({
    title: "Cancel this?",
    body: [about(subject), h("p", { key: "how" }, "It ends as CANCELLED where its rules allow that. What has taken effect stays."), text("reason", "Reason (optional)", { maxlength: 2000 })],
    yes: "Cancel the machine",
    run: (data) => post(`${of(subject.id)}/cancel`, reason(data)),
    done: "Cancelled, or left for its worker to cancel",
  }),
  fence: (step, subject) => ({
    title: "Shut out the worker of this call?",
    body: [about(subject), h("p", { class: "warning", key: "how" }, "The worker cannot write its outcome any more, and the call is in doubt until somebody finds out whether it took place. The call itself is not stopped. A receipt still counts."), text("reason", "Reason (optional)", { maxlength: 2000 })],
    yes: "Shut it out",
    run: (data) => post(`${of(subject.id)}/fence`, reason(data)),
    done: "The worker is shut out",
  }),
  requeue: (step, subject) => ({
    title: "Let workers try this again?",
    body: [
      about(subject),
      h("p", { key: "how" }, "Workers set it aside because it failed too often. They start counting from zero."),
      (subject.setAside ?? []).map((one) => h("label", { key: one.correlation }, h("input", { type: "checkbox", name: "message", value: one.correlation, checked: true }), ` Also the message ${one.trigger ?? ""} ${one.correlation}`)),
    ],
    yes: "Try again",
    run: (data) => post(`${of(subject.id)}/requeue`, { messages: data.getAll("message") }),
    done: "Workers try it again",
  }),
  send: (step, subject) => ({
    title: `Send “${step.trigger}”?`,
    body: [
      about(subject),
      h("p", { key: "how" }, "The event is stored. The program of this machine applies it, or sets it aside if its rules refuse it."),
      (step.payload ?? []).map((name) => h("fieldset", { key: `payload ${name}` }, h("legend", null, name),
        h("label", null, "Value ", h("textarea", { name: `value ${name}`, rows: 2, autocomplete: "off", spellcheck: "false" })),
        h("label", null, "Send it as ", h("select", { name: `type ${name}` }, h("option", { value: "text" }, "text"), h("option", { value: "json" }, "JSON (number, true, list, object)"))))),
    ],
    yes: "Send",
    run: (data) => {
      const payload = {};
      for (const name of step.payload ?? []) {
        const value = data.get(`value ${name}`);
        try {
          payload[name] = data.get(`type ${name}`) === "json" ? JSON.parse(value) : value;
        } catch {
          throw new Error(`“${name}” is not JSON. Text in JSON needs quotation marks.`);
        }
      }
      // It is for the state that the person has seen, and for no later one.
      return post(`${of(subject.id)}/send`, { trigger: step.trigger, payload, transition_count: subject.transitionCount ?? null });
    },
    done: `Sent ${step.trigger}`,
  }),
  respond: (step, subject) => ({
    title: "Answer this question",
    body: [question(subject), text("response", "Answer", { rows: 3, required: true })],
    yes: "Answer and resume",
    run: async (data) => {
      await post("ecs/respond", { execution_id: subject.id, response: data.get("response") });
      await post("ecs/continue", { execution_id: subject.id });
    },
    done: "Answered",
  }),
};

function show(form) {
  const dialog = document.getElementById("dialog");
  open = { ...form, since: performance.now(), state: "asking", problem: null };
  patch(dialog);
  render();
  dialog.showModal();
  // Reading comes first: neither Enter nor a second click decides anything at once.
  dialog.querySelector("h2").focus();
}

/** Brings an open dialog up to date after a live update. */
export function refreshDialog() {
  if (open) render();
}

export function closeDialog() {
  document.getElementById("dialog").close();
}

/** Called when the dialog has closed, however that was. */
export function dialogClosed() {
  open = null;
}

/** Opens a dialog that only shows something. */
export function showText(title, body) {
  show({ title, body, ids: [] });
}

function render() {
  const dialog = document.getElementById("dialog");
  const asks = open.state === "asking" && open.run;
  const gone = asks ? open.ids.filter((id) => !shell.isOffered(open.kind, id)) : [];
  const isDone = !open.run || open.state === "refused";
  patch(dialog,
    h("form", { key: "form", onsubmit: submit },
      h("h2", { tabindex: "-1", id: "dialog-title" }, open.title),
      h("div", { class: "body" }, open.body),
      open.command && h("p", { class: "command", key: "command" }, "Command: ", h("code", { class: "data" }, open.command), " ", copyButton(open.command, "command")),
      h("div", { role: "alert", key: "alert" },
        gone.length > 0 && h("p", { class: "warning" }, open.ids.length === 1
          ? "This cannot be decided any more: it has been answered, or it has changed, since this was shown."
          : `${gone.length} of these ${open.ids.length} cannot be decided any more. Go back, and select the others.`),
        open.problem && refusal(open.problem)),
      open.run && shell.person() && !isDone && h("p", { class: "note", key: "who" }, `This is recorded under the name ${shell.person()}.`),
      h("p", { class: "actions end", key: "actions" },
        h("button", { type: "button", key: "no", onclick: closeDialog }, isDone ? "Close" : "Go back"),
        !isDone && h("button", { type: "submit", key: "yes", class: "primary", disabled: open.state === "sending" || gone.length > 0 }, open.state === "sending" ? "Sending…" : open.yes))));
}

/** A refusal in words, with what would be possible. */
export function refusal(problem) {
  return h("div", { class: "warning" },
    h("p", null, h("strong", null, problem.status === 409 ? "Refused: " : `${problem.title ?? "Error"}: `), problem.message),
    problem.legalMoves?.length > 0 && h("p", null, "What is possible now: ", problem.legalMoves.map((one) => `${one.trigger} → ${one.targets.join(" or ")} (by ${one.categories.map(words).join(" or ") || "anyone"})`).join("; "), "."),
    problem.status === 409 && problem.legalMoves?.length === 0 && h("p", null, "There is nothing more that can be done about it."));
}

async function submit(event) {
  event.preventDefault();
  const form = open;
  if (form.state !== "asking" || performance.now() - form.since < GUARD_MS) return;
  const data = new FormData(event.target);
  form.state = "sending";
  form.problem = null;
  render();
  try {
    await form.run(data);
    if (open === form) closeDialog();
    shell.done(form.done);
  } catch (problem) {
    // What was mistyped, or did not reach the server, can be sent again; a refusal stands.
    form.state = problem.status === 409 || problem.status === 404 ? "refused" : "asking";
    form.problem = problem;
    if (open === form) render();
    else shell.done(`Not done: ${problem.message}`);
    shell.refresh();
  }
}
