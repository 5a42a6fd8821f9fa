// The page: its tabs, the runs that were opened or begun, and what is shown of them.

import { Client } from "./client.js";
import { CompareView } from "./compare.js";
import { ConversationView } from "./conversation.js";
import { brief, make, plural } from "./dom.js";
import { ForksView } from "./forks.js";
import { FunctionsView } from "./functions.js";
import { factList, holeFacts, Inspector } from "./inspector.js";
import { countAnew, MemoryView } from "./memory.js";
import { Prefix, Run } from "./model.js";
import { readFile, TraceReader } from "./reading.js";
import { ServerView } from "./server.js";
import { TimelineView } from "./timeline.js";

const MOST_RUNS = 64;
const byId = (id) => document.getElementById(id);

export class Page {
  /** `host` is the editor that the page stands in, null in a browser: `go(run, span)` shows a place of the source. */
  constructor(host = null) {
    this.host = host;
    this.served = document.documentElement.dataset.mode === "serve";
    this.runs = [];
    this.run = null;
    this.numbered = 0;
    this.prefixes = new Prefix(null, "", "");
    const again = {
      can: (run) => ((run.finish || run.error) && this.functions?.has(run.function)) || false,
      edit: (run, hole) => this.edit(run, hole),
    };
    this.inspector = new Inspector(byId("inspector"), again);
    const go = host && ((run, span) => this.go(run, span));
    this.conversation = new ConversationView(this.inspector, again, go);
    this.timeline = new TimelineView((hole, going, clicked) => this.hole(hole, going, clicked));
    this.forks = new ForksView((row) => this.reveal(row));
    this.memory = new MemoryView();
    this.compare = new CompareView(this.inspector, go);
    this.tabs = [
      { id: "conversation", name: "Conversation", element: this.conversation.element, show: () => this.run && this.conversation.show(this.run), keep: true },
      { id: "holes", name: "Holes", element: this.timeline.element, show: () => this.run && this.timeline.show(this.run) },
      { id: "forks", name: "Forks", element: this.forks.element, show: () => this.run && this.forks.show(this.run) },
      { id: "memory", name: "Memory", element: this.memory.element, show: () => (countAnew(), this.memory.show(this.runs, this.prefixes)) },
      { id: "compare", name: "Compare", element: this.compare.element, show: () => this.compare.show(this.runs, this.chosen) },
    ];
    if (this.served) this.serve();
    this.build();
  }

  serve() {
    this.client = new Client();
    const store = {
      begin: (name) => this.add(this.make(`${name} #${(this.numbered += 1)}`)),
      changed: (run) => this.changed(run),
      see: (run) => (this.pick(run), this.open("conversation", true)),
      same: (before, run) => this.together(before, run),
    };
    this.functions = new FunctionsView(this.client, store);
    this.server = new ServerView(this.client);
    this.tabs.unshift({ id: "functions", name: "Functions", element: this.functions.element, show: () => {} });
    this.tabs.push({ id: "server", name: "Server", element: this.server.element, show: () => this.server.start(), hide: () => this.server.stop() });
    const form = byId("key-form");
    const input = byId("key");
    this.client.wanted = () => {
      form.hidden = false;
      byId("key-told").textContent = this.client.key ? "This key is not known here." : "This server wants a key.";
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.client.key = input.value.trim();
      input.value = "";
      byId("key-told").textContent = this.client.key ? "The key is kept until this tab is closed." : "";
      this.functions.load();
      if (this.tab?.id === "server") this.server.start();
    });
    form.hidden = !document.documentElement.hasAttribute("data-keyed");
    if (this.client.locked) {
      this.client.wanted(); // nothing is asked in vain
      this.functions.locked();
    } else this.functions.load().then(() => this.run && this.conversation.facts());
  }

  build() {
    for (const tab of this.tabs) {
      const { id, name } = tab;
      tab.button = make("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}`, "aria-selected": "false", tabindex: "-1", text: name, on: { click: () => this.open(id) } });
      tab.panel = make("section", { role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}` }, tab.element);
      tab.panel.hidden = true;
      byId("tabs").append(tab.button);
      byId("panels").append(tab.panel);
    }
    byId("tabs").addEventListener("keydown", (event) => this.tabKey(event));
    byId("runs").addEventListener("change", (event) => this.pick(this.runs[Number(event.target.value)]));
    byId("open").hidden = this.host !== null;
    byId("open").addEventListener("click", () => byId("files").click());
    byId("files").addEventListener("change", async (event) => {
      const files = [...event.target.files];
      event.target.value = "";
      await this.read(files);
    });
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      if (this.host === null) this.read([...event.dataTransfer.files]);
    });
    this.open(this.tabs[0].id);
    this.embedded();
  }

  // -- runs ----------------------------------------------------------------------------------------------

  make(name) {
    return new Run(name, this.prefixes);
  }

  add(run) {
    this.runs.push(run);
    if (this.runs.length > MOST_RUNS) this.runs.splice(this.runs[0] === this.run ? 1 : 0, 1);
    this.pick(run);
    return run;
  }

  pick(run) {
    if (!run) return;
    this.run = run;
    const pick = byId("runs");
    pick.replaceChildren(...this.runs.map((each, at) => make("option", { value: String(at), text: brief(each.name, 60) })));
    pick.value = String(this.runs.indexOf(run));
    byId("runs-label").hidden = false;
    byId("welcome").hidden = true;
    this.inspector.clear();
    this.tabs.find((tab) => tab.id === "conversation").stale = true;
    if (this.tab) this.draw();
  }

  changed(run) {
    if (run !== this.run || !this.tab) return;
    if (this.tab.id === "conversation" && this.conversation.run === run) this.conversation.refresh();
    else {
      this.tabs[this.served ? 1 : 0].stale = true;
      if (["holes", "forks"].includes(this.tab.id)) this.tab.show();
    }
  }

  /** Runs that stand in the page itself. */
  embedded() {
    const blocks = [...document.querySelectorAll("script[type='text/plain'][data-trace]")];
    for (const block of blocks) {
      const reading = this.begin(block.dataset.trace);
      reading.push(block.textContent);
      this.runs.push(reading.end(block.hasAttribute("data-cut")));
      block.remove();
    }
    if (blocks.length) {
      this.pick(this.runs[0]);
      this.tell(plural(this.runs.length, "run"));
    }
    document.documentElement.dataset.ready = "true";
  }

  /** A run whose trace comes in pieces: `push` takes them, `end` gives the run. */
  begin(name) {
    const run = this.make(name);
    const reader = new TraceReader((event) => run.add(event));
    const end = (cut) => {
      run.reading = reader.end();
      run.reading.cut = cut;
      return run;
    };
    return { push: (text) => reader.push(text), end };
  }

  async read(files) {
    for (const file of files) {
      this.tell(`Reading ${brief(file.name, 60)} …`);
      const run = this.make(file.name);
      try {
        run.reading = await readFile(file, (event) => run.add(event));
      } catch {
        this.tell(`${brief(file.name, 60)} cannot be read.`);
        continue;
      }
      this.tell(`${brief(file.name, 60)}: ${plural(run.reading.events, "event")}.`);
      this.add(run);
      this.open("conversation");
    }
  }

  tell(text) {
    byId("told").textContent = text;
  }

  // -- the source, where an editor has it --------------------------------------------------------------------

  /** Have the editor show where something of a run comes from. */
  go(run, span) {
    if (!span) return;
    run.marked = span;
    this.conversation.marked();
    this.host.go(run, span);
  }

  /** Mark what a run has written of the hole at a place, none where it is empty. The focus stays where it is. */
  mark(run, span) {
    const known = run.marked === span;
    run.marked = span;
    if (known || run !== this.run) return;
    this.conversation.marked();
    const hole = span && this.tab.id === "conversation" && run.holes.find((each) => each.span === span && each.target !== null);
    if (hole) this.conversation.bring(hole.target);
  }

  // -- tabs ----------------------------------------------------------------------------------------------

  open(id, focus = false) {
    const next = this.tabs.find((tab) => tab.id === id);
    for (const tab of this.tabs) {
      const on = tab === next;
      if (!on && tab === this.tab) tab.hide?.();
      tab.panel.hidden = !on;
      tab.button.setAttribute("aria-selected", on ? "true" : "false");
      tab.button.tabIndex = on ? 0 : -1;
    }
    this.tab = next;
    byId("inspector").hidden = !["conversation", "holes", "compare"].includes(id) || !this.run;
    if (focus) next.button.focus();
    this.draw();
  }

  draw() {
    const { tab } = this;
    byId("inspector").hidden = !["conversation", "holes", "compare"].includes(tab.id) || !this.run;
    if (!this.run && !["functions", "server"].includes(tab.id)) {
      byId("welcome").hidden = false;
      tab.panel.hidden = true;
      return;
    }
    byId("welcome").hidden = true;
    tab.panel.hidden = false;
    if (tab.keep && !tab.stale && this.conversation.run === this.run) return;
    tab.stale = false;
    tab.show();
    this.chosen = null;
  }

  tabKey(event) {
    const at = this.tabs.indexOf(this.tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.open(this.tabs[(to + this.tabs.length) % this.tabs.length].id, true);
  }

  // -- from one view to another ----------------------------------------------------------------------------

  reveal(row, item = null) {
    this.open("conversation");
    this.conversation.reveal(row, item);
  }

  hole(hole, going, clicked) {
    if (this.host && (going || clicked)) this.go(hole.run, hole.span);
    if (going) this.reveal(hole.target);
    else byId("inspector").replaceChildren(make("h2", { text: brief(hole.name, 60) }), factList(holeFacts(hole)), make("h3", { text: "Value" }), make("pre", { class: "value-text", text: brief(String(hole.end?.text ?? ""), 2000) }), ...scores(hole), ...this.inspector.offer(hole));
  }

  edit(run, hole = null) {
    this.open("functions");
    this.functions.open(run.function).edit(run, hole);
  }

  together(before, run) {
    this.chosen = [this.runs.indexOf(before), this.runs.indexOf(run)];
    this.open("compare", true);
  }
}

/** The options of a `select` or `choose` with their probabilities. */
function scores(hole) {
  const found = hole.end?.scores;
  if (found === null || typeof found !== "object") return [];
  const known = Object.entries(found).filter(([, value]) => typeof value === "number" && Number.isFinite(value));
  if (!known.length) return [];
  const rows = known.sort((one, other) => other[1] - one[1]).slice(0, 50);
  return [make("h3", { text: "Options" }), factList(rows.map(([text, value]) => [brief(text, 40), value.toFixed(4)]))];
}
