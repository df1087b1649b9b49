// Keys of one letter, optional. They do nothing while a person types.

import { h } from "./dom.js";
import { plainTable, rowHead } from "./parts.js";

const SHORTCUTS = "machine-shortcuts";

const KEYS = [
  ["?", "This help"],
  ["g, then o a s t d l", "Overview, approvals, sessions, turns, definitions, operator log"],
  ["/", "First filter"],
  [", and .", "One entry back or forward in the history"],
  ["< and >", "First and latest entry"],
  ["u", "Show the changes that are held"],
];

let isOff = localStorage.getItem(SHORTCUTS) === "off";
let afterG = false;

/** The keys, as the help shows them. */
export function keyTable() {
  const toggle = (event) => {
    isOff = !event.currentTarget.checked;
    localStorage.setItem(SHORTCUTS, isOff ? "off" : "on");
  };
  return [
    plainTable(["Key", "What it does"], KEYS, ([key, what]) => [key, rowHead(h("kbd", null, key)), what]),
    h(
      "p",
      { key: "use" },
      h("label", null, h("input", { type: "checkbox", checked: !isOff, onchange: toggle }), " Use these keys"),
    ),
  ];
}

/** Listens to the keys. `actions` are by key, and `pages` by the letter after `g`. */
export function listen(actions, pages) {
  addEventListener("keydown", (event) => {
    const { target, key } = event;
    const isTyping = target.closest(
      "input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]",
    );
    const isOther = event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]");
    if (isOff || isTyping || isOther) return;
    const action = (afterG && pages[key]) || actions[key];
    afterG = key === "g";
    if (!action) return;
    event.preventDefault();
    action();
  });
}
