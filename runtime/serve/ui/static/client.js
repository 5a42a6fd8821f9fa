// Requests to the server that this page came from, with the key that was typed in.

const KEPT = "sglc.key";

/** What the server says instead of an answer. */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `status ${status}`);
    this.status = status;
    this.problem = problem;
  }
}

export class Client {
  constructor() {
    this.wanted = () => {}; // called where a key is asked for
  }

  /** Whether nothing can be asked before there is a key. */
  get locked() {
    return document.documentElement.hasAttribute("data-keyed") && !this.key;
  }

  get key() {
    return sessionStorage.getItem(KEPT) ?? "";
  }

  set key(key) {
    if (key) sessionStorage.setItem(KEPT, key);
    else sessionStorage.removeItem(KEPT);
  }

  async ask(path, options = {}) {
    const headers = { ...options.headers, ...(this.key ? { authorization: `Bearer ${this.key}` } : {}) };
    let answer;
    try {
      answer = await fetch(path, { ...options, headers, cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" });
    } catch {
      throw new Refused(0, { title: "No answer", name: "Connection", detail: "The server cannot be reached." });
    }
    if (answer.ok) return answer;
    const problem = await answer.json().catch(() => ({}));
    if (answer.status === 401) this.wanted(problem);
    throw new Refused(answer.status, problem !== null && typeof problem === "object" ? problem : {});
  }

  async data(path) {
    return (await this.ask(path)).json();
  }

  /** Call a function: `heard` gets each event's name, data and text. Ends with the stream. */
  async call(name, body, heard) {
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    const answer = await this.ask(`/v1/functions/${encodeURIComponent(name)}`, { method: "POST", headers, body });
    const texts = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    heard("run", { id: answer.headers.get("sglc-run") }, "");
    let rest = "";
    for (let next = await texts.read(); !next.done; next = await texts.read()) {
      const blocks = (rest + next.value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) eventOf(block, heard);
    }
  }

  /** End a run at its next token. */
  async cancel(id) {
    await this.ask(`/v1/runs/${encodeURIComponent(id)}`, { method: "DELETE" }).catch(() => {});
  }
}

function eventOf(block, heard) {
  const lines = new Map(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
  if (!lines.has("event")) return;
  try {
    heard(lines.get("event"), JSON.parse(lines.get("data")), lines.get("data"));
  } catch (wrong) {
    if (!(wrong instanceof SyntaxError)) throw wrong;
  }
}
