// The lanes of a picture: a machine, the other attempts at the same action, and its children.

import { get, getMachine } from "./api.js";
import { History } from "./history.js";
import { staysOf } from "./picture.js";
import { definitionOf } from "./records.js";
import { short } from "./text.js";

/** The number of children with a lane in the picture. */
export const CHILDREN = 8;
/** Attempts are found through the session, which may be large; not more often than this. */
const ATTEMPTS_MS = 5000;

/** The title of a machine: its summary, or its kind and id. */
export const nameOf = ({ machine: one, execution }) =>
  execution?.action_summary || one.context?.summary || `${one.machine} ${short(one.id)}`;

/** The labels of the states, by name. */
export function labelsOf({ definition, machine: one }) {
  return new Map(
    definition
      ? definition.topology.nodes.map((node) => [node.status, node.label])
      : [[one.status, one.label]],
  );
}

/** The labels and the kinds of states. Without a definition, only the state that `machine` is in is known. */
function statesOf(definition, machine) {
  const nodes = new Map((definition?.topology.nodes ?? [machine]).map((node) => [node?.status, node]));
  return {
    labelOf: (status) => nodes.get(status)?.label ?? status,
    kindOf: (status) => (nodes.get(status)?.is_terminal ? "end" : nodes.get(status)?.is_stable ? "wait" : "work"),
  };
}

/** The state that the loaded part of a history begins in. */
export const initialOf = (history, definition, status) =>
  history.moves[0]?.from ?? (history.first === 0 ? definition?.topology.initial_status : null) ?? status;

export function lanesOf(data) {
  const { history, definition, machine: one, attempts, offspring } = data;
  const stays = staysOf(
    history.events[0]?.at ?? one.created_at,
    initialOf(history, definition, one.status),
    history.moves,
    statesOf(definition, one),
  );
  const main = { id: one.id, label: nameOf(data), stays, isMain: true };
  const group = attempts
    ? attempts.lanes.map((lane, index) => ({
        ...(lane.id === one.id ? main : lane),
        label: `Attempt ${index + 1} of ${attempts.lanes.length}${lane.id === one.id ? " (this one)" : ""}`,
      }))
    : [main];
  return [...group, ...offspring];
}

/** Other attempts at the same action, from the timeline of the session. */
export async function findAttempts(data, audience) {
  const { execution, machine: one, definition } = data;
  if (!execution?.session || (data.attempts && Date.now() - data.attempts.at < ATTEMPTS_MS)) return;
  const session = await get(`api/execution/${encodeURIComponent(execution.session)}/timeline`, { audience });
  const ids = session.attempts.find((group) => group.includes(one.id));
  data.attempts = ids
    ? { at: Date.now(), lanes: executionLanes(session, definition).filter((lane) => ids.includes(lane.id)) }
    : null;
}

/** One lane for each execution of a session. */
export function executionLanes(session, definition) {
  const moves = new Map();
  for (const one of session.transitions) {
    if (!moves.has(one.execution_id)) moves.set(one.execution_id, []);
    const { timestamp: at, from_status: from, to_status: to, stays } = one;
    moves.get(one.execution_id).push({ at, from, to, stays });
  }
  return session.contracts.map((one) => ({
    id: one.execution_id,
    label: one.action_summary,
    stays: staysOf(
      one.created_at,
      definition?.topology.initial_status ?? "pending",
      moves.get(one.execution_id) ?? [],
      statesOf(definition),
    ),
  }));
}

/** The lanes of the first children. */
export async function findOffspring(data, before, audience) {
  const known = new Map((before?.offspring ?? []).map((lane) => [lane.id, lane]));
  data.offspring = await Promise.all(
    data.children.slice(0, CHILDREN).map(async (child) => {
      const old = known.get(child.id);
      if (old && old.status === child.status) return old;
      const history = new History(child.id, audience);
      const [shown] = await Promise.all([
        getMachine(child.id, { audience }),
        history.load(() => {}),
      ]);
      const definition = await definitionOf(shown.definition).catch(() => null);
      return {
        id: child.id,
        status: child.status,
        label: `Child: ${nameOf(shown)}`,
        stays: staysOf(
          shown.machine.created_at,
          initialOf(history, definition, child.status),
          history.moves,
          statesOf(definition, shown.machine),
        ),
      };
    }),
  );
}
