// The next steps of a person: buttons, and the equivalent commands.

import { get, getMachine, post } from "./api.js";
import { commandOf, placeholder } from "./commands.js";
import { shell, show } from "./dialog.js";
import { h } from "./dom.js";
import { FORMS, reason } from "./forms.js";
import { button, note, pairs, smallButton } from "./parts.js";
import { copyButton, question } from "./payload.js";
import { count, short } from "./text.js";

const STEPS = {
  approve: { name: "Approve", primary: true },
  decline: { name: "Decline" },
  confirm: { name: "Confirm the outcome", primary: true },
  acknowledge: { name: "Dealt with" },
  retry: { name: "Retry", primary: true },
  cancel: { name: "Cancel it" },
  fence: { name: "Fence its worker" },
  requeue: { name: "Try again", primary: true },
  send: { name: "Send" },
  respond: { name: "Answer", primary: true },
};

/** The command that does what a dialog does, with what is typed in it. */
const written = (verb, ids, { words, options }, data) =>
  commandOf({
    before: shell.command(),
    verb,
    words: [...ids, ...(words?.(data) ?? [])],
    person: shell.person(),
    options: options?.(data),
  });

/** One dialog asks which of the two findings it is. */
const hasButton = (step) => step.do !== "confirm" || step.applied;

/** The subject of a step: the machine that is shown, or the gate before it. */
const aboutOf = (step, subject) => (subject.gate?.id === step.id ? subject.gate : subject);

/** The command of a step, with gaps for what people have to say. */
function template(step, shown) {
  const subject = aboutOf(step, shown);
  const data = new FormData();
  for (const message of step.messages ?? []) data.append("message", message);
  if (step.do === "confirm") data.append("applied", step.applied);
  if (step.receipt) data.append("receipt", placeholder(step.receipt));
  return written(step.do, [subject.id], FORMS[step.do](step, subject), data);
}

/**
 * Buttons and commands of steps. `subject` is what they are about: `{ id, summary, question }`, with the
 * same of its `gate`, if it waits behind one.
 */
export function stepList(steps, subject, { gone = false, compact = false, isQuestionFolded = false } = {}) {
  const known = steps.filter((step) => STEPS[step.do]);
  if (!known.length) return null;
  const folded = (key, title, content) => h("details", { key }, h("summary", null, title), content);
  const nameOf = (step) => (step.do === "send" ? `Send ${step.trigger}` : STEPS[step.do].name);
  const asks = (step) =>
    button(`${nameOf(step)}…`, () => ask(step, aboutOf(step, subject)), {
      key: step.do + (step.trigger ?? ""),
      class: STEPS[step.do].primary ? "primary" : "",
      disabled: gone,
      "aria-label": `${nameOf(step)}: ${subject.summary || short(subject.id)}`,
    });
  const commands = pairs(
    { class: "commands" },
    known.map((step) => {
      const command = template(step, subject);
      return [nameOf(step), [h("code", { class: "data" }, command), " ", copyButton(command, "command")], step.command];
    }),
  );
  return h(
    "div",
    { class: compact ? "steps compact" : "steps" },
    shell.person() && h("p", { class: "actions", key: "buttons" }, known.filter(hasButton).map(asks)),
    isQuestionFolded && subject.question && folded("question", "Exact question", question(subject.question)),
    compact ? folded("commands", known.length === 1 ? "Command" : "Commands", commands) : commands,
  );
}

/** Says why there are no buttons, where there are none. */
export function readOnly() {
  if (shell.person()) return null;
  return note(
    "Read-only: decisions need an operator token. ",
    smallButton("Sign in", shell.signIn),
    " The commands below work without this page.",
  );
}

/** Opens the dialog of a step. */
export async function ask(step, about) {
  const subject = await whole(step, about);
  const form = FORMS[step.do](step, subject);
  const ids = [subject.id];
  const until = step.do === "approve" || step.do === "decline" ? untilOf(subject) : null;
  show({ ...form, kind: step.do, ids, until, command: (data) => written(step.do, ids, form, data) });
}

/** With what its dialog needs and not every page knows. */
async function whole(step, subject) {
  if (step.do === "requeue") return withMessages(subject);
  if (step.do === "send" || step.do === "cancel") return withData(subject);
  if (step.do !== "approve") return subject;
  try {
    return { ...subject, whole: await get(`api/approvals/${encodeURIComponent(subject.id)}`) };
  } catch (problem) {
    return { ...subject, refused: problem.message };
  }
}

/** With the machine as this audience sees it, unless it is one of the library. */
async function withData(subject) {
  const shown = await getMachine(subject.id, { audience: shell.audience() }).catch(() => null);
  return shown && !shown.execution ? { ...subject, shown: shown.machine } : subject;
}

/** With the messages that were set aside; not every page knows them. */
async function withMessages(subject) {
  if (subject.setAside) return subject;
  const shown = await getMachine(subject.id).catch(() => null);
  return { ...subject, setAside: setAside(shown?.messages ?? []) };
}

/** The messages that can be tried again. */
export const setAside = (messages) => messages.filter((one) => one.status === "set_aside" && !one.moved_on);

/** Until when a gate can be answered; not every page knows it. */
const untilOf = async ({ id, until }) =>
  until === undefined ? (await getMachine(id)).execution?.answer_by : until;

/** Opens the dialog for several gates at once. */
export function askAll(kind, gates) {
  const ids = gates.map((gate) => gate.gate);
  const ends = gates.map((gate) => gate.expires_at).filter((at) => at !== null);
  const form = FORMS[kind]({}, { id: ids[0], summary: "" });
  const what = count(gates.length, "action");
  show({
    ...form,
    kind,
    title: `${STEPS[kind].name} ${what}?`,
    ids,
    until: ends.length ? Math.min(...ends) : null,
    command: (data) => written(kind, ids, form, data),
    body: [
      h("p", null, `All ${gates.length} or none: if one of them can no longer be answered, nothing is decided.`),
      gates.map((gate) => question(gate.question, gate.gate)),
      ...(kind === "decline" ? form.body.slice(-1) : []),
    ],
    isReady: () => true,
    run: (data) =>
      kind === "approve"
        ? post("api/approvals/approve", { gates: gates.map(({ gate: id, digest }) => ({ id, digest })) })
        : post("api/approvals/decline", { gates: ids, ...reason(data) }),
    done: `${kind === "approve" ? "Approved" : "Declined"}: ${what}`,
  });
}
