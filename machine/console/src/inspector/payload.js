// Data of machines: folded, cut, and copied. Whatever it says, it is text.

import { h } from "./dom.js";
import { none, pairs, smallButton } from "./parts.js";
import { count } from "./text.js";

/** The length above which a text is shown on request, in characters. */
const CUT = 4000;
const SHORT = 80;
const whole = new Set();

const written = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/** A button that copies `text`, and says so. */
export function copyButton(text, what = "") {
  const label = what ? `Copy ${what}` : "Copy";
  const onclick = async (event) => {
    const button = event.currentTarget;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  };
  return smallButton("Copy", onclick, { "aria-label": label });
}

/** The exact question to a person; a long one scrolls, also by keys. */
export const question = (text, key = "question") =>
  h(
    "pre",
    { class: "question data", key, tabindex: "0", role: "group", "aria-label": "Exact question" },
    text,
  );

/** The first line of the question of a gate, if it is in the words of its tool: then the name of the tool follows. */
export const wording = (text) => /^(.+)\n(?:\(tool\) |（工具）)/.exec(text ?? "")?.[1];

/** True if a question hides a part of the action; a line before the arguments names the part. No argument begins with a bracket. */
export const isCut = (text) =>
  /^[^\n]*\n([(（][^\n]*\n)*(NOT SHOWN HERE: |此处未显示：)/.test(text ?? "");

/** A value: short ones as they are, others folded. `key` makes it the same one after an update. */
export function payload(value, key, refresh, what = "value", open = undefined) {
  const text = written(value) ?? "";
  const isShort = text.length <= SHORT && !text.includes("\n");
  if (isShort) return h("code", { class: "data" }, text === "" ? '""' : text);
  const cut = text.length > CUT && !whole.has(key);
  const showAll = () => {
    whole.add(key);
    refresh();
  };
  return h(
    "details",
    { class: "payload", key, open },
    h(
      "summary",
      null,
      h("code", { class: "data" }, `${text.slice(0, SHORT).replaceAll(/\s+/g, " ")}…`),
      ` ${count(text.length, "character")}`,
    ),
    h(
      "pre",
      { class: "data", tabindex: "0", role: "group", "aria-label": what },
      cut ? text.slice(0, CUT) : text,
    ),
    h(
      "p",
      { class: "actions" },
      cut && smallButton(`Show all ${count(text.length, "character")}`, showAll),
      copyButton(text, what),
    ),
  );
}

/** Names and values; `hidden` are names that this audience does not see. */
export function fields(values, key, refresh, hidden = [], open = undefined) {
  const names = Object.keys(values ?? {});
  if (!names.length && !hidden.length) return none("None visible to this audience.");
  const unseen = hidden.filter((name) => !names.includes(name));
  return pairs({ class: "fields", key }, [
    ...names.map((name) => [name, payload(values[name], `${key}/${name}`, refresh, name, open)]),
    ...unseen.map((name) => [name, h("span", { class: "none" }, "hidden from this audience")]),
  ]);
}
