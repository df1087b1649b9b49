// The operator log, and the definitions that the file holds.

import { get } from "./api.js";
import { h } from "./dom.js";
import { diagram } from "./diagram.js";
import { crumbs, data as dataCell, dataHead, heading, note, none, pages, rowHead, table, unreadable, warning } from "./parts.js";
import { count, short, stamp, words } from "./text.js";

/** Moves that stay in their state. */
const STAYS = { always: ", stays", by_branch: ", may stay" };

export const log = {
  title: () => "Operator log",
  load: ({ params, role }) =>
    role === "local" ? {} : get("api/operations", { limit: 100, after: params.after }),
  concerns: () => true,
  render: (page, data) => [
    heading("Operator log"),
    page.role === "local"
      ? note("It contains names of people, so it is shown only with a token.")
      : [
          note("What people did here and on the command line, newest first. It is stored in the file."),
          data.unreadable > 0 &&
            warning(`${count(data.unreadable, "entry", "entries")} of this page cannot be read, or were changed.`),
          data.operations.length === 0 && none("There are no operations yet."),
          data.operations.length > 0 &&
            table("Operator log", ["When", "Who", "What", "Machines", "Detail", "Outcome"], data.operations, (one) => [
              one.number,
              stamp(one.at),
              dataHead(one.by ?? "–"),
              `${words(one.operation)} (${one.via})`,
              one.machines.map((id, index) => [
                index ? " " : "",
                h("a", { href: page.link(`machines/${id}`), title: id }, h("code", null, short(id))),
              ]),
              dataCell(one.detail ?? ""),
              dataCell(one.outcome ?? "not known"),
            ]),
          pages(page, "Pages of the log", data.next, { path: "log", names: ["Newest", "Older"] }),
        ],
  ],
};

export const definitions = {
  title: () => "Definitions",
  load: () => get("api/definitions"),
  concerns: () => false,
  render: (page, data) => [
    heading("Definitions"),
    note("Every kind of machine in this file, with each version under which machines were written."),
    data.definitions.length > 0 &&
      table("Definitions", ["Kind", "Version", "States", "Moves", "About"], data.definitions, (one) => [
        one.fingerprint,
        rowHead(h("a", { class: "data", href: page.link(`definitions/${one.fingerprint}`) }, one.machine)),
        `${one.version}${one.newest ? " (newest)" : ""}`,
        String(one.states),
        String(one.edges),
        dataCell(one.about ?? ""),
      ]),
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
    table("Calls", ["State", "Call", "Tool", "Approval", "Outcome", "More"], calling, ({ status, label, calls }) => [
      status,
      label,
      dataHead(calls.label),
      dataCell(calls.tool ?? "–"),
      dataCell(calls.approval),
      dataCell(outcomes(calls).join(", ") || "its handler"),
      more(calls).join(", "),
    ]),
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
      heading(machine, { class: "data" }),
      note(
        `Version ${version}, ${count(topology.nodes.length, "state")}, fingerprint `,
        h("code", { class: "data" }, fingerprint),
        ". ",
        h("a", { href: page.link("", { machine }) }, "Machines of this kind"),
      ),
      topology.problems.map((problem) => h("p", { class: "warning", key: problem }, problem)),
      diagram(drawing, machine),
      callsOf(topology),
      h("h2", null, "Moves"),
      table("Moves", ["From", "Trigger", "To", "Who may do it"], topology.edges, (edge, index) => [
        index,
        labels.get(edge.from_status),
        dataHead(
          edge.trigger,
          edge.when ? ` (${edge.when})` : "",
          edge.after ? ` (after ${edge.after})` : "",
          edge.at ? ` (at ${edge.at})` : "",
          STAYS[edge.stays] ?? "",
          edge.detaches ? ", detaches its calls" : "",
          edge.docs ? note(edge.docs) : "",
        ),
        labels.get(edge.to_status),
        edge.allowed_actors.join(", ") || "anyone",
      ]),
    ];
  },
};
