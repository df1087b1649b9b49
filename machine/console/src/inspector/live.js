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
  /** The loop that reads; a new one for each start. */
  #run = null;

  /**
   * `connected(health)` whenever the stream begins, `changed(ids)` after a batch, `lost(health, why)` when
   * events are missing, `status(name, at)`.
   */
  constructor({ connected, changed, lost, status }) {
    Object.assign(this, { connected, changed, lost, status });
    // A hidden page sends no requests; it catches up from its position when it is shown again.
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#abort?.abort();
      this.#wake();
    });
    addEventListener("online", () => this.#wake());
    addEventListener("offline", () => this.#abort?.abort());
  }

  /** Starts at a position that is not newer than what the page shows. */
  start(position) {
    this.stop();
    this.#position = position;
    this.#run = {};
    this.#goOn(this.#run);
  }

  stop() {
    this.#run = null;
    this.#changed.clear();
    this.#abort?.abort();
    this.#wake();
  }

  async #goOn(run) {
    let failures = 0;
    while (this.#run === run) {
      if (document.hidden) {
        this.status("paused");
        await this.#sleep(Infinity);
        continue;
      }
      try {
        await this.#read(run, () => (failures = 0));
      } catch (problem) {
        if (this.#run !== run) return;
        if (problem.status === 410) {
          await this.#forget(run, problem).catch(() => {});
        } else if (problem.status === 401 || problem.status === 403) {
          this.#run = null;
          this.status("refused");
          return;
        }
      }
      if (this.#run !== run || document.hidden) continue;
      failures += 1;
      // A little chance, so that many pages do not come back at the same moment.
      const wait =
        Math.min(LONGEST_WAIT_MS, 500 * 2 ** Math.min(failures - 1, 6)) * (0.75 + Math.random() / 2);
      this.status("reconnecting", Date.now() + wait);
      await this.#sleep(wait);
    }
  }

  /** The server does not know the position: another file, or an older copy of it. */
  async #forget(run, problem) {
    const health = await get("api/health");
    if (this.#run !== run) return;
    this.#position = health.position;
    this.#changed.clear();
    this.lost(health, problem.message);
  }

  async #read(run, alive) {
    const abort = new AbortController();
    this.#abort = abort;
    let silence;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => abort.abort(), SILENCE_MS);
    };
    try {
      heard();
      const response = await request("api/events", {
        query: { events: "execution_state,machine_state,changed" },
        headers: { Accept: "text/event-stream", "Last-Event-ID": this.#position },
        signal: abort.signal,
      });
      // The server may have been started again for another file, or with other tokens. A stream that is
      // open says that this server is still there after it has answered.
      const health = await get("api/health");
      if (this.#run !== run || abort.signal.aborted) return;
      this.connected(health);
      if (this.#run !== run) return;
      this.status("live");
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done || this.#run !== run) return;
        heard();
        alive();
        const blocks = (text + value).split(/\r?\n\r?\n/);
        text = blocks.pop();
        blocks.forEach((block) => this.#block(block));
      }
    } finally {
      clearTimeout(silence);
      abort.abort();
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
