// Two runs side by side; the first place where they differ is marked.

import { brief, duration, finite, grouped, make, visible } from "./dom.js";
import { pathTo } from "./model.js";
import { Look, RowsView, walkable } from "./rows.js";

/** All pieces of a run in their order: [text, row, item]. What is no text is told by a word before it. */
function* piecesOf(rows) {
  for (const row of rows) {
    if (row.kind === "line") for (const item of row.items) yield [item.text, row, item];
    else if (row.kind === "role") yield [`\u0000role ${row.role}\n`, row, null];
    else if (row.kind === "note") yield [`\u0000note ${row.text}\n`, row, null];
    else if (row.kind === "rejected") {
      yield [`\u0000rejected ${row.title}\n`, row, null];
      yield* piecesOf(row.rows);
      yield ["\u0000end\n", row, null];
    } else {
      yield [`\u0000fork ${row.fork.count}\n`, row, null];
      for (const branch of row.fork.branches) {
        yield [`\u0000branch ${branch.index}\n`, row, null];
        yield* piecesOf(branch.strand.rows);
      }
    }
  }
}

/** The first place where two runs differ: the pieces of both, null where one has ended; null where none does.
 * Texts are compared, not tokens: the same text in other tokens is no difference. */
function firstDifference(one, other) {
  const walks = [piecesOf(one.rows), piecesOf(other.rows)];
  const now = walks.map((walk) => walk.next());
  const done = [0, 0];
  for (;;) {
    for (const side of [0, 1]) {
      while (!now[side].done && done[side] >= now[side].value[0].length) {
        now[side] = walks[side].next();
        done[side] = 0;
      }
    }
    if (now[0].done && now[1].done) return null;
    const found = now.map((each) => (each.done ? null : { row: each.value[1], item: each.value[2], text: each.value[0] }));
    if (now[0].done || now[1].done) return found;
    const [a, b] = now.map((each, side) => each.value[0].slice(done[side]));
    const length = Math.min(a.length, b.length);
    if (a.slice(0, length) !== b.slice(0, length)) return found;
    done[0] += length;
    done[1] += length;
  }
}

export class CompareView {
  constructor(inspector, go = null) {
    this.inspector = inspector;
    this.runs = [];
    this.views = [];
    this.picks = ["One", "Other"].map((name, side) => make("select", { "aria-label": `${name} run`, on: { change: () => this.draw(side) } }));
    this.told = make("p", { class: "verdict", role: "status" });
    this.facts = make("div", { class: "wide" });
    this.sides = this.picks.map((pick) => make("section", { class: "side" }, make("h2", {}, pick), make("div", { class: "conversation by-p side-rows", tabindex: "0", role: "group", "aria-label": "Conversation. Arrow keys go from token to token." })));
    this.jump = make("button", { type: "button", class: "quiet", text: "Go to the first difference", on: { click: () => this.go() } });
    this.element = make("div", {}, make("div", { class: "tools" }, this.told, this.jump), make("div", { class: "sides" }, ...this.sides), this.facts);
    this.sides.forEach((side, at) => walkable(side.lastElementChild, () => this.views[at], (item) => this.inspector.show(item), go && ((span) => go(this.pair[at], span))));
  }

  show(runs, chosen) {
    this.runs = runs;
    const values = this.picks.map((pick) => pick.value);
    this.picks.forEach((pick, side) => {
      pick.replaceChildren(...runs.map((run, at) => make("option", { value: String(at), text: brief(run.name, 60) })));
      const wanted = chosen?.[side] ?? (values[side] === "" ? Math.min(side, runs.length - 1) : Number(values[side]));
      pick.value = String(Math.min(Math.max(0, wanted), runs.length - 1));
    });
    this.draw();
  }

  draw() {
    for (const view of this.views) view.close();
    this.views = [];
    this.found = null;
    this.jump.hidden = true;
    if (this.runs.length < 2) {
      this.told.textContent = "Two runs are needed: open another trace, or run a function twice.";
      this.facts.replaceChildren();
      for (const side of this.sides) side.hidden = true;
      return;
    }
    const pair = (this.pair = this.picks.map((pick) => this.runs[Number(pick.value)]));
    this.found = pair[0] === pair[1] ? null : firstDifference(...pair);
    this.jump.hidden = this.found === null;
    this.told.textContent = pair[0] === pair[1] ? "This is the same run twice." : this.found ? `The first difference: ${this.found.map(shortly).join(" and ")}.` : "No difference: both wrote the same.";
    this.facts.replaceChildren(table(pair));
    pair.forEach((run, side) => {
      const look = new Look();
      const place = this.found?.[side];
      if (place) look.marks.add(place.item ?? place.row);
      const view = new RowsView(run.rows, look);
      this.views.push(view);
      this.sides[side].hidden = false;
      this.sides[side].lastElementChild.replaceChildren(view.element);
    });
    if (this.found) requestAnimationFrame(() => this.go());
  }

  /** Both sides to the first difference; the page itself stays where it is. */
  go() {
    const before = scrollY;
    this.found?.forEach((place, side) => {
      if (!place || !this.views[side]) return;
      const path = pathTo(this.views[side].rows, place.row);
      const box = this.sides[side].lastElementChild;
      const element = path && this.views[side].reveal(path, place.item);
      if (element) box.scrollTop += element.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
    });
    scrollTo({ top: before, behavior: "instant" });
  }
}

function shortly(place) {
  if (!place) return "the end";
  const hole = place.item?.hole;
  return `“${brief(visible(place.text.replace(/^\u0000/, "")), 40)}”${hole ? ` of ${brief(hole.name, 40)}` : ""}`;
}

function table(pair) {
  const facts = [
    ["function", (run) => brief(run.function, 40)],
    ["arguments", (run) => brief(JSON.stringify(run.arguments ?? {}), 120)],
    ["seed", (run) => (run.seed === null ? "–" : String(run.seed))],
    ["tokens", (run) => grouped(run.tokens)],
    ["retries", (run) => grouped(run.retries)],
    ["time", (run) => duration(finite(run.finish?.seconds) ?? (run.timed ? run.until : null))],
    ["ended", (run) => (run.error ? brief(`${run.error.name}: ${run.error.message}`, 80) : run.finish ? "with a value" : "not yet")],
  ];
  const rows = facts.map(([name, of]) => {
    const values = pair.map(of);
    return make("tr", { class: values[0] === values[1] ? "" : "unlike" }, make("th", { scope: "row", text: name }), ...values.map((text) => make("td", { text })));
  });
  const head = make("tr", {}, make("td", {}), ...pair.map((run) => make("th", { scope: "col", text: brief(run.name, 40) })));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}
