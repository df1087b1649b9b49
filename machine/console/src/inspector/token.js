// The token of the person. It comes from a form or from a link, and is in the memory of the page; only while the
// page is loaded again, it is in the storage of its tab. A new tab asks the tabs that are open.

const NAME = `machine ${new URL("../", location.href).pathname}`;
const TABS = new BroadcastChannel(NAME);
/** The time that other tabs have to answer. */
const ASK_MS = 200;

/** The token of this tab before it was loaded again. */
const left = sessionStorage.getItem(NAME);
sessionStorage.removeItem(NAME);

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

/** Takes a token out of the address; `null` if it has none. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given !== null) history.replaceState(null, "", `${location.pathname}${location.search}#/`);
  return given;
}

/** Signs in again after the page was loaded again, or as another tab is. */
export async function resume() {
  kept = left;
  if (kept) return;
  kept = await new Promise((done) => {
    answered = done;
    TABS.postMessage({ ask: true });
    setTimeout(() => done(null), ASK_MS);
  });
  answered = null;
}

addEventListener("pagehide", () => kept && sessionStorage.setItem(NAME, kept));
// The page was kept as it was, with its token.
addEventListener("pageshow", (event) => event.persisted && sessionStorage.removeItem(NAME));
