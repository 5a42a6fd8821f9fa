// The server as it is now: runs, queue, tenants, models, memory, and curves of the last minutes.

import { brief, draw, duration, finite, grouped, make, percent, plural } from "./dom.js";
import { Refused } from "./client.js";
import { problemBox } from "./functions.js";

const POLL_EVERY = 2000;
const POINTS = 150;
const WIDTH = 300;
const HEIGHT = 56;

export class ServerView {
  constructor(client) {
    this.client = client;
    this.samples = [];
    this.timer = null;
    this.element = make("div", { class: "server" });
  }

  /** Ask again and again while the page is looked at. */
  start() {
    this.stop();
    if (this.client.locked) {
      this.element.replaceChildren(make("p", { class: "hint", text: "This server wants a key. Type it in above." }));
      return;
    }
    const tick = async () => {
      if (!document.hidden) await this.poll();
      if (this.timer !== null) this.timer = setTimeout(tick, POLL_EVERY);
    };
    this.timer = setTimeout(tick, 0);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
  }

  async poll() {
    try {
      const state = await this.client.data("/v1/state");
      this.samples.push({ at: performance.now() / 1000, ...state });
      this.samples.splice(0, this.samples.length - POINTS);
      this.show(state);
    } catch (refused) {
      if (!(refused instanceof Refused)) throw refused;
      this.element.replaceChildren(refused.status === 401 ? make("p", { class: "hint", text: "This server wants a key. Type it in above." }) : problemBox(refused.problem));
    }
  }

  show(state) {
    const rates = this.samples.slice(1).map((now, at) => Math.max(0, (now.tokens - this.samples[at].tokens) / Math.max(0.001, now.at - this.samples[at].at)));
    const cards = [
      card("Runs", `${grouped(state.running)} of ${grouped(state.most_running)}`, this.samples.map((each) => each.running), "runs that go on"),
      card("Waiting", `${grouped(state.waiting)} of ${grouped(state.most_waiting)}`, this.samples.map((each) => each.waiting), "runs that wait"),
      card("Tokens per second", rates.length ? rates.at(-1).toFixed(1) : "–", rates, "tokens a second, of holes that have ended"),
    ];
    const parts = [make("div", { class: "cards" }, ...cards)];
    if (state.draining) parts.push(make("p", { class: "bad", text: "The server is ending: it begins no more runs." }));
    parts.push(make("h2", { text: "Runs" }), state.runs.length ? sheet(["run", "function", "state", "tokens", "time"], state.runs.map((run) => [brief(run.id, 12), brief(run.function, 40), run.state, grouped(run.tokens), duration(run.seconds)])) : make("p", { class: "hint", text: "None of yours is going on." }));
    parts.push(make("h2", { text: "Tenants" }), sheet(["tenant", "running", "waiting"], state.tenants.map((each) => [brief(each.name || "(all)", 40), grouped(each.running), grouped(each.waiting)])));
    if (state.models.length) parts.push(make("h2", { text: "Models" }), sheet(["model", "where", "breakers"], state.models.map((each) => [brief(each.name, 50), each.where, each.breakers.length ? each.breakers.map((one) => `${brief(one.endpoint, 40)}: ${one.state}${one.pause ? `, tried again in ${duration(one.pause)}` : ""}`).join("; ") : "–"])));
    for (const memory of state.memory) parts.push(...memoryParts(memory));
    this.element.replaceChildren(...parts);
  }
}

function memoryParts(memory) {
  const all = memory.free + memory.held + memory.cached;
  const share = (count) => `${((count / Math.max(1, all)) * 100).toFixed(2)}%`;
  const bar = make("div", { class: "stack", role: "img", "aria-label": `${grouped(memory.held)} blocks held, ${grouped(memory.cached)} kept, ${grouped(memory.free)} free` }, make("i", { class: "tokens", style: { width: share(memory.held) } }), make("i", { class: "prompt", style: { width: share(memory.cached) } }));
  const reuse = memory.programs.map((each) => [brief(each.program, 60), grouped(each.looked_up), `${grouped(each.reused)} (${percent(each.looked_up ? each.reused / each.looked_up : 0)})`]);
  return [
    make("h2", { text: `Memory of ${brief(memory.model, 40)}${memory.worker === undefined ? "" : `, worker ${memory.worker}`}` }),
    bar,
    make("p", { class: "hint", text: `${plural(memory.held, "block")} held, ${grouped(memory.cached)} kept for others, ${grouped(memory.free)} free; ${plural(memory.evictions, "eviction")}. The tree of prefixes has ${plural(memory.nodes, "node")} in ${plural(memory.depth, "level")}, the widest of ${grouped(memory.widest)}.` }),
    levels(memory.levels),
    reuse.length ? sheet(["program", "tokens looked up", "of these in memory"], reuse) : "",
  ];
}

/** How many blocks each level of the tree of prefixes has: wide where conversations go apart. */
function levels(counts) {
  const most = Math.max(1, ...counts);
  return make("div", { class: "levels", role: "img", "aria-label": `Blocks by level of the tree: ${counts.slice(0, 40).join(", ")}` }, ...counts.map((count) => make("i", { style: { height: `${Math.max(4, (count / most) * 100).toFixed(1)}%` } })));
}

function card(name, value, points, what) {
  return make("section", { class: "card" }, make("h2", { text: name }), make("p", { class: "number", text: value }), curve(points, what));
}

function curve(points, what) {
  const known = points.map((each) => finite(each) ?? 0);
  const most = Math.max(1, ...known);
  const place = (value, at) => `${(WIDTH - ((known.length - 1 - at) / (POINTS - 1)) * WIDTH).toFixed(1)},${(HEIGHT - 2 - (value / most) * (HEIGHT - 6)).toFixed(1)}`;
  return draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "curve", role: "img", "aria-label": `${what}, at most ${most.toFixed(1)} lately` }, draw("polyline", { points: known.map(place).join(" "), fill: "none" }));
}

function sheet(names, rows) {
  return make("div", { class: "wide" }, make("table", {}, make("thead", {}, make("tr", {}, ...names.map((text) => make("th", { scope: "col", text })))), make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((text) => make("td", { text: String(text) })))))));
}
