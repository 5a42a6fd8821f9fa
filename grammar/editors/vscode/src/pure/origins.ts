// Where the program of a recorded run may lie. A trace comes from anywhere: what it names is only looked for, among
// the programs of folders that are open.
import { createHash } from "node:crypto";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";

/** Most folders above a trace in which its program is looked for. */
const MOST_PARENTS = 16;

/** Whether a path is a folder or lies in it. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (!isAbsolute(way) && way.split(/[\\/]/)[0] !== "..");
}

/** Whether a trace may name a file so: a program, and not by a path from the root. */
export function isProgramName(name: string): boolean {
  return /\.sgl$/i.test(name) && name.length < 1_000 && !/[\0-\x1f]/.test(name) && !/^(?:[\\/]|[A-Za-z]:)/.test(name);
}

/** Paths at which a file of a trace may lie, the most likely first: from the folder of the trace upwards, then from
 * each root. All are inside of a root. */
export function originsOf(name: string, trace: string, roots: readonly string[]): string[] {
  if (!isProgramName(name)) {
    return [];
  }
  const found: string[] = [];
  let folder = dirname(trace);
  for (let above = 0; above < MOST_PARENTS && roots.some((root) => isInside(root, folder)); above += 1) {
    found.push(folder);
    folder = dirname(folder);
  }
  const paths = [...found, ...roots].map((each) => resolve(join(each, name)));
  return [...new Set(paths)].filter((path) => roots.some((root) => isInside(root, path)));
}

/** What a trace tells of a text as `sources` of its `start`. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n")).digest("hex");
}

/** The program that the beginning of a trace names, and the digests of its files. */
export function startOf(beginning: string): { program: string; sources: Record<string, string> } {
  for (const line of beginning.split("\n").slice(0, 64)) {
    let row: unknown;
    try {
      row = JSON.parse(line);
    } catch {
      continue;
    }
    const found = row as { event?: unknown; program?: unknown; sources?: unknown } | null;
    if (typeof found === "object" && found?.event === "start" && typeof found.program === "string") {
      return { program: found.program, sources: sourcesOf(found.sources) };
    }
  }
  return { program: "", sources: {} };
}

/** Digests by file, without what is none. */
export function sourcesOf(value: unknown): Record<string, string> {
  const rows = typeof value === "object" && value !== null ? Object.entries(value).slice(0, 1_000) : [];
  return Object.fromEntries(rows.filter(([, each]) => typeof each === "string" && /^[0-9a-f]{64}$/.test(each)));
}
