// The sessions, and the executions of one, side by side over time.

import { get } from "./api.js";
import { h } from "./dom.js";
import { executionLanes } from "./lanes.js";
import { crumbs, data as dataCell, heading, idCell, machineLink, none, note, pages, rowHead, sessionLink, sessionPath, table, titleOf, turner, unreadable, warning } from "./parts.js";
import { picture } from "./picture.js";
import { badge, count, digits, exact, length, since } from "./text.js";

/** The number of executions that are drawn and listed at once. */
const AT_ONCE = 50;
const NAMES = ["Newest", "Older"];

export const sessions = {
  title: () => "Sessions",
  load: ({ params }) => get("api/sessions", { limit: 50, after: params.after }),
  concerns: () => true,
  render: (page, data) => [
    heading("Sessions"),
    data.sessions.length === 0 && none("No machine belongs to a session."),
    data.sessions.length > 0 &&
      table("Sessions", ["Session", "Machines", "Began", "Last change"], data.sessions, (one) => [
        one.session,
        rowHead(sessionLink(page, one.session)),
        digits(one.machines),
        since(one.created_at),
        since(one.updated_at),
      ]),
    pages(page, "Pages of sessions", data.next, { path: "sessions", names: NAMES }),
  ],
};

export const session = {
  title: (data) => (data ? data.session_id : "Session"),

  async load({ id, audience, params }) {
    try {
      const [timeline, topology] = await Promise.all([
        get(`api/execution/${encodeURIComponent(id)}/timeline`, { audience }),
        get("api/execution/topology"),
      ]);
      return { ...timeline, topology };
    } catch (problem) {
      // A session may have machines of other kinds only.
      if (problem.status !== 404) throw problem;
      return machinesOf(id, { audience, params });
    }
  },

  concerns: () => true,

  render(page, data) {
    if (data.machines) return machineList(page, data);
    const from = Math.max(0, Number(page.params.from) || 0);
    const groups = new Map(
      data.attempts.flatMap((ids) =>
        ids.map((id, index) => [id, { first: ids[0], text: `attempt ${index + 1} of ${ids.length}` }]),
      ),
    );
    const all = grouped(data.contracts, groups);
    const shown = all.slice(from, from + AT_ONCE);
    const ids = new Set(shown.map((one) => one.execution_id));
    const lanes = new Map(
      executionLanes(data, { topology: data.topology })
        .filter((lane) => ids.has(lane.id))
        .map((lane) => [lane.id, lane]),
    );
    const name = (one) =>
      one.action_summary + (groups.has(one.execution_id) ? ` (${groups.get(one.execution_id).text})` : "");
    const at = (from) => page.link(sessionPath(data.session_id), { from });
    return [
      crumbs(h("a", { href: page.link("sessions") }, "Sessions")),
      heading(data.session_id, { class: "data" }),
      note(
        `${count(data.total_contracts, "execution")}: ${data.active_contracts} open, ${data.terminal_contracts} ended. `,
        data.started_at
          ? [
              `Began ${exact(data.started_at)}`,
              data.ended_at ? `, took ${length(data.ended_at - data.started_at)}. ` : ", not over. ",
            ]
          : "",
        data.has_irreversible_completed ? "An irreversible action took effect. " : "",
        h("a", { href: page.link("", { session: data.session_id }) }, "All machines of this session"),
      ),
      data.unreadable > 0 &&
        warning(
          `${count(data.unreadable, "execution")} cannot be read and ${data.unreadable === 1 ? "is" : "are"} missing here.`,
        ),
      h("h2", null, "Over time"),
      picture({
        key: `session ${data.session_id} ${from}`,
        name: `Timeline of session ${data.session_id}`,
        lanes: shown.map((one) => ({ ...lanes.get(one.execution_id), label: name(one) })),
      }),
      h("h2", null, "Executions"),
      table("Executions", ["State", "About", "Began", "Took", "Outcome", "Id"], shown, (one) => [
        one.execution_id,
        badge(one.label),
        rowHead(machineLink(page, one.execution_id, name(one))),
        since(one.created_at),
        one.is_terminal ? length(one.entered_at - one.created_at) : since(one.created_at, "for"),
        dataCell(one.result ?? one.error_message ?? "–"),
        idCell(one.execution_id),
      ]),
      turner(
        "Pages of executions",
        from > 0 && ["before", "Earlier", at(Math.max(0, from - AT_ONCE) || undefined)],
        from + AT_ONCE < all.length && ["after", "Later", at(from + AT_ONCE)],
      ),
    ];
  },
};

/** The machines of a session without a timeline. */
async function machinesOf(id, { audience, params }) {
  const query = { audience, limit: AT_ONCE, after: params.after, order: "newest" };
  const page = await get(`api/machines?session=${encodeURIComponent(id)}`, query);
  return { ...page, session_id: id };
}

function machineList(page, { session_id: id, machines, unreadable: errors, next }) {
  return [
    crumbs(h("a", { href: page.link("sessions") }, "Sessions")),
    heading(id, { class: "data" }),
    note("No machine of this session is an execution, so there is no timeline."),
    h("h2", null, "Machines"),
    table("Machines", ["State", "About", "Kind", "In this state", "Id"], machines, (one) => [
      one.id,
      badge(one.label),
      rowHead(machineLink(page, one.id, titleOf(one))),
      dataCell(one.machine),
      since(one.entered_at, "for"),
      idCell(one.id),
    ]),
    unreadable(errors),
    pages(page, "Pages of machines", next, { path: sessionPath(id), names: NAMES }),
  ];
}

/** Attempts at the same action stand together, where the first one began. */
function grouped(executions, groups) {
  const followers = new Map();
  for (const one of executions) {
    const first = groups.get(one.execution_id)?.first ?? one.execution_id;
    if (!followers.has(first)) followers.set(first, []);
    followers.get(first).push(one);
  }
  return [...followers.values()].flat();
}
