// The approval inbox: what waits for a yes or a no. What is selected stays selected, and stays where it is.

import { get } from "./api.js";
import { h } from "./dom.js";
import { held } from "./hold.js";
import { button, heading, none, pages, part, sessionLink } from "./parts.js";
import { question } from "./payload.js";
import { askAll, readOnly, stepList } from "./steps.js";
import { since, words } from "./text.js";

const selected = new Set();

export const inbox = {
  title: (data) => (data?.approvals.length ? `${data.approvals.length} to approve` : "Approvals"),

  load: ({ params }) => get("api/approvals", { limit: 100, after: params.after }),

  concerns: () => true,

  /** The next steps of a gate; `null` if this page does not know them. */
  stepsOf(data, id) {
    const one = data.approvals.find(({ gate }) => gate === id);
    if (!one) return data.next ? null : [];
    return one.stale ? [] : one.next;
  },

  render(page, data) {
    const rows = held(`approvals ${page.address}`, data.approvals, {
      id: (one) => one.gate,
      alike: (a, b) => a.question === b.question && a.stale === b.stale && a.caution === b.caution,
    });
    const fresh = rows.filter(({ item }) => !item.stale);
    const stale = rows.filter(({ item }) => item.stale);
    for (const gate of selected) if (!rows.some(({ item }) => item.gate === gate)) selected.delete(gate);
    return [
      heading("Approvals"),
      fresh.length === 0 && none("Nothing waits for an approval."),
      readOnly(),
      page.person && fresh.length > 0 && bulk(page, fresh),
      h("ul", { class: "cards", "aria-label": "Waiting for an answer" }, fresh.map((row) => gate(page, row))),
      stale.length > 0 &&
        part("stale", "Can no longer be approved", h("ul", { class: "cards" }, stale.map((row) => gate(page, row)))),
      pages(page, "Pages of approvals", data.next, { path: "approvals", names: ["First page", "Next page"] }),
    ];
  },
};

function bulk(page, rows) {
  const chosen = rows.filter(({ item }) => selected.has(item.gate)).map(({ item }) => item);
  const gone = rows.filter(({ item, gone }) => gone && selected.has(item.gate)).length;
  const cut = chosen.filter((one) => !one.digest).length;
  const clear = () => {
    selected.clear();
    page.render();
  };
  return h(
    "div",
    { class: "bulk", role: "group", "aria-label": "Several at once", key: "bulk" },
    h(
      "span",
      null,
      gone ? `${gone} of ${chosen.length} selected can no longer be answered` : `${chosen.length} selected`,
    ),
    button("Approve selected…", () => askAll("approve", chosen), {
      class: "primary",
      disabled: !chosen.length || gone > 0 || cut > 0,
    }),
    button("Decline selected…", () => askAll("decline", chosen), { disabled: !chosen.length || gone > 0 }),
    button("Clear selection", clear, { disabled: !chosen.length }),
    cut > 0 && h("span", { key: "cut" }, `${cut} of them hide a part: approve those one by one.`),
  );
}

function gate(page, { item: one, gone }) {
  const isOver = gone || one.stale;
  const toggle = (event) => {
    if (event.currentTarget.checked) selected.add(one.gate);
    else selected.delete(one.gate);
    page.render();
  };
  return h(
    "li",
    { key: one.gate, class: isOver ? "card gone" : "card" },
    h(
      "div",
      { class: "line" },
      page.person &&
        !one.stale &&
        h(
          "label",
          { class: "pick" },
          h("input", {
            type: "checkbox",
            checked: selected.has(one.gate),
            disabled: gone && !selected.has(one.gate),
            onchange: toggle,
            "aria-label": `Select: ${one.summary || one.tool}`,
          }),
        ),
      h("strong", { class: "data" }, one.summary || one.tool),
      one.irreversible && h("span", { class: "badge bad" }, "irreversible"),
      h("span", { class: "right" }, "waiting for ", since(one.waiting_since, "for")),
    ),
    question(one.question),
    h(
      "p",
      { class: "why" },
      isOver
        ? (one.stale ??
            "It was answered or has changed since it was shown. The buttons here no longer affect it.")
        : [
            one.caution ? `${one.caution}. ` : "",
            `Asked by ${article(one.asked_by)}`,
            typeof one.session === "string" ? [" in session ", sessionLink(page, one.session)] : "",
            one.expires_at ? ["; expires ", since(one.expires_at, "due")] : "; does not expire",
            ". ",
            h("a", { href: page.link(`machines/${one.gate}`) }, "The gate"),
            ", ",
            h("a", { href: page.link(`machines/${one.execution}`) }, "the execution"),
            ".",
          ],
    ),
    !one.stale &&
      stepList(
        one.next,
        { id: one.gate, summary: one.summary || one.tool, question: one.question, until: one.expires_at },
        { gone, compact: true },
      ),
  );
}

const article = (category) =>
  category === "agent" ? "an agent" : category === "human" ? "a person" : `a ${words(category)}`;
