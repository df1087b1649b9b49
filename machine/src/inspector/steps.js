// What a person can do: buttons, and the commands that do the same.

import { post } from "./api.js";
import { shell, show } from "./dialog.js";
import { h } from "./dom.js";
import { FORMS, reason } from "./forms.js";
import { copyButton } from "./payload.js";
import { count, short } from "./text.js";

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
    return h(
      "button",
      {
        type: "button",
        key: step.do + (step.trigger ?? ""),
        class: primary ? "primary" : "",
        disabled: gone,
        "aria-label": `${text}: ${subject.summary || short(subject.id)}`,
        onclick: () => ask(step, subject),
      },
      `${text}…`,
    );
  };
  const commands = h(
    "dl",
    { class: "commands" },
    known.map((step) => [
      h("dt", { key: `${step.command}?` }, step.do === "send" ? `Send ${step.trigger}` : STEPS[step.do].name),
      h(
        "dd",
        { key: step.command },
        h("code", { class: "data" }, commandOf(step)),
        " ",
        copyButton(commandOf(step), "command"),
      ),
    ]),
  );
  return h(
    "div",
    { class: compact ? "steps compact" : "steps" },
    shell.person() && h("p", { class: "actions", key: "buttons" }, known.map(button)),
    isQuestionFolded &&
      subject.question &&
      folded("question", "Exact question", h("pre", { class: "question data" }, subject.question)),
    compact ? folded("commands", known.length === 1 ? "Command" : "Commands", commands) : commands,
  );
}

/** Says why there are no buttons, where there are none. */
export function readOnly() {
  if (shell.person()) return null;
  return h(
    "p",
    { class: "note" },
    "Read-only: decisions need an operator token. ",
    h("code", null, "machine serve FILE.db --as NAME"),
    " prints a link that has one; the commands below work without this page.",
  );
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
      h(
        "p",
        null,
        `All ${gates.length} or none: if one of them cannot be answered any more, nothing is decided.`,
      ),
      gates.map((gate) => h("pre", { class: "question data", key: gate.gate }, gate.question)),
      ...(kind === "decline" ? form.body.slice(-1) : []),
    ],
    run: (data) => post(`api/approvals/${kind}`, { gates: ids, ...reason(data) }),
    done: `${kind === "approve" ? "Approved" : "Declined"}: ${what}`,
  });
}
