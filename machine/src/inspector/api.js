// Requests to the server. The token comes in the fragment of the address, once; it is kept for this tab
// and leaves the address at once, so that it does not end up in a bookmark or in the history.

import { setClock } from "./text.js";

const ROOT = new URL("../", location.href);
const TOKEN = "machine-token";
const PATIENCE_MS = 30_000;

/** A refusal or a failure, in words. `legalMoves` are those of the machine that refused. */
export class Problem extends Error {
  constructor({ title, detail, status = 0, legal_moves: moves, next }) {
    super(detail || title);
    Object.assign(this, { title, status, legalMoves: moves ?? [], next: next ?? [] });
  }
}

/** Takes the token out of the address; whether there was one, or an empty one, which forgets it. */
export function takeToken() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const token = fragment.get("token");
  if (token === null) return false;
  if (token) setToken(token);
  else forgetToken();
  history.replaceState(null, "", `${location.pathname}${location.search}#/`);
  return true;
}

export function setToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

export function forgetToken() {
  sessionStorage.removeItem(TOKEN);
}

export const hasToken = () => sessionStorage.getItem(TOKEN) !== null;

function headers(more) {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { ...more, Authorization: `Bearer ${token}` } : more;
}

/** The answer to a request; throws a `Problem` unless it is a success. */
export async function request(path, { query = {}, ...options } = {}) {
  const url = new URL(path, ROOT);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") url.searchParams.set(name, value);
  }
  let response;
  try {
    response = await fetch(url, {
      cache: "no-store",
      credentials: "omit",
      ...options,
      headers: headers(options.headers),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({
      title: "No connection",
      detail:
        error.name === "TimeoutError"
          ? "The server did not answer in time."
          : "The server cannot be reached.",
    });
  }
  if (response.headers.has("Date")) setClock(response.headers.get("Date"));
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new Problem({
    title: response.statusText || "Error",
    detail: `The server answered ${response.status}.`,
    ...problem,
    status: response.status,
  });
}

export async function get(path, query) {
  return (await request(path, { query, signal: AbortSignal.timeout(PATIENCE_MS) })).json();
}

export async function post(path, body) {
  const response = await request(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json" },
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return response.json().catch(() => ({}));
}
