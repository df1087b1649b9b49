// The commands that do what the dialogs do, written for a POSIX shell with what was typed.

import { isSeen } from "./text.js";

/** Characters without a meaning to any shell. */
const PLAIN = /^[\w@%+:,./-]+$/;
const UTF8 = new TextEncoder();
const octal = (byte) => `\\${byte.toString(8).padStart(3, "0")}`;
const unicode = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/**
 * One word for a shell. What cannot be seen is written as `printf` takes it, because a terminal reads some
 * of it as keys. Line breaks stay: a shell drops them at the end of what `printf` prints.
 */
export function quoted(text) {
  if (PLAIN.test(text)) return text;
  const parts = [];
  for (const one of text) {
    const isHidden = one !== "\n" && !isSeen(one);
    const written = isHidden ? [...UTF8.encode(one)].map(octal).join("") : one.replace("'", "'\\''");
    if (parts.at(-1)?.isHidden === isHidden) parts.at(-1).text += written;
    else parts.push({ isHidden, text: written });
  }
  return parts.map((it) => (it.isHidden ? `"$(printf '${it.text}')"` : `'${it.text}'`)).join("") || "''";
}

const json = (value) =>
  Array.from(JSON.stringify(value), (one) => (isSeen(one) ? one : one.split("").map(unicode).join(""))).join(
    "",
  );

/** The text for a value of a type that is missing; the program refuses it as the value. */
export const placeholder = (type) => `<${type}>`;

/** A JSON object of these items, with placeholders for missing values. */
export const object = (items, values) => {
  const value = ({ name, type }) => (name in values ? values[name] : placeholder(type));
  return `{${items.map((item) => `${json(item.name)}: ${json(value(item))}`).join(", ")}}`;
};

/** An option, if it has a value. One that begins like an option has to be in the same word. */
const option = ([name, value]) =>
  value && `--${name}${value === true ? "" : `${value.startsWith("-") ? "=" : " "}${quoted(value)}`}`;

/** A whole command. `before` names the program and its file; `options` are names with texts, or `true`. */
export function commandOf({ before, verb, words, person, options = [] }) {
  const named = [["as", person ?? "NAME"], ...options].map(option).filter(Boolean);
  const plain = words.map(quoted);
  // After `--` nothing is an option.
  const all = words.some((word) => word.startsWith("-")) ? [...named, "--", ...plain] : [...plain, ...named];
  return [before, verb, ...all].join(" ");
}
