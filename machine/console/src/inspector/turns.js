// The agents: their active turns with what these wait for, their queues, and their last deliverables.

import { get } from "./api.js";
import { h } from "./dom.js";
import { dataHead, heading, machineLink, none, note, pages, part, rowHead, table, warning } from "./parts.js";
import { badge, count, digits, short, since } from "./text.js";

export const turns = {
  title: () => "Turns",
  load: ({ params }) => get("api/agents", { limit: 50, after: params.after }),
  concerns: () => true,
  render: (page, data) => [
    heading("Turns"),
    note("The agents of this file, the oldest first. ", h("code", null, "stop TURN --as NAME"), " on the command line stops a turn."),
    data.agents.length === 0 && none("There are no agents."),
    data.agents.map((one) => agent(page, one)),
    data.unreadable > 0 &&
      warning(`${count(data.unreadable, "agent or queued turn", "agents or queued turns")} of this page cannot be read; “check” on the command line says why.`),
    pages(page, "Pages of agents", data.next, { path: "turns", names: ["Oldest", "Newer"] }),
  ],
};

function agent(page, one) {
  const { agent: name, head, epoch, active, queued, delivered } = one;
  const rows = [...(active ? [running(active)] : []), ...queued.map(waiting), ...delivered.map(ended)];
  return part(
    `agent-${head}`,
    machineLink(page, head, name),
    note(active ? `Epoch ${epoch}.` : `Idle, in epoch ${epoch}.`),
    rows.length > 0 &&
      table(`Turns of ${name}`, ["Phase", "Turn", "Since", "Step", "Used", "Boxes", "About"], rows, (row) => row),
    one.more_queued && note("The queue has more turns than are shown here."),
    active?.waiting.length > 0 &&
      table(`Waiting set of ${name}`, ["Call", "Waits for", "Since", "Deadline"], active.waiting, (call) => [
        call.index,
        dataHead(call.call_id),
        source(page, call),
        since(call.since),
        since(call.deadline, "due"),
      ]),
  );
}

const row = (id, phase, at, ...more) => [id, phase, rowHead(h("code", null, id)), since(at), ...more];

const running = (turn) =>
  row(
    turn.turn,
    badge(turn.phase),
    turn.entered_at,
    digits(turn.step),
    `${count(turn.calls, "call")}, ${count(turn.tokens, "token")}, cost ${digits(turn.cost)}`,
    [boxOf("from", turn.context_box), " ", boxOf("to", turn.output_box)],
    turn.ends_at === null || turn.stop ? stopOf(turn) : ["time limit ", since(turn.ends_at, "due")],
  );

const waiting = (turn) => row(turn.turn, badge("queued"), turn.enqueued_at, "–", "–", "–", stopOf(turn));

const ended = (turn) =>
  row(turn.turn, badge("delivered", "good"), turn.delivered_at, "–", "–", boxOf("to", turn.output_box), [
    `${turn.end}, card `,
    idOf(turn.deliverable),
  ]);

const stopOf = ({ stop }) => (stop ? `stopped: ${stop}` : "");

const idOf = (id) => h("code", { title: id }, short(id));

const boxOf = (way, id) => [`${way} `, idOf(id)];

/** What has the result of a call. */
function source(page, { source: kind, id }) {
  if (id === null) return kind === "outside" ? "an answer from outside" : kind;
  return kind === "execution" ? machineLink(page, id, `execution ${short(id)}`) : ["turn ", h("code", null, id)];
}
