// What conversations have in common: the tree of their beginnings, and how much of them was in memory.

import { brief, counting, grouped, make, percent, plural } from "./dom.js";
import { treeElement } from "./tree.js";

const DEEPEST_TREE = 200;

export class MemoryView {
  constructor() {
    this.element = make("div", {});
  }

  show(runs, root) {
    if (!runs.some((run) => run.holes.length)) {
      this.element.replaceChildren(make("p", { class: "hint", text: "There is no run with a hole yet." }));
      return;
    }
    const nodes = [...root.children.values()].map((child) => node(child, 0)).filter(Boolean);
    this.element.replaceChildren(
      make("h2", { text: "Reuse by program" }),
      reuseTable(runs),
      make("p", { class: "hint", text: "Tokens that requests of holes found in memory. What is read before a fork for all its branches is not among them." }),
      make("h2", { text: "Beginnings in common" }),
      make("p", { class: "hint", text: "Each line is text that one or more holes have before them. What several have before them needs to be read once." }),
      treeElement("Beginnings of conversations", nodes),
    );
  }
}

/** A path of beginnings without a choice is one node; those that no hole has before it are left out. */
function node(prefix, depth) {
  const parts = [];
  let last = prefix;
  for (;;) {
    parts.push(last.kind === "role" ? `⟨${last.text}⟩` : last.text);
    if (last.children.size !== 1 || last.uses > 0) break;
    last = last.children.values().next().value;
  }
  const children = depth < DEEPEST_TREE ? [...last.children.values()].map((child) => node(child, depth + 1)).filter(Boolean) : [];
  const uses = usesOf(last);
  if (!uses) return null;
  const text = parts.join(" ");
  const label = [
    make("span", { class: "index", text: `${grouped(uses)}×` }),
    make("code", { text: brief(text, 140) || "(blank)" }),
    make("small", { text: ` ${plural(parts.reduce((sum, part) => sum + part.length, 0), "character")}${last.tokens ? `, ${plural(last.tokens, "token")} so far` : ""}` }),
  ];
  return { label, children, open: depth < 3, tone: uses > 1 ? "shared" : "" };
}

const USES = new WeakMap();

/** How many holes have a beginning before them; counted without recursion, as conversations may be long. */
function usesOf(prefix) {
  if (USES.get(prefix)?.round === round) return USES.get(prefix).count;
  const order = [prefix];
  for (let at = 0; at < order.length; at += 1) for (const child of order[at].children.values()) order.push(child);
  for (const each of order.reverse()) {
    let count = each.uses;
    for (const child of each.children.values()) count += USES.get(child).count;
    USES.set(each, { round, count });
  }
  return USES.get(prefix).count;
}
let round = 0;

/** Forget what was counted: there is more now. */
export function countAnew() {
  round += 1;
}

function reuseTable(runs) {
  const programs = new Map();
  for (const run of runs) {
    const name = run.program || run.function || run.name;
    const sums = programs.get(name) ?? { runs: 0, holes: 0, prompt: 0, reused: 0, told: 0 };
    sums.runs += 1;
    for (const hole of run.holes) {
      sums.holes += 1;
      sums.prompt += counting(hole.end?.prompt) ?? 0;
      if (counting(hole.end?.reused) === null) continue;
      sums.told += 1;
      sums.reused += hole.end.reused;
    }
    programs.set(name, sums);
  }
  const head = ["program", "runs", "holes", "tokens before holes", "found in memory"].map((text) => make("th", { scope: "col", text }));
  const rows = [...programs].map(([name, sums]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row", text: brief(name, 60) }),
      ...[grouped(sums.runs), grouped(sums.holes), grouped(sums.prompt), sums.told ? `${grouped(sums.reused)} (${percent(sums.prompt ? Math.min(1, sums.reused / sums.prompt) : 0)})` : "not told"].map((text) => make("td", { text })),
    ),
  );
  return make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
}
