// Requests to the server, with the token of the person.

import { setClock } from "./text.js";
import { token } from "./token.js";

const ROOT = new URL("../", location.href);
const PATIENCE_MS = 30_000;

/** A refusal or a failure, in words. `legalMoves` are those of the machine that refused. */
export class Problem extends Error {
  constructor({ title, detail, status = 0, legal_moves: moves, next }) {
    super(detail || title);
    Object.assign(this, { title, status, legalMoves: moves ?? [], next: next ?? [] });
  }
}

const headers = (more, bearer = token()) => (bearer ? { ...more, Authorization: `Bearer ${bearer}` } : more);

/** The answer to a request; throws a `Problem` unless it is a success. */
export async function request(path, { query = {}, bearer, ...options } = {}) {
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
      headers: headers(options.headers, bearer),
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

export async function get(path, query, bearer) {
  return (await request(path, { query, bearer, signal: AbortSignal.timeout(PATIENCE_MS) })).json();
}

/** Whose token this is, as the server says. */
export const callerOf = (bearer) => get("api/health", {}, bearer);

/** The path of a machine. */
export const machinePath = (id) => `api/machines/${encodeURIComponent(id)}`;

export const getMachine = (id, query) => get(machinePath(id), query);

export async function post(path, body) {
  const response = await request(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json" },
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return response.json().catch(() => ({}));
}
