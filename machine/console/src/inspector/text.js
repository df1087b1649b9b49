// Times, lengths, ids and texts, as people read them.

import { h } from "./dom.js";

/** Control characters, marks that change the direction, and whatever else cannot be seen. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Surrogate}]/gu;
/** The part of an emoji that asks for colour; it shows nothing by itself and turns nothing around. */
const KEPT = new Set(["\n", "\t", "\ufe0f"]);

/** True if a character is visible where it is written. */
export const isSeen = (one) => one === "\ufe0f" || one.search(INVISIBLE) < 0;

/** Shows what cannot be seen as `\u{202e}`; line breaks and tabs stay. */
export function visible(text) {
  return text.replace(INVISIBLE, (one) => (KEPT.has(one) ? one : `\\u{${one.codePointAt(0).toString(16)}}`));
}

let skew = 0;

/** Takes over the clock of the server, if the one here is wrong. */
export function setClock(header) {
  const difference = Date.parse(header) - Date.now();
  // The header has whole seconds.
  skew = Math.abs(difference) > 3000 ? difference : 0;
}

/** Now, by the clock of the server (milliseconds since the Unix epoch). */
export const now = () => Date.now() + skew;

/** When it is tried again. If no worker has tried it since, perhaps none runs. */
const nextAttempt = (at) =>
  at <= now() ? `; next attempt due since ${exact(at)}` : ["; retries ", since(at)];

/** A failure of a worker, with its attempts and times. */
export const failed = (trouble, error) => [
  `${trouble.reason}; ${count(trouble.attempts, "attempt")}`,
  trouble.at === null ? "" : [", the last ", since(trouble.at)],
  trouble.set_aside ? "; set aside" : trouble.retry_at === null ? "" : nextAttempt(trouble.retry_at),
  typeof error === "string" ? `: ${error}` : ". The audience “internal” sees the error.",
];

/** Why workers do not, or not yet, try a machine or a message again. */
export function whyStopped(trouble, messages) {
  if (trouble?.set_aside) return "It was set aside: workers do not retry it until a person requests it.";
  const aside = messages.find((message) => message.status === "set_aside");
  if (aside) return `A message to it was set aside: ${aside.reason ?? "it cannot be read"}.`;
  return trouble ? "It failed and is retried automatically." : null;
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
];

/** A length of time in its two largest units. */
export function length(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const [unit, size] = UNITS[first];
  const [smaller, part] = UNITS[first + 1] ?? [];
  const rest = part ? Math.floor((ms % size) / part) : 0;
  return `${Math.floor(ms / size)} ${unit}${rest ? ` ${rest} ${smaller}` : ""}`;
}

const DAY = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
const TIME = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** The date, unless it is today, and the time of day. */
export function moment(at) {
  const date = new Date(at);
  const today = DAY.format(date) === DAY.format(new Date(now()));
  return `${today ? "" : `${DAY.format(date)} `}${TIME.format(date)}`;
}

/** The same to the millisecond. */
export const exact = (at) => `${moment(at)}.${String(new Date(at).getMilliseconds()).padStart(3, "0")}`;

/** A moment as a <time>. */
export const stamp = (at) => h("time", { datetime: new Date(at).toISOString() }, exact(at));

const WORDS = {
  ago: (ms) => (ms < 0 ? `in ${length(-ms)}` : ms < 1000 ? "just now" : `${length(ms)} ago`),
  for: (ms) => (ms < 1000 ? "< 1 s" : length(ms)),
  due: (ms) => (ms < 0 ? `in ${length(-ms)}` : `${length(ms)} ago`),
};

const relative = (at, form) => WORDS[form](now() - at);

/** A <time> that goes on counting: `tick` brings it up to date. */
export function since(at, form = "ago") {
  if (at === null || at === undefined) return "–";
  return h(
    "time",
    { datetime: new Date(at).toISOString(), title: exact(at), "data-at": at, "data-form": form },
    relative(at, form),
  );
}

/** Lets all times on the page count. Changes text only, so nothing else on the page is touched. */
export function tick() {
  for (const one of document.querySelectorAll("time[data-at]")) {
    const text = relative(Number(one.dataset.at), one.dataset.form);
    if (one.firstChild && one.firstChild.data !== text) one.firstChild.data = text;
  }
}

/** The end of an id, as the command line shows it; any part that no other id has will do there. */
export const short = (id) => String(id).slice(-8);

/** `IN_DOUBT` as words, for reading aloud and for headings. */
export const words = (name) => String(name ?? "").replaceAll("_", " ");

/** A number with its thousands apart. */
export const digits = (number) => number?.toLocaleString("en-GB");

/** A number with its noun. */
export const count = (number, one, many = `${one}s`) => `${digits(number)} ${number === 1 ? one : many}`;

/** The state of a machine as a badge; its colour repeats what its text says. */
export function badge(label, tone = toneOf(label)) {
  return h("span", { class: `badge ${tone}` }, words(label));
}

function toneOf(label) {
  if (/CONTRADICTED|DOUBT|FAILED|UNREADABLE/i.test(label)) return "bad";
  if (/WAIT|OVERDUE|ASIDE|REJECTED|DEFERRED|\basked\b/i.test(label)) return "warn";
  if (/SUCCESS|COMPLETED|DONE/i.test(label)) return "good";
  return "plain";
}
