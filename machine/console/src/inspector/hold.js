// A live update never moves what the reader is about to press. While the pointer or the focus is in the
// main part, a list keeps its rows and their order: those that are gone stay in place, disabled, and new
// ones wait until the reader asks for them or looks elsewhere.

const shown = new Map();
const waiting = new Map();

/** True while the reader works in this element. */
export function isBusy(element) {
  const active = document.activeElement;
  const inside = active && active !== element && element.contains(active);
  return element.matches(":hover") || inside || document.querySelector("dialog[open]") !== null;
}

/**
 * The rows to show of a list: `{ item, gone }`. `key` names the list and what it was asked for, `alike(a, b)`
 * says whether two rows offer the same.
 */
export function held(key, fresh, { id = (item) => item.id, alike = () => true, inPlace = false }) {
  const before = shown.get(key);
  if (!before || !isBusy(document.getElementById("main"))) {
    shown.set(key, fresh);
    waiting.delete(key);
    return fresh.map((item) => ({ item, gone: false }));
  }
  const now = new Map(fresh.map((item) => [id(item), item]));
  const rows = before.map((old) => {
    const item = now.get(id(old));
    now.delete(id(old));
    if (item && alike(old, item)) return { item: inPlace ? item : old, gone: false };
    return { item: old, gone: true };
  });
  const gone = rows.filter((row) => row.gone).length;
  if (now.size + gone) waiting.set(key, now.size + gone);
  else waiting.delete(key);
  return rows;
}

/** The number of changes that wait. */
export const heldCount = () => [...waiting.values()].reduce((sum, one) => sum + one, 0);

/** The same for one thing in an element: `{ item, gone }`. */
export function heldOne(key, fresh, element) {
  const before = shown.get(key);
  const isSame = JSON.stringify(before) === JSON.stringify(fresh);
  if (before === undefined || isSame || !element || !isBusy(element)) {
    shown.set(key, fresh);
    waiting.delete(key);
    return { item: fresh, gone: false };
  }
  waiting.set(key, 1);
  return { item: before, gone: true };
}

/** Lets everything be shown with the next update, or what has a key that begins so. */
export function release(start = "") {
  for (const held of [shown, waiting]) {
    for (const key of [...held.keys()]) if (key.startsWith(start)) held.delete(key);
  }
}
