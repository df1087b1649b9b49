// The sessions, and the executions of one, side by side over time.

import { get } from "./api.js";
import { quoted } from "./commands.js";
import { shell } from "./dialog.js";
import { h } from "./dom.js";
import { executionLanes } from "./lanes.js";
import { copyButton } from "./payload.js";
import { picture } from "./picture.js";
import { badge, count, exact, length, sessionName, short, since } from "./text.js";

/** The number of executions that are drawn and listed at once. */
const AT_ONCE = 50;
/** Names that are no part of a path: a browser takes them out of an address, however they are written. */
const NO_PATH = ["", ".", ".."];

export const sessions = {
  title: () => "Sessions",
  load: ({ params }) => get("api/sessions", { limit: 50, after: params.after }),
  concerns: () => true,
  render: (page, data) => [
    h("h1", { tabindex: "-1" }, "Sessions"),
    data.sessions.length === 0 && h("p", { class: "none" }, "No machine belongs to a session."),
    data.sessions.length > 0 &&
      h(
        "div",
        { class: "wide", tabindex: "0", role: "group", "aria-label": "Sessions, scrollable" },
        h(
          "table",
          null,
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              ["Session", "Machines", "Began", "Last change"].map((name) => h("th", { scope: "col" }, name)),
            ),
          ),
          h(
            "tbody",
            null,
            data.sessions.map((one) =>
              h(
                "tr",
                { key: one.session },
                h(
                  "th",
                  { scope: "row" },
                  h(
                    "a",
                    { class: "data", href: page.link(`sessions/${encodeURIComponent(one.session)}`) },
                    sessionName(one.session),
                  ),
                ),
                h("td", null, one.machines.toLocaleString("en-GB")),
                h("td", null, since(one.created_at)),
                h("td", null, since(one.updated_at)),
              ),
            ),
          ),
        ),
      ),
    h(
      "nav",
      { "aria-label": "Pages of sessions", class: "actions" },
      page.params.after && h("a", { key: "first", class: "button", href: page.link("sessions") }, "Newest"),
      data.next &&
        h("a", { key: "next", class: "button", href: page.link("sessions", { after: data.next }) }, "Older"),
    ),
  ],
};

export const session = {
  title: (data) => (data ? sessionName(data.session_id) : "Session"),

  async load({ id, audience, params }) {
    if (NO_PATH.includes(id)) return machinesOf(id, { audience, params });
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
    return [
      h("p", { class: "crumbs" }, h("a", { href: page.link("sessions") }, "Sessions")),
      h("h1", { tabindex: "-1", class: "data" }, data.session_id),
      h(
        "p",
        { class: "note" },
        `${count(data.total_contracts, "execution")}: ${data.active_contracts} open, ${data.terminal_contracts} ended. `,
        data.started_at
          ? [
              `Began ${exact(data.started_at)}`,
              data.ended_at ? `, took ${length(data.ended_at - data.started_at)}. ` : ", not over. ",
            ]
          : "",
        data.has_irreversible_completed ? "An irreversible action took place. " : "",
        h("a", { href: page.link("", { session: data.session_id }) }, "All machines of this session"),
      ),
      data.unreadable > 0 &&
        h(
          "p",
          { class: "warning" },
          `${count(data.unreadable, "execution")} cannot be read and ${data.unreadable === 1 ? "is" : "are"} missing here.`,
        ),
      h("h2", null, "Over time"),
      picture({
        key: `session ${data.session_id} ${from}`,
        name: `Timeline of session ${data.session_id}`,
        lanes: shown.map((one) => ({ ...lanes.get(one.execution_id), label: name(one) })),
      }),
      h("h2", null, "Executions"),
      h(
        "div",
        { class: "wide", tabindex: "0", role: "group", "aria-label": "Executions, scrollable" },
        h(
          "table",
          null,
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              ["State", "About", "Began", "Took", "Outcome", "Id"].map((head) =>
                h("th", { scope: "col" }, head),
              ),
            ),
          ),
          h(
            "tbody",
            null,
            shown.map((one) => row(page, one, name(one))),
          ),
        ),
      ),
      h(
        "nav",
        { "aria-label": "Pages of executions", class: "actions" },
        from > 0 &&
          h(
            "a",
            {
              key: "before",
              class: "button",
              href: page.link(`sessions/${encodeURIComponent(data.session_id)}`, {
                from: Math.max(0, from - AT_ONCE) || undefined,
              }),
            },
            "Earlier",
          ),
        from + AT_ONCE < all.length &&
          h(
            "a",
            {
              key: "after",
              class: "button",
              href: page.link(`sessions/${encodeURIComponent(data.session_id)}`, { from: from + AT_ONCE }),
            },
            "Later",
          ),
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

function machineList(page, { session_id: id, machines, unreadable, next }) {
  const path = `sessions/${encodeURIComponent(id)}`;
  const command = `${shell.command()} timeline --session ${quoted(id)}`;
  return [
    h("p", { class: "crumbs" }, h("a", { href: page.link("sessions") }, "Sessions")),
    h("h1", { tabindex: "-1", class: "data" }, sessionName(id)),
    NO_PATH.includes(id)
      ? h(
          "p",
          { class: "warning" },
          "A browser cannot ask for the timeline of a session with this name, so only its machines are listed. This shows it: ",
          h("code", { class: "data" }, command),
          " ",
          copyButton(command, "command"),
        )
      : h("p", { class: "note" }, "No machine of this session is an execution, so there is no timeline."),
    h("h2", null, "Machines"),
    h(
      "div",
      { class: "wide", tabindex: "0", role: "group", "aria-label": "Machines, scrollable" },
      h(
        "table",
        null,
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            ["State", "About", "Kind", "In this state", "Id"].map((name) => h("th", { scope: "col" }, name)),
          ),
        ),
        h(
          "tbody",
          null,
          machines.map((one) =>
            h(
              "tr",
              { key: one.id },
              h("td", null, badge(one.label)),
              h(
                "th",
                { scope: "row" },
                h(
                  "a",
                  { class: "data", href: page.link(`machines/${one.id}`) },
                  one.summary || `${one.machine} ${short(one.id)}`,
                ),
              ),
              h("td", { class: "data" }, one.machine),
              h("td", null, since(one.entered_at, "for")),
              h("td", null, h("code", { title: one.id }, short(one.id))),
            ),
          ),
        ),
      ),
    ),
    unreadable?.map((error) => h("p", { class: "warning data", key: error }, error)),
    h(
      "nav",
      { "aria-label": "Pages of machines", class: "actions" },
      page.params.after && h("a", { key: "first", class: "button", href: page.link(path) }, "Newest"),
      next && h("a", { key: "next", class: "button", href: page.link(path, { after: next }) }, "Older"),
    ),
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

function row(page, one, name) {
  return h(
    "tr",
    { key: one.execution_id },
    h("td", null, badge(one.label)),
    h(
      "th",
      { scope: "row" },
      h("a", { class: "data", href: page.link(`machines/${one.execution_id}`) }, name),
    ),
    h("td", null, since(one.created_at)),
    h("td", null, one.is_terminal ? length(one.entered_at - one.created_at) : since(one.created_at, "for")),
    h("td", { class: "data" }, one.result ?? one.error_message ?? "–"),
    h("td", null, h("code", { title: one.execution_id }, short(one.execution_id))),
  );
}
