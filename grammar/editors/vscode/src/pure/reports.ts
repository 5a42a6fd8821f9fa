// What `sglc test --json` says, for the test explorer.
import { isObject } from "./parameters";

export interface Failure {
  message: string;
  /** The line of the expectation, from 1 on. */
  line: number;
  expected?: string;
  actual?: string;
}

export interface Report {
  title: string;
  passed: boolean;
  seconds: number;
  failures: Failure[];
}

/** The tests of an output; undefined where it is none, such as of a program with errors. */
export function reportsOf(output: string, source: string): Report[] | undefined {
  let data: unknown;
  try {
    data = JSON.parse(output);
  } catch {
    return undefined;
  }
  if (!isObject(data) || !Array.isArray(data["tests"])) {
    return undefined;
  }
  return data["tests"].filter(isObject).map((row) => ({
    title: String(row["title"]),
    passed: row["passed"] === true,
    seconds: typeof row["seconds"] === "number" ? row["seconds"] : 0,
    failures: errorsOf(row).map((each) => failureOf(each, source)),
  }));
}

function errorsOf(row: Record<string, unknown>): Record<string, unknown>[] {
  const found = Array.isArray(row["diagnostics"]) ? row["diagnostics"] : [];
  return found.filter(isObject).filter((each) => each["severity"] === "error");
}

function failureOf(row: Record<string, unknown>, source: string): Failure {
  const span = isObject(row["span"]) ? row["span"] : {};
  const start = isObject(span["start"]) ? span["start"] : {};
  const line = typeof start["line"] === "number" ? start["line"] : 1;
  const reason = typeof row["reason"] === "string" ? row["reason"] : "";
  const told = [row["message"], reason, row["hint"]].filter((each) => typeof each === "string" && each !== "");
  const written = source.split("\n")[line - 1] ?? "";
  return { message: told.join("\n"), line, ...comparedIn(written, reason) };
}

/**
 * Both sides of `expect LEFT OPERATOR RIGHT` that did not hold: what was wanted, and the value that the reason
 * tells of the left side.
 */
export function comparedIn(written: string, reason: string): { expected?: string; actual?: string } {
  const found = /^\s*expect\s+(.+?)\s+(==|!=|<=|>=|<|>|not in|in)\s+(.+?)\s*(?:#.*)?$/.exec(written);
  if (found === null) {
    return {};
  }
  const [, left = "", operator = "", right = ""] = found;
  const values = new Map(
    reason.split("\n").flatMap((line): [string, string][] => {
      const at = line.indexOf(" = ");
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 3)]];
    }),
  );
  const actual = values.get(left);
  if (actual === undefined) {
    return {};
  }
  const wanted = values.get(right) ?? right;
  return { expected: operator === "==" ? wanted : `${operator} ${wanted}`, actual };
}
