// Rows of a conversation, made as they come into view: a list of chunks, each a box of about the right height
// that is filled near the window and emptied far from it.

import { branchCount, brief, bring, counting, finite, grouped, make, percent, plural, probable, texted, visible } from "./dom.js";

const CHUNK_ITEMS = 480;
const CHUNK_ROWS = 48;
const KEPT_CHUNKS = 24; // filled chunks that stay although they are far away
const NEAR = "1200px";
const LEVELS = [0.9, 0.5, 0.2, 0.05, 0.01];
const PRESSURES = [0.105, 0.693, 2.303, 4.605];
const CALM_PRESSURE = 0.01;

/** Which of six classes a probability falls into: 0 is likely. */
function levelOf(share) {
  if (share === null) return 0;
  const level = LEVELS.findIndex((least) => share >= least);
  return level < 0 ? LEVELS.length : level;
}

/** The same of a pressure in nats. */
function pressureLevel(nats) {
  if (nats === null || nats < CALM_PRESSURE) return 0;
  const level = PRESSURES.findIndex((most) => nats < most);
  return level < 0 ? PRESSURES.length + 1 : level + 1;
}

const WORDS = { text: "written by the program", inserted: "inserted by the program", forced: "forced: it could be no other", drawn: "from the model", put: "put by the repair", gone: "taken out" };

/** What is said of an item, as its accessible name and in the inspector. */
export function factsOf(item) {
  const event = item.event ?? {};
  if (item.kind === "drawn" && item.hole?.end?.ended === "mock") return [["kind", "given for this run"]];
  if (item.kind !== "token") return [["kind", WORDS[item.kind]]];
  const facts = [
    ["probability", percent(probable(event.logprob))],
    ["legal tokens", grouped(counting(event.mask))],
  ];
  if (finite(event.pressure) !== null) facts.push(["pressure", `${event.pressure.toFixed(2)} nats`]);
  if (event.draft) facts.push(["drafted by", visible(String(event.draft))]);
  if (counting(event.refused) !== null) facts.push(["draft refused", `token ${event.refused}`]);
  if (finite(event.alpha) !== null) facts.push(["alpha", event.alpha.toFixed(3)]);
  if (counting(event.token) !== null) facts.push(["token", String(event.token)]);
  if (finite(event.t) !== null) facts.push(["at", `${event.t.toFixed(3)} s`]);
  return facts;
}

/** The element of an inline item. */
function itemElement(item, look) {
  const event = item.event ?? {};
  let names = `it ${item.kind}`;
  if (item.kind === "token") {
    names += ` p${levelOf(probable(event.logprob))} q${pressureLevel(finite(event.pressure))}`;
    if (typeof event.draft === "string") names += event.refused === undefined ? " drafted" : " drafted refused";
  }
  if (item.shown === "") names += " byte";
  if (item.gone) names += " gone";
  if (look.marks.has(item)) names += " differs";
  if (look.span && item.hole?.span === look.span) names += " of-place";
  const element = document.createElement("span");
  element.className = names;
  element.textContent = item.shown === undefined ? visible(item.text) || (item.kind === "token" ? "∅" : "") : visible(item.shown);
  if (item.hole) {
    element.tabIndex = -1;
    const legal = item.kind === "token" ? counting(event.mask) : null;
    if (legal !== null) element.dataset.legal = legal > 9999 ? `${Math.round(legal / 1000)}k` : String(legal);
  }
  element.item = item;
  return element;
}

/** One row as an element; folds make what is in them when they are opened. */
function rowElement(row, look) {
  if (row.kind === "role") return make("h2", { class: `role ${ROLES.has(row.role) ? row.role : ""}`, text: visible(row.role) });
  if (row.kind === "note") {
    const text = visible(row.text);
    const note = make("p", { class: `note ${row.tone}${look.marks.has(row) ? " differs" : ""}`, title: visible(row.span ?? ""), text: text.length > 2000 ? `${text.slice(0, 2000)}…` : text });
    note.place = row.span;
    return note;
  }
  if (row.kind === "rejected") {
    const tokens = row.rows.reduce((sum, each) => sum + (each.items?.length ?? 1), 0);
    const head = make("summary", {}, make("b", { text: visible(row.title) }), ` ${brief(row.reason, 200)}`, make("small", { text: ` ${plural(tokens, "piece")}${row.strategy ? `, ${brief(row.strategy, 30)}` : ""}` }));
    return folded(row, "rejected", head, () => [["", row.rows]], look);
  }
  if (row.kind === "fork") {
    const chosen = row.fork.branches.filter((each) => each.adopted).map((each) => each.index);
    const head = make("summary", {}, make("b", { text: branchCount(row.fork.count) }), chosen.length ? ` goes on from ${chosen.join(", ")}` : "");
    const parts = () => row.fork.branches.map((each) => [`branch ${each.index}${each.adopted ? " ✓ adopted" : ""}${each.skipped ? ` skipped: ${each.error}` : ""}`, each.strand.rows]);
    return folded(row, "fork", head, parts, look);
  }
  const element = make("p", { class: "line" });
  for (const item of row.items) element.append(itemElement(item, look));
  return element;
}
const ROLES = new Set(["system", "user", "assistant", "tool", "developer"]);

function folded(row, kind, head, parts, look) {
  const element = make("details", { class: `fold ${kind}${look.marks.has(row) ? " differs" : ""}` }, head);
  element.views = [];
  element.fill = () => {
    if (element.views.length) return;
    for (const [title, rows] of parts()) {
      const view = new RowsView(rows, look);
      element.views.push(view);
      element.append(make("div", { class: "part" }, title ? make("h4", { text: visible(title) }) : null, view.element));
    }
  };
  element.addEventListener("toggle", () => element.open && element.fill());
  element.open = look.opened.has(row);
  if (element.open) element.fill();
  element.addEventListener("toggle", () => (element.open ? look.opened.add(row) : look.opened.delete(row)));
  return element;
}

/** How rows are shown: what is marked, which folds are open. */
export class Look {
  constructor(span = "") {
    this.marks = new Set();
    this.opened = new Set();
    this.span = span; // of the hole whose pieces are marked
  }
}

export class RowsView {
  constructor(rows, look = new Look()) {
    this.rows = rows;
    this.look = look;
    this.element = make("div", { class: "rows" });
    this.chunks = [];
    this.filled = [];
    // Within a page of another origin, as in an editor, a margin counts only around a root that is named.
    this.watcher = new IntersectionObserver((seen) => this.seen(seen), { root: document, rootMargin: NEAR });
    this.refresh();
  }

  /** Follow what has come to the rows since: chunks that are as they were stay. */
  refresh() {
    const cuts = chunksOf(this.rows);
    let same = 0;
    while (same < cuts.length && same < this.chunks.length && alike(cuts[same], this.chunks[same])) same += 1;
    for (const gone of this.chunks.splice(same)) {
      this.watcher.unobserve(gone.element);
      gone.element.remove();
    }
    this.filled = this.filled.filter((chunk) => chunk.element.isConnected || this.chunks.includes(chunk));
    for (const cut of cuts.slice(same)) {
      const element = make("div", { class: "chunk", style: { "min-height": `${cut.height}px` } });
      const chunk = { ...cut, element, full: false, owner: this };
      element.chunk = chunk;
      this.chunks.push(chunk);
      this.element.append(element);
      this.watcher.observe(element);
    }
  }

  seen(entries) {
    for (const entry of entries) {
      if (entry.isIntersecting) this.fill(entry.target.chunk);
      entry.target.chunk.near = entry.isIntersecting;
    }
    for (let at = 0; this.filled.length > KEPT_CHUNKS && at < this.filled.length; ) {
      const chunk = this.filled[at];
      if (chunk.near || chunk.element.contains(document.activeElement)) at += 1;
      else this.empty(this.filled.splice(at, 1)[0]);
    }
  }

  fill(chunk) {
    if (chunk.full) return;
    chunk.full = true;
    for (let at = chunk.from; at < chunk.to; at += 1) chunk.element.append(rowElement(this.rows[at], this.look));
    chunk.element.style.minHeight = "";
    this.filled.push(chunk);
  }

  empty(chunk) {
    chunk.element.style.minHeight = `${chunk.element.offsetHeight}px`;
    chunk.element.replaceChildren();
    chunk.full = false;
  }

  /** Make all anew: what is marked has changed. */
  redraw() {
    for (const chunk of this.filled.splice(0)) {
      this.empty(chunk);
      if (chunk.near) this.fill(chunk);
    }
  }

  /** Mark anew what is of the place that is looked at. */
  remark() {
    for (const each of this.element.querySelectorAll(".it")) each.classList.toggle("of-place", this.look.span !== "" && each.item?.hole?.span === this.look.span);
  }

  /** The element of a row, made if it is not there; `path` leads to it through folds. */
  reveal(path, item = null) {
    const [row, ...below] = path;
    const index = this.rows.indexOf(row);
    const chunk = this.chunks.find((each) => index >= each.from && index < each.to);
    if (!chunk) return null;
    this.fill(chunk);
    const element = chunk.element.children[index - chunk.from];
    if (below.length) {
      element.open = true;
      element.fill();
      const view = element.views.find((each) => each.rows.includes(below[0]));
      return view ? view.reveal(below, item) : element;
    }
    const inner = item === null ? null : [...element.children].find((each) => each.item === item);
    bring(inner ?? element);
    for (const each of document.querySelectorAll(".found")) each.classList.remove("found");
    (inner ?? element).classList.add("found");
    return inner ?? element;
  }

  close() {
    this.watcher.disconnect();
  }
}

/** Where in the source an element comes from; empty where that is not known. */
function placeIn(element) {
  const { item } = element;
  return (item ? item.hole?.span || texted(item.event?.span) : element.place) ?? "";
}

/** Let the pointer and keys go from piece to piece of what a view shows in a box; `told` gets each piece, `gone` the
 * place in the source of one that was clicked, where there is an editor to show it. */
export function walkable(body, viewOf, told, gone = null) {
  let here = null;
  if (gone) {
    body.dataset.placed = "";
    body.addEventListener("click", (event) => getSelection().isCollapsed && gone(placeIn(event.target)));
  }
  body.addEventListener("pointerover", (event) => event.target.item && told(event.target.item));
  body.addEventListener("focusin", (event) => {
    if (!event.target.item) return;
    if (here && here !== event.target) here.tabIndex = -1;
    here = event.target;
    here.tabIndex = 0;
    body.tabIndex = -1;
    told(here.item);
  });
  body.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target.item) {
      body.tabIndex = 0;
      body.focus();
    }
    if (event.key === "Enter" && event.target.item) gone?.(placeIn(event.target));
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: LEAP, ArrowUp: -LEAP }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey || event.target.tagName === "SUMMARY") return;
    event.preventDefault();
    let to = here && body.contains(here) ? here : null;
    if (!to) to = firstPiece(viewOf());
    else for (let left = Math.abs(step); left; left -= 1) to = besidePiece(to, Math.sign(step)) ?? to;
    if (!to) return;
    to.focus({ preventScroll: true });
    bring(to, "nearest");
  });
}
const LEAP = 20; // pieces that up and down go

function firstPiece(view) {
  for (const chunk of view?.chunks ?? []) {
    view.fill(chunk);
    const [found] = piecesIn(chunk.element);
    if (found) return found;
  }
  return null;
}

/** The next piece of a hole from an element on, in a direction; chunks on the way are made. */
function besidePiece(element, step) {
  let outer = element;
  for (let box = outer.closest(".chunk"); box; box = outer.closest(".chunk")) {
    const pieces = piecesIn(box);
    const found = pieces[pieces.indexOf(element) + step];
    if (found) return found;
    const { owner } = box.chunk;
    for (let at = owner.chunks.indexOf(box.chunk) + step; at >= 0 && at < owner.chunks.length; at += step) {
      owner.fill(owner.chunks[at]);
      const next = piecesIn(owner.chunks[at].element);
      if (next.length) return step > 0 ? next[0] : next.at(-1);
    }
    outer = owner.element.parentElement;
  }
  return null;
}

function piecesIn(box) {
  return [...box.querySelectorAll(".it[tabindex]")].filter((each) => each.offsetParent !== null);
}

function chunksOf(rows) {
  const found = [];
  let from = 0;
  let items = 0;
  let height = 0;
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at];
    items += row.kind === "line" ? row.items.length : 1;
    height += row.kind === "line" ? Math.ceil(row.size / 80) * 26 + 8 : 34;
    if (items >= CHUNK_ITEMS || at + 1 - from >= CHUNK_ROWS || at + 1 === rows.length) {
      found.push({ from, to: at + 1, items, height, first: rows[from], last: row });
      [from, items, height] = [at + 1, 0, 0];
    }
  }
  return found;
}

function alike(cut, chunk) {
  if (cut.last.kind === "fork") return false; // its branches may have grown
  return cut.from === chunk.from && cut.to === chunk.to && cut.items === chunk.items && cut.first === chunk.first && cut.last === chunk.last;
}
