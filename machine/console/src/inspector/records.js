// The operator log, and the definitions that the file holds.

import { get } from "./api.js";
import { h } from "./dom.js";
import { diagram } from "./diagram.js";
import { crumbs, data as dataCell, pages, rowHead, table, unreadable } from "./parts.js";
import { count, exact, short, words } from "./text.js";

/** Moves that stay in their state. */
const STAYS = { always: ", stays", by_branch: ", may stay" };

export const log = {
  title: () => "Operator log",
  load: ({ params, role }) =>
    role === "local" ? {} : get("api/operations", { limit: 100, after: params.after }),
  concerns: () => true,
  render: (page, data) =>
    page.role === "local"
      ? [
          h("h1", { tabindex: "-1" }, "Operator log"),
          h("p", { class: "note" }, "It contains names of people, so it is shown only with a token."),
        ]
      : [
          h("h1", { tabindex: "-1" }, "Operator log"),
          h(
            "p",
            { class: "note" },
            "What people did here and on the command line, newest first. It is stored in the file.",
          ),
          data.unreadable > 0 &&
            h(
              "p",
              { class: "warning" },
              `${count(data.unreadable, "entry", "entries")} of this page cannot be read, or were changed.`,
            ),
          data.operations.length === 0 && h("p", { class: "none" }, "There are no operations yet."),
          data.operations.length > 0 &&
            table(
              "Operator log",
              ["When", "Who", "What", "Machines", "Detail", "Outcome"],
              data.operations.map((one) =>
                h(
                  "tr",
                  { key: one.number },
                  h("td", null, h("time", { datetime: new Date(one.at).toISOString() }, exact(one.at))),
                  h("th", { scope: "row", class: "data" }, one.by ?? "–"),
                  h("td", null, `${words(one.operation)} (${one.via})`),
                  h(
                    "td",
                    null,
                    one.machines.map((id, index) => [
                      index ? " " : "",
                      h("a", { href: page.link(`machines/${id}`), title: id }, h("code", null, short(id))),
                    ]),
                  ),
                  dataCell(one.detail ?? ""),
                  dataCell(one.outcome ?? "not known"),
                ),
              ),
            ),
          pages(page, "Pages of the log", data.next, { path: "log", names: ["Newest", "Older"] }),
        ],
};

export const definitions = {
  title: () => "Definitions",
  load: () => get("api/definitions"),
  concerns: () => false,
  render: (page, data) => [
    h("h1", { tabindex: "-1" }, "Definitions"),
    h(
      "p",
      { class: "note" },
      "Every kind of machine in this file, with each version under which machines were written.",
    ),
    data.definitions.length > 0 &&
      table(
        "Definitions",
        ["Kind", "Version", "States", "Moves", "About"],
        data.definitions.map((one) =>
          h(
            "tr",
            { key: one.fingerprint },
            rowHead(h("a", { class: "data", href: page.link(`definitions/${one.fingerprint}`) }, one.machine)),
            h("td", null, `${one.version}${one.newest ? " (newest)" : ""}`),
            h("td", null, String(one.states)),
            h("td", null, String(one.edges)),
            dataCell(one.about ?? ""),
          ),
        ),
      ),
    unreadable(data.unreadable),
  ],
};

const asked = new Map();

/** A definition never changes, so it is asked for once. */
export function definitionOf(fingerprint) {
  if (!asked.has(fingerprint)) {
    const answer = get(`api/definitions/${encodeURIComponent(fingerprint)}`);
    answer.catch(() => asked.delete(fingerprint));
    asked.set(fingerprint, answer);
  }
  return asked.get(fingerprint);
}

/** The calls that states make when they are entered. */
function callsOf({ nodes }) {
  const calling = nodes.filter((node) => node.calls);
  if (!calling.length) return null;
  const outcomes = (calls) =>
    ["done", "failed", "each"].filter((role) => calls[role]).map((role) => `${role} = ${calls[role]}`);
  const more = (calls) => [
    calls.irreversible ? "irreversible" : "can be repeated",
    ...["expires", "within"].filter((name) => calls[name]).map((name) => `${name} = ${calls[name]}`),
    ...(calls.unattended ? ["unattended"] : []),
  ];
  return [
    h("h2", { key: "calls" }, "Calls"),
    table(
      "Calls",
      ["State", "Call", "Tool", "Approval", "Outcome", "More"],
      calling.map(({ status, label, calls }) =>
        h(
          "tr",
          { key: status },
          h("td", null, label),
          h("th", { scope: "row", class: "data" }, calls.label),
          h("td", { class: "data" }, calls.tool ?? "–"),
          h("td", { class: "data" }, calls.approval),
          h("td", { class: "data" }, outcomes(calls).join(", ") || "its handler"),
          h("td", null, more(calls).join(", ")),
        ),
      ),
    ),
  ];
}

export const definition = {
  title: (data) => data?.machine ?? "Definition",
  load: ({ id }) => definitionOf(id),
  concerns: () => false,
  render(page, { machine, version, fingerprint, topology, diagram: drawing }) {
    const labels = new Map(topology.nodes.map((node) => [node.status, node.label]));
    return [
      crumbs(h("a", { href: page.link("definitions") }, "Definitions")),
      h("h1", { tabindex: "-1", class: "data" }, machine),
      h(
        "p",
        { class: "note" },
        `Version ${version}, ${count(topology.nodes.length, "state")}, fingerprint `,
        h("code", { class: "data" }, fingerprint),
        ". ",
        h("a", { href: page.link("", { machine }) }, "Machines of this kind"),
      ),
      topology.problems.map((problem) => h("p", { class: "warning", key: problem }, problem)),
      diagram(drawing, machine),
      callsOf(topology),
      h("h2", null, "Moves"),
      table(
        "Moves",
        ["From", "Trigger", "To", "Who may do it"],
        topology.edges.map((edge, index) =>
          h(
            "tr",
            { key: index },
            h("td", null, labels.get(edge.from_status)),
            h("th", { scope: "row", class: "data" }, edge.trigger, edge.when ? ` (${edge.when})` : "", edge.after ? ` (after ${edge.after})` : "", edge.at ? ` (at ${edge.at})` : "", STAYS[edge.stays] ?? "", edge.detaches ? ", detaches its calls" : "", edge.docs ? h("p", { class: "note" }, edge.docs) : ""),
            h("td", null, labels.get(edge.to_status)),
            h("td", null, edge.allowed_actors.join(", ") || "anyone"),
          ),
        ),
      ),
    ];
  },
};
