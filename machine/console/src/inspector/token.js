// The token of the person. A browser writes addresses and what pages store into files, so the token is only in
// the memory of the page. A link has a one-time code in its place; a page that is loaded again has left one for
// itself; and a new tab asks the tabs that are open.

const ROOT = new URL("../", location.href);
const CODE = "machine-code";
const TABS = new BroadcastChannel(`machine ${ROOT.pathname}`);
/** The time that other tabs have to answer. */
const ASK_MS = 200;
/** The request that brings the code of a page that is loaded again may still be on its way. */
const TRIES = 10;
const PAUSE_MS = 100;

let kept = null;
let answered = null;
let signedOut = () => {};

/** The token; `null` without one. */
export const token = () => kept;

export function setToken(value) {
  kept = value;
}

/** Forgets the token in this tab and in all others. */
export function forgetToken() {
  TABS.postMessage({ forget: kept });
  kept = null;
}

/** Calls back when another tab has forgotten the token of this one. */
export function onSignedOut(callback) {
  signedOut = callback;
}

TABS.addEventListener("message", ({ data }) => {
  if (data.ask && kept) TABS.postMessage({ token: kept });
  if (data.token) answered?.(data.token);
  if (data.forget && data.forget === kept) {
    kept = null;
    signedOut();
  }
});

/** Takes a code out of the address; `null` if it has none. */
export function takeCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code !== null) history.replaceState(null, "", `${location.pathname}${location.search}#/`);
  return code;
}

function send(path, body, more = {}) {
  return fetch(new URL(path, ROOT), {
    method: "POST",
    cache: "no-store",
    credentials: "omit",
    body: JSON.stringify(body),
    ...more,
    headers: { "Content-Type": "application/json", ...more.headers },
  });
}

/** Signs in with the code of a link; what the server says if it is refused. */
export async function exchange(code) {
  kept = null;
  try {
    const response = await send("api/sign-in", { code });
    const answer = await response.json();
    if (!response.ok) return answer.detail;
    kept = answer.token;
    return null;
  } catch {
    return "The server cannot be reached, so the link was not used.";
  }
}

/** Signs in again after the page was loaded again, or as another tab is. */
export async function resume() {
  const code = sessionStorage.getItem(CODE);
  sessionStorage.removeItem(CODE);
  for (let left = code ? TRIES : 0; left > 0; left -= 1) {
    if ((await exchange(code)) === null) return;
    await new Promise((done) => setTimeout(done, PAUSE_MS));
  }
  kept = await new Promise((done) => {
    answered = done;
    TABS.postMessage({ ask: true });
    setTimeout(() => done(null), ASK_MS);
  });
  answered = null;
}

const random = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(24)), (byte) => byte.toString(16).padStart(2, "0")).join("");

addEventListener("pagehide", () => {
  if (!kept) return;
  const code = random();
  sessionStorage.setItem(CODE, code);
  const headers = { Authorization: `Bearer ${kept}` };
  send("api/sign-in/codes", { code }, { keepalive: true, headers }).catch(() => {});
});
// The page was kept as it was, with its token.
addEventListener("pageshow", (event) => event.persisted && sessionStorage.removeItem(CODE));
