// The stream of commits. EventSource cannot send a token, so the stream is read with fetch(). It says
// which machines changed; what they are now is asked for again.

import { get, request } from "./api.js";

const LONGEST_WAIT_MS = 30_000;
/** The server sends a heartbeat every 15 s. */
const SILENCE_MS = 40_000;
/** Changes within this time are shown together: at most four updates a second. */
const BATCH_MS = 250;

export class Live {
  #position = null;
  #changed = new Set();
  #timer = null;
  #abort = null;
  #wake = () => {};
  #running = false;

  /** `changed(ids)` after a batch, `lost(why)` when events are missing, `status(name, at)`. */
  constructor({ changed, lost, status }) {
    Object.assign(this, { changed, lost, status });
    // A page that nobody sees asks for nothing; it catches up from its position when it is seen again.
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#abort?.abort();
      this.#wake();
    });
    addEventListener("online", () => this.#wake());
    addEventListener("offline", () => this.#abort?.abort());
  }

  /** Starts at a position that is not newer than what the page shows. */
  start(position) {
    this.#position = position;
    if (!this.#running) this.#run();
  }

  stop() {
    this.#running = false;
    this.#abort?.abort();
    this.#wake();
  }

  async #run() {
    this.#running = true;
    let failures = 0;
    while (this.#running) {
      if (document.hidden) {
        this.status("paused");
        await this.#sleep(Infinity);
        continue;
      }
      try {
        await this.#read(() => (failures = 0));
      } catch (problem) {
        if (problem.status === 410) {
          await this.#forget(problem).catch(() => {});
        } else if (problem.status === 401 || problem.status === 403) {
          this.#running = false;
          this.status("refused");
          return;
        }
      }
      if (!this.#running || document.hidden) continue;
      failures += 1;
      // A little chance, so that many pages do not come back at the same moment.
      const wait =
        Math.min(LONGEST_WAIT_MS, 500 * 2 ** Math.min(failures - 1, 6)) * (0.75 + Math.random() / 2);
      this.status("reconnecting", Date.now() + wait);
      await this.#sleep(wait);
    }
  }

  /** The server does not know the position: another file, or an older copy of it. */
  async #forget(problem) {
    this.#position = (await get("api/health")).position;
    this.#changed.clear();
    this.lost(problem.message);
  }

  async #read(alive) {
    this.#abort = new AbortController();
    let silence;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => this.#abort.abort(), SILENCE_MS);
    };
    try {
      heard();
      const response = await request("api/events", {
        query: { events: "execution_state,machine_state,changed" },
        headers: { Accept: "text/event-stream", "Last-Event-ID": this.#position },
        signal: this.#abort.signal,
      });
      this.status("live");
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        heard();
        alive();
        const blocks = (text + value).split(/\r?\n\r?\n/);
        text = blocks.pop();
        blocks.forEach((block) => this.#block(block));
      }
    } finally {
      clearTimeout(silence);
      this.#abort.abort();
    }
  }

  #block(block) {
    const data = [];
    for (const line of block.split(/\r?\n/)) {
      const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line);
      if (name === "id") this.#position = value;
      if (name === "data") data.push(value);
    }
    if (!data.length) return;
    const event = JSON.parse(data.join("\n"));
    this.#changed.add(event.id ?? event.execution_id);
    this.#timer ??= setTimeout(() => {
      const ids = this.#changed;
      this.#changed = new Set();
      this.#timer = null;
      this.changed(ids);
    }, BATCH_MS);
  }

  #sleep(ms) {
    return new Promise((done) => {
      const timer = ms === Infinity ? null : setTimeout(done, ms);
      this.#wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  }
}
