// Keys of one letter, optional. They do nothing while a person types.

import { h } from "./dom.js";

const SHORTCUTS = "machine-shortcuts";

const KEYS = [
  ["?", "This help"],
  ["g, then o a s d l", "Overview, approvals, sessions, definitions, operator log"],
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
    h(
      "table",
      { key: "keys" },
      h(
        "thead",
        null,
        h("tr", null, h("th", { scope: "col" }, "Key"), h("th", { scope: "col" }, "What it does")),
      ),
      h(
        "tbody",
        null,
        KEYS.map(([key, what]) =>
          h("tr", { key }, h("th", { scope: "row" }, h("kbd", null, key)), h("td", null, what)),
        ),
      ),
    ),
    h(
      "p",
      { key: "use" },
      h(
        "label",
        null,
        h("input", { type: "checkbox", checked: !isOff, onchange: toggle }),
        " Use these keys",
      ),
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
