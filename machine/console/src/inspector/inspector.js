// The inspector: people watch durable machines, and decide. This file has the addresses of the pages, the
// frame around them, and when what is loaded again; each page has its own file.
//
// The address after `#` says everything that the page shows, so that a link shows the same to others.

import { callerOf, get } from "./api.js";
import { closeDialog, dialogClosed, refreshDialog, refusal, show, showText, useShell } from "./dialog.js";
import { h, patch } from "./dom.js";
import { heldCount, isBusy, release } from "./hold.js";
import { inbox } from "./inbox.js";
import { keyTable, listen } from "./keys.js";
import { Live } from "./live.js";
import { machine } from "./machine.js";
import { overview } from "./overview.js";
import { button, crumbs, heading, none, note, smallButton } from "./parts.js";
import { redraw } from "./picture.js";
import { definition, definitions, log } from "./records.js";
import { session, sessions } from "./session.js";
import { tick } from "./text.js";
import { forgetToken, onSignedOut, resume, setToken, takeToken, token } from "./token.js";
import { turns } from "./turns.js";

const PAGES = [
  { path: "", name: "Overview", key: "o", view: overview },
  { path: "approvals", name: "Approvals", key: "a", view: inbox },
  { path: "sessions", name: "Sessions", key: "s", view: sessions, one: session },
  { path: "turns", name: "Turns", key: "t", view: turns },
  { path: "definitions", name: "Definitions", key: "d", view: definitions, one: definition },
  { path: "log", name: "Operator log", key: "l", view: log },
  { path: "machines", one: machine },
];
/** The audience of each role. */
const AUDIENCES = {
  local: ["human"],
  reader: ["human", "diagnostic"],
  operator: ["human", "diagnostic", "internal"],
};
/** The pause between two loads of the same page, so that a busy file does not keep the server busy. */
const PAUSE_MS = 300;
const TOAST_MS = 8000;

const state = {
  health: null,
  page: null,
  data: null,
  problem: null,
  live: { name: "connecting" },
  loading: false,
  dirty: false,
  toast: "",
  /** Counts the changes of the server's file and of the caller: what was asked before is not shown after. */
  era: 0,
  /** Counts the navigations, except those by the filters of a list: a filter of an earlier one is not applied. */
  visit: 0,
};
const main = document.getElementById("main");
const scrolls = new Map();

// --- Addresses ---

function link(path, params = {}) {
  const query = new URLSearchParams();
  const audience = state.page?.audience ?? "human";
  for (const [name, value] of Object.entries({
    ...params,
    audience: audience === "human" ? undefined : audience,
  })) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  return `#/${path}${query.size ? `?${query}` : ""}`;
}

function pageAt(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [first, second] = path.split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  const params = Object.fromEntries(new URLSearchParams(query));
  const found = PAGES.find((page) => page.path === first) ?? PAGES[0];
  const view = second ? (found.one ?? found.view) : (found.view ?? overview);
  const allowed = AUDIENCES[state.health?.access.role ?? "local"];
  const audience = allowed.includes(params.audience) ? params.audience : "human";
  const loaded = new URLSearchParams(params);
  loaded.delete("step");
  loaded.delete("audience");
  // The parts of the address that decide which data is loaded; stepping through a history loads nothing.
  const address = `${path}?${loaded}&${audience}`;
  const { visit } = state;
  return {
    view,
    path: first,
    id: second,
    params,
    audience,
    address,
    key: `${path} ${audience}`,
    person: personName(),
    role: state.health?.access.role ?? "local",
    link,
    visit,
    go: (to, how) => visit === state.visit && go(to, how),
    step: goToStep,
    render,
  };
}

/** The file; a program need not name it. */
const fileName = () => state.health.database ?? state.health.command;

const personName = () => (state.health?.access.role === "operator" ? state.health.access.name : null);

/** Goes to an address of this page. */
function go(to, { replace = false } = {}) {
  if (to === location.hash) return;
  scrolls.set(location.hash, scrollY);
  history[replace ? "replaceState" : "pushState"](null, "", to);
  navigate({});
}

function goToStep(number) {
  const { path, id, params } = state.page;
  history.replaceState(
    null,
    "",
    link(`${path}/${encodeURIComponent(id)}`, { ...params, step: number ?? undefined }),
  );
  state.page = pageAt(location.hash);
  render();
}

/** Shows what the address says. `focus` goes to the heading, as on a new page. */
async function navigate({ focus = false, top = null }) {
  const before = state.page;
  state.page = pageAt(location.hash);
  main.setAttribute("aria-busy", "true");
  const isOther = before?.view !== state.page.view || before?.id !== state.page.id;
  if (isOther) {
    state.data = null;
    closeDialog();
  }
  state.problem = null;
  // A filter changes the list that it filters; what is above stays, so that the field does not move.
  release(isOther ? "" : "machines");
  await load();
  if (isOther || top !== null) scrollTo(0, top ?? 0);
  if (focus) main.querySelector("h1")?.focus({ preventScroll: true });
}

// --- Loading ---

/** Loads the page again; what comes while it does is loaded afterwards. */
async function load() {
  const { page, era } = state;
  const isCurrent = () => page.address === state.page.address && era === state.era;
  state.loading = true;
  state.dirty = false;
  if (!state.data) render();
  try {
    if (state.live.name !== "live" && state.live.name !== "connecting") {
      // It is not certain that this is still the same server.
      const health = await get("api/health");
      if (era !== state.era || adopt(health)) return;
    }
    const before = state.data;
    const data = await page.view.load(page, before);
    if (!isCurrent()) return;
    state.data = data;
    state.problem = null;
    const news = before && page.view.news?.(before, data);
    if (news) say(news);
  } catch (problem) {
    if (!isCurrent()) return;
    if (problem.status === 401) return askForToken(problem);
    state.problem = problem;
    // The shown data stay; they are only not the newest.
    if (problem.status === 404 || problem.status === 409) state.data = null;
  } finally {
    if (isCurrent()) {
      state.loading = false;
      main.removeAttribute("aria-busy");
    }
  }
  render();
  refreshDialog();
}

let pause = null;

function changed(ids) {
  const { page, data } = state;
  if (!data || !page.view.concerns(ids, data, page)) return;
  if (state.loading || pause) {
    state.dirty = true;
    return;
  }
  refresh();
}

async function refresh() {
  await load();
  pause = setTimeout(() => {
    pause = null;
    if (state.dirty) refresh();
  }, PAUSE_MS);
}

const live = new Live({
  changed,
  connected: (health) => adopt(health),
  lost: (health, why) => {
    const again = `Everything was reloaded, because the stream could not resume: ${why}`;
    if (!adopt(health, again)) {
      say(again);
      reload();
    }
  },
  status: (name, until) => {
    state.live = { name, until };
    // Data that could not be loaded without a connection.
    if (name === "live" && state.problem && !state.loading) load();
    renderHeader();
  },
});

/**
 * Takes over what the server says about itself and the caller. If its file, its commands or the caller are
 * others than before, nothing that is shown holds any more; returns whether that is so.
 */
function adopt(health, why) {
  const before = state.health;
  const differs = (...names) => names.some((name) => before[name] !== health[name]);
  const isOther = differs("database", "command");
  const isOtherCaller = ["role", "name"].some((name) => before.access[name] !== health.access[name]);
  state.health = health;
  if (!isOther && !isOtherCaller) return false;
  say(
    isOther
      ? `The server now serves another store: ${fileName()}. Everything was reloaded.`
      : (why ?? "The server now identifies this tab as another person. Everything was reloaded."),
  );
  reload();
  return true;
}

/** Forgets what is shown, and loads it again. */
function reload() {
  state.era += 1;
  state.data = null;
  closeDialog();
  release();
  navigate({});
}

// --- The frame ---

const LIVE = {
  connecting: "Connecting…",
  live: "Live",
  paused: "Paused while hidden",
  refused: "Not live: the token was refused",
};

function liveText() {
  const { name, until } = state.live;
  if (name !== "reconnecting") return LIVE[name];
  const seconds = Math.max(0, Math.ceil((until - Date.now()) / 1000));
  return seconds ? `Reconnecting in ${seconds} s` : "Reconnecting…";
}

function tab({ path, name }) {
  const current = state.page?.path === path ? "page" : undefined;
  return h("li", { key: path }, h("a", { href: link(path), "aria-current": current }, name));
}

function renderHeader() {
  const { health, page } = state;
  const { role, name } = health?.access ?? { role: "local" };
  const waiting = heldCount();
  // Said once, when the first one comes.
  patch(document.getElementById("news"), waiting ? "Changes are held: “Show held” brings them." : "");
  patch(
    document.getElementById("header"),
    h(
      "div",
      { class: "brand" },
      h("strong", null, "machine"),
      health &&
        h("span", { class: "data", title: `${health.command}, version ${health.version}` }, fileName()),
    ),
    h("nav", { "aria-label": "Pages" }, h("ul", null, PAGES.filter((one) => one.name).map(tab))),
    h(
      "div",
      { class: "status" },
      button(`Show ${waiting} held`, showHeld, { class: `small held${waiting ? "" : " off"}`, disabled: !waiting }),
      h("span", { class: `stream ${state.live.name}` }, liveText()),
      h(
        "span",
        { class: "role" },
        role === "operator" ? `As ${name}` : role === "reader" ? `Read-only, as ${name}` : "Not signed in: read-only",
      ),
      health && role === "local" && smallButton("Sign in", () => askToSignIn(), { key: "sign-in" }),
      h(
        "label",
        null,
        "Audience ",
        h(
          "select",
          { value: page?.audience ?? "human", onchange: changeAudience },
          AUDIENCES[role].map((one) => h("option", { key: one, value: one }, one)),
        ),
      ),
      smallButton("Help", showHelp, { key: "help" }),
    ),
  );
}

function changeAudience(event) {
  const audience = event.currentTarget.value;
  const { path, id, params } = state.page;
  state.page.audience = audience;
  go(link(id === undefined ? path : `${path}/${encodeURIComponent(id)}`, params));
}

function render() {
  const { page, data, problem } = state;
  const title = page.view.title(data);
  document.title = `${title} · ${state.health ? fileName() : "inspector"}`;
  patch(
    main,
    problem &&
      h(
        "div",
        { key: "problem", role: "alert" },
        refusal(problem),
        h("p", { class: "actions" }, button("Try again", load), data && "The data below may be stale."),
      ),
    data
      ? h("div", { key: page.key }, page.view.render(page, data))
      : problem
        ? h(
            "div",
            { key: "broken" },
            crumbs(h("a", { href: link("") }, "Machines")),
            heading(page.view.broken?.(page, problem) ?? title),
          )
        : h("div", { key: "loading" }, heading(title), none("Loading…")),
  );
  // The number of held changes is known now.
  renderHeader();
  tick();
}

function showHeld() {
  release();
  // The rows that were held are known already.
  render();
  main.querySelector("h1")?.focus({ preventScroll: true });
}

let toastTimer;

/** Says something aloud and in a corner. */
function say(text) {
  clearTimeout(toastTimer);
  patch(document.getElementById("toast"), h("p", null, text));
  toastTimer = setTimeout(() => patch(document.getElementById("toast")), TOAST_MS);
}

// --- Tokens ---

const tokenField = () =>
  h(
    "label",
    { key: "token" },
    "Token ",
    h("input", { name: "token", type: "password", autocomplete: "off", required: true }),
  );

/** Opens a dialog for a token; `why` says why the link that was followed has not signed anybody in. */
function askToSignIn(why) {
  show({
    title: "Sign in",
    body: [
      why && h("p", { class: "warning", key: "why" }, why),
      h(
        "p",
        { class: "note", key: "where" },
        "The token is kept until the last tab of this page is closed. ",
        h("code", null, "machine serve FILE.db --as NAME"),
        " prints a link that signs in.",
      ),
      tokenField(),
    ],
    ids: [],
    yes: "Sign in",
    run: async (data) => {
      const typed = data.get("token").trim();
      await callerOf(typed);
      setToken(typed);
      setTimeout(restart);
    },
    done: "Signed in",
  });
}

function askForToken(problem) {
  live.stop();
  // It was refused: a page that is loaded again does not send it again.
  setToken(null);
  const onsubmit = (event) => {
    event.preventDefault();
    setToken(new FormData(event.currentTarget).get("token").trim());
    restart();
  };
  patch(
    main,
    h(
      "div",
      { key: "token" },
      heading("This server needs a token"),
      note(problem.message),
      h(
        "form",
        { class: "filters", onsubmit },
        tokenField(),
        h("p", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Sign in")),
      ),
    ),
  );
}

function signOut() {
  forgetToken();
  restart();
}

function showHelp() {
  const name = personName();
  showText("Help", [
    h(
      "p",
      null,
      "While the pointer or the focus is on a list, live updates do not move its rows; new rows wait under “Show held”.",
    ),
    keyTable(),
    h(
      "p",
      null,
      name
        ? `Your decisions are recorded under the name ${name}.`
        : "Without an operator token this page only reads.",
    ),
    token() &&
      h("p", null, button("Sign out", signOut), " In all tabs. The token is kept until the last one is closed."),
  ]);
}

const press = (label) => main.querySelector(`.stepper [aria-label="${label}"]`)?.click();
const ACTIONS = {
  "?": showHelp,
  "/": () => main.querySelector(".filters input")?.focus(),
  ",": () => press("One entry back"),
  ".": () => press("One entry forward"),
  "<": () => press("First entry"),
  ">": () => press("Latest entry"),
  u: showHeld,
};

// --- Start ---

function visit(to) {
  scrolls.set(location.hash, scrollY);
  history.pushState(null, "", to);
  state.visit += 1;
  navigate({ focus: true });
}

function onClick(event) {
  const anchor = event.target.closest?.('a[href^="#"]');
  if (!anchor || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (anchor.id === "skip") main.focus();
  else visit(anchor.getAttribute("href"));
}

/** Shows held changes when the reader looks elsewhere. */
function onLeave() {
  setTimeout(() => {
    if (state.data && !isBusy(main)) render();
  });
}

/** Begins again with the token of now, as a reload does: nothing of another caller stays. */
function restart() {
  live.stop();
  state.era += 1;
  Object.assign(state, { health: null, data: null, problem: null, live: { name: "connecting" } });
  closeDialog();
  release();
  state.page = pageAt(location.hash);
  render();
  start();
}

async function start() {
  const { era } = state;
  try {
    // The position first: what changes while the page loads comes with the stream.
    const health = await get("api/health");
    if (era !== state.era) return;
    state.health = health;
  } catch (problem) {
    if (era !== state.era) return;
    if (problem.status === 401) return askForToken(problem);
    state.page = pageAt(location.hash);
    state.problem = problem;
    render();
    setTimeout(() => era === state.era && start(), 3000);
    return;
  }
  navigate({ focus: false });
  live.start(state.health.position);
}

useShell({
  person: personName,
  signIn: () => askToSignIn(),
  audience: () => state.page?.audience ?? "human",
  command: () => state.health?.command ?? "machine",
  isOffered(kind, id) {
    const steps = state.data ? state.page.view.stepsOf?.(state.data, id) : null;
    return !steps || steps.some((step) => step.do === kind);
  },
  async done(text) {
    say(text);
    release();
    await refresh();
    // The button that was pressed may be gone; the focus must not be.
    if (document.activeElement === document.body) main.querySelector("h1")?.focus({ preventScroll: true });
  },
  refresh,
});

/** Signs in with the token of a link; without a person if it is refused. */
async function follow(given) {
  setToken(null);
  const why = await callerOf(given).then(
    () => null,
    (problem) => problem.message,
  );
  if (!why) setToken(given);
  restart();
  if (why) askToSignIn(why);
}

onSignedOut(() => restart());
history.scrollRestoration = "manual";
addEventListener("popstate", () => {
  state.visit += 1;
  // A link with a token, followed in a tab that was open before.
  const given = takeToken();
  if (given !== null) return follow(given);
  // The list that is shown next is not held because of a filter of this one.
  if (document.activeElement?.closest(".filters")) document.activeElement.blur();
  navigate({ top: scrolls.get(location.hash) ?? 0 });
});
addEventListener("click", onClick);
listen(
  ACTIONS,
  Object.fromEntries(PAGES.filter((one) => one.key).map((one) => [one.key, () => visit(link(one.path))])),
);
addEventListener("resize", redraw);
main.addEventListener("pointerleave", onLeave);
main.addEventListener("focusout", onLeave);
const dialog = document.getElementById("dialog");
dialog.addEventListener("close", () => {
  dialogClosed();
  onLeave();
});
setInterval(() => {
  if (document.hidden) return;
  tick();
  if (state.live.name === "reconnecting") renderHeader();
}, 1000);
setInterval(() => document.hidden || redraw(), 5000);
const given = takeToken();
if (given === null) resume().then(start);
else follow(given);
