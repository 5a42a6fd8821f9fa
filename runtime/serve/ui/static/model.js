// From events to a run: rows of its conversation, its holes, forks and checks.
//
// Events of branches come mixed: each goes to the strand that its `branch` names. Whatever the order of events,
// the result is a run: what does not fit is put where it stands.

import { counting, finite, texted } from "./dom.js";

const ROW_ITEMS = 256; // most inline items of a row, ROW_SOON where a line of the text ends
const ROW_SOON = 96;
const ROW_TEXT = 4000; // most characters of one
const DEEPEST_BRANCH = 40;
const DEEPEST_FOLD = 60; // folds in each other; what is deeper is told by a line

/** A beginning of conversations: a tree in which equal beginnings are one path. */
export class Prefix {
  constructor(parent, kind, text) {
    this.parent = parent;
    this.kind = kind;
    this.text = text;
    this.uses = 0;
    this.tokens = 0;
    this.children = new Map();
  }

  then(kind, text) {
    const key = `${kind}:${text}`;
    let found = this.children.get(key);
    if (!found) this.children.set(key, (found = new Prefix(this, kind, text)));
    return found;
  }
}

/** One line of execution: the main one, or a branch of a fork. */
class Strand {
  constructor(path, prefix, parent = null) {
    this.path = path;
    this.parent = parent;
    this.prefix = prefix;
    this.rows = [];
    this.row = null;
    this.hole = null;
    this.holes = [];
    this.newest = new Map(); // the newest filling of each hole
    this.forks = [];
    this.children = new Map();
    this.marks = [];
    this.calls = []; // of open calls, the conversation that they were made from
  }
}

export class Run {
  constructor(name, root = new Prefix(null, "", "")) {
    this.name = name;
    this.prefixes = root;
    this.strand = new Strand("", root);
    this.holes = [];
    this.function = "";
    this.program = "";
    this.seed = null;
    this.sources = {}; // digests of its files
    this.marked = ""; // the place in the source of the hole that is marked
    this.arguments = null;
    this.tokens = 0;
    this.retries = 0;
    this.checks = 0;
    this.failed = 0;
    this.error = null;
    this.finish = null;
    this.unknown = 0;
    this.timed = false;
    this.until = 0;
    this.version = 0;
    this.reading = null;
    this.value = undefined;
  }

  get rows() {
    return this.strand.rows;
  }

  add(event) {
    this.version += 1;
    const at = finite(event.t);
    if (at !== null) {
      this.timed = true;
      this.until = Math.max(this.until, at);
    }
    const handler = EVENT_HANDLERS.get(event.event);
    if (handler) handler(this, this.at(texted(event.branch)), event);
    else if (!SILENT.has(event.event)) this.unknown += 1;
  }

  at(path) {
    let strand = this.strand;
    if (!path) return strand;
    for (const part of path.split(".", DEEPEST_BRANCH)) {
      const index = /^\d{1,9}$/.test(part) ? Number(part) : 0;
      strand = strand.children.get(index) ?? this.branch(strand, index);
    }
    return strand;
  }

  branch(parent, index) {
    const fork = parent.forks.at(-1) ?? this.fork(parent, 0);
    const strand = new Strand(parent.path ? `${parent.path}.${index}` : String(index), parent.prefix, parent);
    parent.children.set(index, strand);
    fork.branches.push({ index, strand, adopted: false, skipped: false, error: "" });
    fork.count = Math.max(fork.count, fork.branches.length);
    return strand;
  }

  fork(strand, count, span = "") {
    const fork = { count, span, branches: [], holes: this.holes.length, path: strand.path };
    strand.children = new Map();
    strand.forks.push(fork);
    this.put(strand, { kind: "fork", fork });
    return fork;
  }

  // -- rows ----------------------------------------------------------------------------------------------

  put(strand, row) {
    strand.row = null;
    strand.rows.push(row);
    return row;
  }

  note(strand, tone, text, span = "") {
    this.put(strand, { kind: "note", tone, text, span });
  }

  item(strand, item) {
    let row = strand.row;
    const text = item.text;
    if (row === null) row = this.put(strand, { kind: "line", items: [], size: 0 });
    strand.row = row;
    row.items.push(item);
    row.size += text.length;
    const full = row.items.length >= ROW_ITEMS || row.size >= ROW_TEXT;
    if (full || (row.items.length >= ROW_SOON && text.endsWith("\n"))) strand.row = null;
  }

  written(strand, kind, text, hole = null, event = null) {
    for (let from = 0; from < text.length || from === 0; from += ROW_TEXT) {
      const part = text.length <= ROW_TEXT ? text : text.slice(from, from + ROW_TEXT);
      this.item(strand, { kind, text: part, hole, event });
    }
  }

  /** Take out of a strand what came since a hole began. */
  cut(strand, hole) {
    const at = strand.rows.lastIndexOf(hole.row);
    if (at < 0 && hole.row !== null) return [];
    const taken = strand.rows.splice(hole.row === null ? hole.before : at);
    if (hole.row !== null && hole.items > 0 && taken.length) {
      const row = taken.shift();
      const tail = { kind: "line", items: row.items.splice(hole.items), size: 0 };
      for (const item of tail.items) tail.size += item.text.length;
      row.size -= tail.size;
      strand.rows.push(row);
      if (tail.items.length) taken.unshift(tail);
    }
    hole.target = taken[0] ?? null;
    strand.row = null;
    return taken;
  }

  // -- holes ---------------------------------------------------------------------------------------------

  begin(strand, event) {
    const hole = {
      number: this.holes.length + 1,
      name: texted(event.hole),
      mode: texted(event.mode),
      model: texted(event.model),
      path: strand.path,
      strand,
      run: this,
      span: texted(event.span),
      began: finite(event.t),
      first: null,
      ended: null,
      end: null,
      tokens: 0,
      rejected: false,
      failed: false,
      pieces: "",
      corrections: [],
      prefix: strand.prefix,
      row: strand.row,
      before: strand.rows.length,
      items: strand.row ? strand.row.items.length : 0,
      target: null,
    };
    strand.prefix.uses += 1;
    strand.holes.push(hole);
    this.holes.push(hole);
    strand.hole = hole;
    strand.newest.set(hole.name, hole);
    return hole;
  }

  open(strand, event) {
    const name = texted(event.hole);
    if (strand.hole === null || (name && strand.hole.name !== name)) this.begin(strand, event);
    return strand.hole;
  }

  /** Put what a hole has written into a fold. */
  reject(strand, hole, row) {
    const rows = this.cut(strand, hole);
    const depth = rows.reduce((most, each) => Math.max(most, (each.depth ?? 0) + 1), 1);
    if (depth > DEEPEST_FOLD) {
      strand.rows.push(...rows.slice(0, 1000));
      this.note(strand, "retry", `${row.title}: ${row.reason}`);
    } else this.put(strand, { kind: "rejected", rows, depth, ...row });
    for (let at = this.holes.length - 1; at >= 0 && this.holes[at] !== hole; at -= 1) {
      if (isWithin(this.holes[at].strand, strand)) this.holes[at].rejected = true;
    }
    strand.prefix = hole.prefix;
  }
}

// What tells nothing that the page has a place for.
const SILENT = new Set(["generated", "beam", "walk", "partial", "value", "lost"]);

const EVENT_HANDLERS = new Map(Object.entries({
  start(run, strand, event) {
    run.function = texted(event.function);
    run.program = texted(event.program);
    run.seed = counting(event.seed);
    run.sources = event.sources !== null && typeof event.sources === "object" ? event.sources : {};
    run.arguments = event.arguments !== null && typeof event.arguments === "object" ? event.arguments : null;
  },
  role(run, strand, event) {
    const role = texted(event.role);
    run.put(strand, { kind: "role", role });
    strand.prefix = strand.prefix.then("role", role);
  },
  text(run, strand, event) {
    const text = texted(event.text);
    const kind = event.inserted === true ? "inserted" : "text";
    run.written(strand, kind, text, null, event);
    strand.prefix = strand.prefix.then(kind, text);
  },
  hole_start(run, strand, event) {
    run.begin(strand, event);
  },
  forced(run, strand, event) {
    const hole = run.open(strand, event);
    const text = texted(event.text);
    if (!hole.tokens) hole.pieces += text;
    run.written(strand, "forced", text, hole, event);
    hole.target ??= strand.rows.at(-1);
  },
  token(run, strand, event) {
    const hole = run.open(strand, event);
    hole.tokens += 1;
    run.tokens += 1;
    hole.first ??= finite(event.t);
    const text = texted(event.text);
    run.item(strand, { kind: "token", text, hole, event });
    hole.target ??= strand.rows.at(-1);
    if (BYTES.test(text)) joined(strand.rows.at(-1).items);
  },
  pruned(run, strand, event) {
    const hole = run.open(strand, event);
    run.item(strand, { kind: "gone", text: texted(event.dead) || texted(event.text), hole, event });
  },
  stepped_back(run, strand, event) {
    const hole = run.open(strand, event);
    let left = texted(event.text).length;
    for (let at = strand.rows.length - 1; at >= 0 && left > 0; at -= 1) {
      const items = strand.rows[at].kind === "line" ? strand.rows[at].items : [];
      for (let place = items.length - 1; place >= 0 && left > 0; place -= 1) {
        const item = items[place];
        if (item.hole !== hole || item.gone) continue;
        item.gone = true;
        left -= item.text.length;
      }
    }
  },
  again(run, strand, event) {
    const hole = run.open(strand, event);
    run.reject(strand, hole, { reason: texted(event.reason), title: `${hole.name} was asked again` });
    Object.assign(hole, { pieces: "", tokens: 0, row: null, before: strand.rows.length, items: 0, target: null });
  },
  fallback(run, strand, event) {
    const hole = strand.newest.get(texted(event.hole));
    const said = `${texted(event.model)} failed: ${texted(event.message)}`;
    if (hole && !hole.end) {
      hole.rejected = true;
      run.reject(strand, hole, { reason: said, title: `another model was asked for ${hole.name}` });
    } else run.note(strand, "error", said);
    strand.hole = null;
  },
  answer(run, strand, event) {
    run.open(strand, event);
  },
  correction(run, strand, event) {
    run.open(strand, event).corrections.push(event);
  },
  hole_end(run, strand, event) {
    const hole = run.open(strand, event);
    const text = texted(event.text);
    hole.end = event;
    hole.ended = finite(event.t);
    if (!hole.tokens && (hole.corrections.length || hole.pieces !== text)) {
      run.cut(strand, hole);
      hole.target = null;
      corrected(hole, text).forEach((item) => run.item(strand, item));
    }
    hole.target ??= strand.rows.at(-1) ?? null;
    strand.prefix = hole.prefix.then("hole", text);
    hole.prefix.tokens = Math.max(hole.prefix.tokens, counting(event.prompt) ?? 0);
    strand.hole = null;
  },
  retry(run, strand, event) {
    run.retries += 1;
    const hole = strand.newest.get(texted(event.hole));
    const reason = texted(event.reason);
    if (!hole) run.note(strand, "retry", `retry of ${texted(event.hole)}: ${reason}`);
    else {
      hole.rejected = true;
      const title = `${hole.name} was rejected`;
      run.reject(strand, hole, { reason, title, strategy: texted(event.strategy), text: texted(event.rejected) });
    }
    strand.hole = null;
  },
  check(run, strand, event) {
    const passed = event.passed === true;
    run.checks += 1;
    run.failed += passed ? 0 : 1;
    const reason = texted(event.reason);
    run.note(strand, passed ? "good" : "error", `${passed ? "✓" : "✗"} check ${passed ? "passed" : "failed"}${reason ? `: ${reason}` : ""}`);
  },
  mark(run, strand) {
    strand.marks.push(strand.prefix);
    run.note(strand, "mark", "what follows leaves the conversation again");
  },
  forget(run, strand) {
    strand.prefix = strand.marks.pop() ?? strand.prefix;
    run.note(strand, "mark", "what stands since the mark has left the conversation");
  },
  fork(run, strand, event) {
    run.fork(strand, counting(event.branches) ?? 0, texted(event.span));
  },
  adopt(run, strand, event) {
    const fork = strand.forks.at(-1);
    const branch = fork?.branches.find((each) => each.index === event.index);
    if (!branch) return;
    branch.adopted = true;
    strand.prefix = branch.strand.prefix;
    run.note(strand, "mark", `the conversation goes on from branch ${event.index}`);
  },
  python(run, strand, event) {
    const head = `Python ${texted(event.target) || texted(event.function)}`;
    if (event.error) run.note(strand, "error", `${head} failed: ${texted(event.error)}: ${texted(event.message)}`);
    else run.note(strand, "call", `${head} gave ${texted(event.result)}`);
  },
  call(run, strand, event) {
    strand.calls.push(event.part === true ? null : strand.prefix);
    if (event.part !== true) strand.prefix = run.prefixes; // a conversation of its own
    run.note(strand, "call", `→ ${texted(event.function)}`, texted(event.span));
  },
  return(run, strand, event) {
    const error = texted(event.error);
    strand.prefix = strand.calls.pop() ?? strand.prefix;
    run.note(strand, error ? "error" : "call", `← ${texted(event.function)}${error ? `: ${error}` : ""}`);
  },
  error(run, strand, event) {
    const name = texted(event.name);
    const said = `${name}: ${texted(event.message)}`;
    if (strand.hole) strand.hole.failed = true;
    const partial = texted(event.partial);
    if (strand.hole && partial && !strand.hole.tokens) run.written(strand, "drawn", partial, strand.hole, event);
    strand.hole = null;
    const skipped = counting(event.skipped);
    run.note(strand, "error", event.caught === true ? `${said} (handled)` : said, texted(event.span));
    const branch = skipped === null ? null : strand.forks.at(-1)?.branches.find((each) => each.index === skipped);
    if (branch) Object.assign(branch, { skipped: true, error: said });
    else if (event.caught !== true && !strand.path) run.error = { name, message: texted(event.message) };
  },
  finish(run, strand, event) {
    run.finish = event;
  },
}));
EVENT_HANDLERS.set("raised", EVENT_HANDLERS.get("error"));

// Tokens that are bytes of a character, as a trace writes them.
const BYTES = /^(?:\\x[89a-f][0-9a-f])+$/;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Show a character at the last of the tokens that its bytes lie in; those before it show that they are a part. */
function joined(items) {
  let from = items.length;
  while (from > 0 && items.length - from < 4 && items[from - 1].shown === undefined && BYTES.test(items[from - 1].text)) from -= 1;
  const parts = items.slice(from);
  const bytes = parts.flatMap((item) => item.text.split("\\x").slice(1)).map((digits) => parseInt(digits, 16));
  try {
    const text = UTF8.decode(new Uint8Array(bytes));
    parts.forEach((item, at) => (item.shown = at === parts.length - 1 ? text : ""));
  } catch {
    // no whole character yet
  }
}

/** Whether a strand is another, or a branch below it. */
function isWithin(strand, other) {
  for (let at = strand; at; at = at.parent) if (at === other) return true;
  return false;
}

/** The text of a hole that came as a whole, with what a repair struck and put. */
function corrected(hole, text) {
  const item = (kind, part, event = hole.end) => ({ kind, text: part, hole, event });
  if (!hole.corrections.length) return [item("drawn", text)];
  const letters = Array.from(text);
  const items = [];
  let done = 0;
  for (const each of hole.corrections) {
    const at = Math.min(counting(each.at) ?? done, letters.length);
    if (at > done) items.push(item("drawn", letters.slice(done, at).join("")));
    if (texted(each.wrong)) items.push(item("gone", texted(each.wrong), each));
    if (texted(each.put)) items.push(item("put", texted(each.put), each));
    done = Math.max(done, at + Array.from(texted(each.put)).length);
  }
  if (done < letters.length) items.push(item("drawn", letters.slice(done).join("")));
  return items;
}

/** The rows that lead to a row, itself the last; null where it is not there. */
export function pathTo(rows, target) {
  for (const row of rows) {
    if (row === target) return [row];
    const below = row.kind === "rejected" ? [row.rows] : row.kind === "fork" ? row.fork.branches.map((each) => each.strand.rows) : [];
    for (const each of below) {
      const found = pathTo(each, target);
      if (found) return [row, ...found];
    }
  }
  return null;
}
