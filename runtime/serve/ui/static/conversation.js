// The conversation of a run: coloured tokens, a search, keys from token to token.

import { make, plural, visible } from "./dom.js";
import { pathTo } from "./model.js";
import { Look, RowsView, walkable } from "./rows.js";

const MOST_HITS = 10_000;

export class ConversationView {
  constructor(inspector, again, go = null) {
    this.inspector = inspector;
    this.again = again; // what offers to run a call again, null where nothing can be run
    this.view = null;
    this.run = null;
    this.hits = [];
    this.at = -1;
    this.told = make("output", { class: "hint" });
    this.find = make("input", { type: "search", id: "find", placeholder: "Find in the text", "aria-label": "Find in the text", autocomplete: "off" });
    this.colour = make("select", { id: "colour" }, ...[["p", "probability"], ["q", "pressure of the mask"], ["o", "where it comes from"]].map(([value, text]) => make("option", { value, text })));
    this.legal = make("input", { type: "checkbox", id: "legal" });
    this.head = make("div", { class: "facts" });
    this.body = make("div", { class: "conversation by-p", tabindex: "0", role: "group", "aria-label": "Conversation. Arrow keys go from token to token, Enter opens folds." });
    this.element = make(
      "div",
      {},
      this.head,
      make("div", { class: "tools" }, make("label", { for: "colour", text: "Colour by" }), this.colour, make("label", {}, this.legal, " number of legal tokens"), this.find, this.told),
      this.body,
    );
    this.colour.addEventListener("change", () => this.paint());
    this.legal.addEventListener("change", () => this.paint());
    this.find.addEventListener("input", () => this.search());
    this.find.addEventListener("keydown", (key) => key.key === "Enter" && (key.preventDefault(), this.next(key.shiftKey ? -1 : 1)));
    walkable(this.body, () => this.view, (item) => this.inspector.show(item), go && ((span) => go(this.run, span)));
  }

  paint() {
    this.body.className = `conversation by-${this.colour.value}${this.legal.checked ? " counted" : ""}`;
  }

  show(run) {
    this.view?.close();
    this.run = run;
    this.view = new RowsView(run.rows, new Look(run.marked));
    this.body.replaceChildren(this.view.element);
    this.facts();
    this.search();
  }

  /** Follow a run that goes on. */
  refresh() {
    if (!this.run) return;
    this.view.refresh();
    this.facts();
  }

  facts() {
    const { run } = this;
    const facts = [run.function && `${visible(run.function)}()`, run.program && visible(run.program), run.seed === null ? "" : `seed ${run.seed}`, plural(run.tokens, "token"), plural(run.holes.length, "hole")];
    if (run.retries) facts.push(run.retries === 1 ? "1 retry" : `${run.retries} retries`);
    if (run.checks) facts.push(`${run.checks - run.failed} of ${plural(run.checks, "check")} passed`);
    const parts = facts.filter(Boolean).map((text) => make("span", { text }));
    if (run.error) parts.push(make("span", { class: "bad", text: visible(`${run.error.name}: ${run.error.message}`).slice(0, 400) }));
    if (this.again.can(run)) parts.push(make("button", { type: "button", class: "quiet", text: "Edit and run again", on: { click: () => this.again.edit(run) } }));
    this.head.replaceChildren(...parts, ...damage(run));
  }

  /** Mark the pieces of the hole that is marked now. */
  marked() {
    if (!this.view) return;
    this.view.look.span = this.run.marked;
    this.view.remark();
  }

  reveal(target, item = null) {
    const element = this.bring(target, item);
    if (!element) return;
    const piece = element.item ? element : element.querySelector(".it[tabindex]");
    piece?.focus({ preventScroll: true });
  }

  /** Bring a row into sight; gives its element, null where there is none. */
  bring(target, item = null) {
    const path = target && pathTo(this.run.rows, target);
    return path ? this.view.reveal(path, item) : null;
  }

  search() {
    const wanted = this.find.value.toLowerCase();
    this.hits = wanted ? hitsIn(this.run?.rows ?? [], wanted) : [];
    this.at = -1;
    this.told.textContent = wanted ? plural(this.hits.length, "row") + (this.hits.length ? ", Enter goes on" : "") : "";
  }

  next(step) {
    if (!this.hits.length) return;
    this.at = (this.at + step + this.hits.length) % this.hits.length;
    this.view.reveal(pathTo(this.run.rows, this.hits[this.at]));
    this.told.textContent = `${this.at + 1} of ${plural(this.hits.length, "row")}`;
  }
}

/** Rows whose text has some words. */
function hitsIn(rows, wanted, found = []) {
  for (const row of rows) {
    if (found.length >= MOST_HITS) break;
    if (row.kind === "rejected") hitsIn(row.rows, wanted, found);
    else if (row.kind === "fork") row.fork.branches.forEach((each) => hitsIn(each.strand.rows, wanted, found));
    else if (rowText(row).toLowerCase().includes(wanted)) found.push(row);
  }
  return found;
}

function rowText(row) {
  if (row.kind === "line") return row.items.map((item) => item.text).join("");
  return row.kind === "role" ? row.role : row.text;
}

/** What of a trace could not be read, said in words. */
function damage(run) {
  const reading = run.reading;
  if (!reading) return [];
  const said = reading.faults.map((each) => `Line ${each.line} was left out: ${each.reason}.`);
  if (reading.damaged > reading.faults.length) said.push(`${plural(reading.damaged - reading.faults.length, "damaged line")} more.`);
  if (reading.leftOut) said.push(`The trace is larger than this page reads: ${plural(reading.leftOut, "line")} behind the first ${plural(reading.events, "event")} ${reading.leftOut === 1 ? "is" : "are"} left out.`);
  if (reading.cut) said.push("The file is larger than a page may be: its beginning is shown.");
  if (!reading.events) said.push("This is no trace of a run: no line of it is an event.");
  if (run.unknown) said.push(`${plural(run.unknown, "event")} of kinds that this page does not know.`);
  return said.length ? [make("ul", { class: "damage", role: "alert" }, ...said.map((text) => make("li", { text })))] : [];
}
