// The dialog of the page. It asks before something is done, and shows a refusal in the words of the server.

import { h, patch } from "./dom.js";
import { button, warning } from "./parts.js";
import { copyButton } from "./payload.js";
import { moment, now, since, words } from "./text.js";

/** A second click of a double click is not an answer to the dialog that the first one opened. */
const GUARD_MS = 500;
/** The longest pause that a timer can make. */
const LONGEST_MS = 2 ** 31 - 1;

/** The functions of the page around. */
export let shell = null;
let open = null;

/**
 * The functions of the page around: `person()`, `command()`, `audience()` and `signIn()`; `isOffered(kind, id)`, whether a step is still
 * possible as far as it knows; `done(text)` after a decision, and `refresh()`.
 */
export function useShell(value) {
  shell = value;
}

/**
 * Opens the dialog: `{ title, body, command(data), ids, kind, until, yes, isReady(), run(data), done }`; without
 * `run` it only shows. `body` may be a function, and `refreshDialog` shows what it returns then. `until` is when
 * the time to answer ends, or a promise of that.
 */
export function show(form) {
  const dialog = document.getElementById("dialog");
  open = { ...form, since: performance.now(), state: "asking", problem: null };
  patch(dialog);
  render();
  // Now there are fields, which the command is built from.
  render();
  dialog.showModal();
  // Reading comes first: neither Enter nor a second click decides anything at once.
  dialog.querySelector("h2").focus();
  limit(open);
}

/** Shows until when it can be answered, and says so when that has passed. */
async function limit(form) {
  const until = await Promise.resolve(form.until).catch(() => null);
  if (!until) return;
  form.until = until;
  form.expires = until;
  const wait = () => {
    if (open !== form) return;
    render();
    const left = until - now();
    if (left > 0) setTimeout(wait, Math.min(left, LONGEST_MS));
    else shell.refresh();
  };
  wait();
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
  const isLate = asks && open.expires <= now();
  const gone = asks ? open.ids.filter((id) => !shell.isOffered(open.kind, id)) : [];
  const form = dialog.querySelector("form");
  const command = open.command?.(form ? new FormData(form) : new FormData());
  const isDone = !open.run || open.state === "refused";
  patch(
    dialog,
    h(
      "form",
      { key: "form", onsubmit: submit, oninput: render },
      h("h2", { tabindex: "-1", id: "dialog-title" }, open.title),
      h("div", { class: "body" }, typeof open.body === "function" ? open.body() : open.body),
      command &&
        h(
          "p",
          { class: "command", key: "command" },
          "Command: ",
          h("code", { class: "data" }, command),
          " ",
          copyButton(command, "command"),
        ),
      open.expires &&
        h(
          "p",
          { class: "note", key: "until" },
          `It can be answered until ${moment(open.expires)} (`,
          since(open.expires, "due"),
          ").",
        ),
      h(
        "div",
        { role: "alert", key: "alert" },
        isLate && warning("The time to answer has passed, so this can no longer be decided."),
        !isLate &&
          gone.length > 0 &&
          warning(
            open.ids.length === 1
              ? "This can no longer be decided: it was answered or has changed since it was shown."
              : `${gone.length} of these ${open.ids.length} can no longer be decided. Go back and select the others.`,
          ),
        open.problem && refusal(open.problem),
      ),
      open.run &&
        shell.person() &&
        !isDone &&
        h("p", { class: "note", key: "who" }, `This is recorded under the name ${shell.person()}.`),
      h(
        "p",
        { class: "actions end", key: "actions" },
        button(isDone ? "Close" : "Go back", closeDialog, { key: "no" }),
        !isDone &&
          h(
            "button",
            {
              type: "submit",
              key: "yes",
              class: "primary",
              disabled:
                open.state === "sending" || isLate || gone.length > 0 || open.isReady?.() === false,
            },
            open.state === "sending" ? "Sending…" : open.yes,
          ),
      ),
    ),
  );
}

/** A refusal in words, with what would be possible. */
export function refusal({ status, title, message, legalMoves = [] }) {
  const isRefused = status === 409;
  const moves = legalMoves.map(
    ({ trigger, targets, categories }) =>
      `${trigger} → ${targets.join(" or ")} (by ${categories.map(words).join(" or ") || "anyone"})`,
  );
  return h(
    "div",
    { class: "warning" },
    h("p", null, h("strong", null, isRefused ? "Refused: " : `${title ?? "Error"}: `), message),
    isRefused &&
      h("p", null, moves.length ? `What is possible now: ${moves.join("; ")}.` : "No more actions are possible."),
  );
}

async function submit(event) {
  event.preventDefault();
  const form = open;
  if (form.state !== "asking" || form.isReady?.() === false) return;
  if (performance.now() - form.since < GUARD_MS) return;
  const data = new FormData(event.target);
  form.state = "sending";
  form.problem = null;
  render();
  try {
    await form.run(data);
    if (open === form) closeDialog();
    shell.done(form.done);
  } catch (problem) {
    // After a typing error or a lost connection it can be sent again; a refusal is final.
    form.state = problem.status === 409 || problem.status === 404 ? "refused" : "asking";
    form.problem = problem;
    if (open === form) render();
    else
      shell.done(
        `${problem.status ? "Not done" : "Perhaps not done; check the machine"}: ${problem.message}`,
      );
    shell.refresh();
  }
}
