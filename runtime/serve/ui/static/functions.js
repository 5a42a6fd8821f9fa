// The functions of the server: a form for each, its run as it goes on, its value or its problem.

import { brief, duration, make, plural, visible } from "./dom.js";
import { FormMaker, jsonText, Raw } from "./form.js";
import { Refused } from "./client.js";

const SHOWN_EVERY = 120; // milliseconds between two looks at a run that goes on

export class FunctionsView {
  constructor(client, store) {
    this.client = client;
    this.store = store; // begin(name) gives a run, changed(run) shows it, see(run) goes to it, same(before, run) compares
    this.list = make("nav", { class: "functions", "aria-label": "Functions" });
    this.place = make("div", { class: "function" });
    this.element = make("div", { class: "columns" }, this.list, this.place);
    this.forms = new Map();
    this.operations = new Map();
  }

  /** Say that there is nothing without a key. */
  locked() {
    this.place.replaceChildren(make("p", { class: "hint", text: "This server wants a key. Type it in above." }));
  }

  /** Ask for the functions. */
  async load() {
    try {
      const [document, named] = await Promise.all([this.client.data("/openapi.json"), this.client.data("/v1/functions")]);
      this.maker = new FormMaker(document);
      this.signatures = new Map(named.functions.map((each) => [each.name, each.signature ?? ""]));
      this.operations = new Map(Object.entries(document.paths ?? {}).filter(([, path]) => path.post?.operationId).map(([, path]) => [path.post.operationId, path.post]));
      this.forms.clear();
    } catch (refused) {
      if (!(refused instanceof Refused)) throw refused;
      if (refused.status === 401) this.locked();
      else this.place.replaceChildren(problemBox(refused.problem));
      return;
    }
    const buttons = [...this.operations].map(([name, operation]) =>
      make("button", { type: "button", "data-name": name, on: { click: () => this.open(name) } }, make("code", { text: visible(name) }), make("small", { text: operation.summary === name ? "" : brief(operation.summary ?? "", 80) })),
    );
    this.list.replaceChildren(...buttons);
    if (!buttons.length) this.place.replaceChildren(make("p", { class: "hint", text: "This server has no functions: it serves a model alone." }));
    else this.open(this.operations.keys().next().value);
  }

  has(name) {
    return this.operations.has(name);
  }

  open(name) {
    for (const each of this.list.children) each.setAttribute("aria-current", each.dataset.name === name ? "true" : "false");
    if (!this.forms.has(name)) this.forms.set(name, new Call(this, name, this.operations.get(name)));
    this.place.replaceChildren(this.forms.get(name).element);
    return this.forms.get(name);
  }
}

/** One function: its form, and the run that was begun last. */
class Call {
  constructor(owner, name, operation) {
    this.owner = owner;
    this.name = name;
    this.before = null;
    const request = owner.maker.resolve(operation.requestBody?.content?.["application/json"]?.schema);
    this.arguments = owner.maker.field(request.properties?.arguments ?? {}, "Arguments");
    this.options = owner.maker.record({ properties: OPTION_FIELDS }, { label: "", help: "" });
    this.begin = make("button", { type: "submit", class: "main", text: "Run" });
    this.stop = make("button", { type: "button", text: "Cancel", on: { click: () => this.cancel() } });
    this.stop.hidden = true;
    this.status = make("p", { class: "status", role: "status" });
    this.note = make("p", { class: "hint" });
    this.note.hidden = true;
    this.result = make("div", { class: "result" });
    this.from = null;
    this.text = make("textarea", { rows: "2", "aria-label": "Text of the hole" });
    this.anew = make("input", { type: "checkbox", on: { change: () => (this.text.disabled = this.anew.checked) } });
    const drawn = make("label", {}, this.anew, " draw it anew; another seed gives another text");
    this.kept = make("fieldset", {}, make("legend", {}), make("div", { class: "field" }, this.text, drawn));
    this.kept.hidden = true;
    const form = make(
      "form",
      { novalidate: true, on: { submit: (event) => (event.preventDefault(), this.run()) } },
      this.note,
      this.kept,
      this.arguments.element,
      make("details", { class: "options" }, make("summary", { text: "Options" }), this.options.element),
      make("div", { class: "tools" }, this.begin, this.stop, make("small", { class: "hint", text: "Ctrl+Enter runs it, too." })),
    );
    form.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && form.requestSubmit());
    this.element = make("div", {}, make("h2", {}, make("code", { text: visible(owner.signatures.get(name) || name) })), docs(operation), form, this.status, this.result);
  }

  /** Fill the form with what a run was called with, to change it and run it again: from its beginning, or with the
   * texts that holes had before `hole`, which gets another one. */
  edit(run, hole = null) {
    this.before = run;
    this.from = hole;
    this.kept.hidden = hole === null;
    if (hole !== null) {
      this.kept.firstElementChild.textContent = `Text of ${brief(hole.name, 60)}`;
      this.text.value = String(hole.end?.text ?? "");
      this.anew.checked = false;
      this.text.disabled = false;
    }
    if (run.arguments) this.arguments.write(run.arguments);
    if (run.seed !== null) this.options.write({ seed: run.seed });
    this.note.hidden = false;
    const way = hole === null ? "The call is run again from its beginning: with the same arguments and seed, text comes out as before." : `Holes before ${brief(hole.name, 60)} keep their texts; those behind it are drawn.`;
    this.note.textContent = `Filled with the arguments of “${brief(run.name, 60)}”. ${way} Afterwards both can be compared.`;
    (hole === null ? this.arguments.element.querySelector("input, textarea, select") : this.text)?.focus();
  }

  /** The texts of holes up to the one that the run goes on from, by hole; null where it begins anew. */
  answers() {
    if (!this.before || !this.from) return null;
    const found = new Map();
    const give = (hole, text) => {
      const name = hole.path ? `${hole.name}@${hole.path}` : hole.name;
      found.set(name, [...(found.get(name) ?? []), text]);
    };
    for (const hole of this.before.holes) {
      if (hole === this.from) break;
      if (hole.end) give(hole, String(hole.end.text ?? ""));
    }
    if (!this.anew.checked) give(this.from, this.text.value);
    return found.size ? found : null;
  }

  async run() {
    const faults = [];
    const given = this.arguments.read(faults);
    const options = this.options.read(faults);
    if (faults.length) {
      faults[0].closest("details:not([open])")?.setAttribute("open", "");
      faults[0].focus();
      this.status.textContent = `${plural(faults.length, "field")} to be put right.`;
      return;
    }
    options.set("tokens", true);
    options.set("top", new Raw("5"));
    const answers = this.answers();
    if (answers) options.set("answers", answers);
    const body = jsonText(new Map([["arguments", given], ["options", options]]));
    this.going(true);
    this.run_ = this.owner.store.begin(this.name);
    const live = new Live(this.owner, this.run_, this.status, this.result);
    try {
      await this.owner.client.call(this.name, body, (name, data, text) => {
        if (name === "run") this.id = data.id;
        live.heard(name, data, text);
      });
      if (!live.ended) live.fail({ title: "Broken off", name: "Connection", detail: "The connection ended before the run did." });
    } catch (wrong) {
      if (!(wrong instanceof Refused) && !(wrong instanceof TypeError)) throw wrong;
      live.fail(wrong.problem ?? { title: "Broken off", name: "Connection", detail: "The connection broke." });
    }
    this.going(false);
    live.end(this.before);
    this.before = this.from = null;
    this.note.hidden = this.kept.hidden = true;
  }

  going(on) {
    this.id = null;
    this.begin.disabled = on;
    this.stop.hidden = !on;
    if (on) this.stop.focus();
    else if (document.activeElement === this.stop || document.activeElement === document.body) this.begin.focus();
    this.stop.hidden = !on;
  }

  cancel() {
    if (this.id) this.owner.client.cancel(this.id);
  }
}

const OPTION_FIELDS = {
  seed: { type: "integer", minimum: 0, default: 0, description: "of every draw; another one gives another answer" },
  max_tokens: { type: "integer", minimum: 1, description: "most tokens of all holes together" },
  timeout: { type: "number", exclusiveMinimum: 0, description: "most seconds, with waiting" },
};

/** Shows a run while it goes on: what is certain of its values, then its value or its problem. */
class Live {
  constructor(owner, run, status, result) {
    Object.assign(this, { owner, run, status, result, ended: false, began: performance.now(), partials: new Map(), waits: 0 });
    this.list = make("dl", { class: "partials" });
    this.ticking = make("span", { class: "hint", "aria-hidden": "true" }); // a reader of the screen hears the end alone
    this.status.textContent = "Running. ";
    this.box = make("div", { "aria-live": "off" }, make("h3", {}, "So far ", this.ticking), this.list);
    this.result.replaceChildren(this.box);
    this.show();
    this.clock = setInterval(() => this.show(), SHOWN_EVERY);
  }

  heard(name, data, text) {
    if (name === "partial") {
      this.partials.set(data.branch ? `${data.hole} (branch ${data.branch})` : data.hole, data.value);
    } else if (name === "value") {
      this.ended = true;
      this.run.value = data.value;
      this.value(data, text);
    } else if (name === "error") this.fail(data);
    else if (name === "lost") this.run.add({ event: "text", text: `[events ${data.after + 1} to ${data.before - 1} were not kept]` });
    else if (name !== "run") this.run.add({ ...data, event: name });
  }

  show() {
    const seconds = (performance.now() - this.began) / 1000;
    this.ticking.textContent = this.ended ? "" : `${seconds.toFixed(1)} s, ${plural(this.run.tokens, "token")}`;
    if (this.run.shown === this.run.version) return;
    this.run.shown = this.run.version;
    this.list.replaceChildren(...[...this.partials].map(([name, value]) => make("div", {}, make("dt", { text: visible(name) }), make("dd", {}, valueElement(value)))));
    this.owner.store.changed(this.run);
  }

  value(data, text) {
    const { usage } = data;
    this.status.textContent = "Done.";
    const facts = usage ? `${plural(usage.output_tokens, "token")}, ${plural(usage.forced_tokens, "forced token")}, ${usage.retries} retries, ${duration(usage.seconds)}` : "";
    const checks = Array.isArray(data.checks) ? data.checks.map((each) => make("li", { class: each.passed ? "good" : "bad", text: `${each.passed ? "✓" : "✗"} ${visible(String(each.reason ?? ""))}` })) : [];
    this.result.replaceChildren(make("h3", { text: "Value" }), valueElement(exactly(text, data)), make("p", { class: "hint", text: facts }), checks.length ? make("ul", { class: "checks" }, ...checks) : "");
  }

  fail(problem) {
    this.ended = true;
    this.run.error ??= { name: String(problem.name ?? problem.title ?? ""), message: String(problem.detail ?? "") };
    this.status.textContent = problem.name === "Cancelled" ? "Cancelled." : "It failed.";
    this.result.replaceChildren(problemBox(problem));
  }

  end(before) {
    clearInterval(this.clock);
    this.show();
    this.owner.store.changed(this.run);
    const tools = make("div", { class: "tools" }, make("button", { type: "button", text: "See the conversation", on: { click: () => this.owner.store.see(this.run) } }));
    if (before) tools.append(make("button", { type: "button", text: "Compare with the run before", on: { click: () => this.owner.store.same(before, this.run) } }));
    this.result.append(tools);
  }
}

/** The value of an answer with all digits of its numbers, where the browser tells them. */
function exactly(text, data) {
  try {
    return JSON.parse(text, (key, value, context) => (typeof value === "number" && context?.source ? new Raw(context.source) : value)).value;
  } catch {
    return data.value;
  }
}

/** A value as a picture of its JSON. */
function valueElement(value) {
  if (value instanceof Raw) return make("code", { class: "v-number", text: value.text });
  if (value === null || value === undefined) return make("code", { class: "v-null", text: "null" });
  if (typeof value === "string") return make("span", { class: "v-text", text: visible(value) || "(empty text)" });
  if (typeof value !== "object") return make("code", { class: "v-number", text: String(value) });
  const parts = Array.isArray(value) ? value.map((each, at) => [String(at + 1), each]) : Object.entries(value);
  if (!parts.length) return make("code", { class: "v-null", text: Array.isArray(value) ? "[]" : "{}" });
  return make("dl", { class: Array.isArray(value) ? "value listed" : "value" }, ...parts.map(([name, each]) => make("div", {}, make("dt", { text: visible(name) }), make("dd", {}, valueElement(each)))));
}

/** A problem (RFC 9457) with what is to be done. */
export function problemBox(problem) {
  const said = (value) => (value === undefined || value === null ? "" : visible(String(value)));
  const parts = [make("h3", { text: problem.name === "Cancelled" ? "Cancelled" : said(problem.title) || "It failed" }), make("p", { text: said(problem.detail) })];
  if (problem.hint) parts.push(make("p", { class: "hint" }, make("b", { text: "What to do: " }), said(problem.hint)));
  if (problem.retry_after) parts.push(make("p", { class: "hint", text: `Try again in ${said(problem.retry_after)} s.` }));
  if (problem.fields && Object.keys(problem.fields).length) parts.push(make("h4", { text: "Fields" }), valueElement(problem.fields));
  if (problem.partial) parts.push(make("h4", { text: "What there was" }), make("pre", { text: said(problem.partial) }));
  const names = [problem.name, problem.code, problem.status && `status ${problem.status}`, problem.id && `run ${problem.id}`].filter(Boolean).map(said);
  parts.push(make("p", { class: "hint", text: names.join(" · ") }));
  return make("section", { class: "problem", role: "alert" }, ...parts);
}

function docs(operation) {
  const text = [operation.summary === operation.operationId ? "" : operation.summary, operation.description].filter(Boolean).join("\n\n");
  return text ? make("p", { class: "docs", text: visible(text) }) : null;
}
