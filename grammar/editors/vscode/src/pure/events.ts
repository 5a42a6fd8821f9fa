// Events of a trace as the page of a run shows them. What is not of the form of docs/trace.md is left out.
import { isObject } from "./parameters";

export interface Candidate {
  text: string;
  probability: number;
  legal: boolean;
}

export interface Shown {
  kind: "role" | "text" | "inserted" | "forced" | "token" | "begin" | "end" | "void" | "note" | "call" | "finish";
  text: string;
  /** `file:line:column` of the instruction; empty where there is none. */
  span: string;
  branch: string;
  hole: string;
  /** Of a token its probability without mask, from 0 to 1. */
  probability?: number;
  /** Of a token the number of tokens that the mask allowed. */
  mask?: number;
  top?: Candidate[];
}

/** Most characters of one text that are shown. */
export const MOST_TEXT = 100_000;

/** A line of a trace; undefined for what is not shown. */
export function shownOf(line: string): Shown | undefined {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isObject(row) || row["v"] !== 1) {
    return undefined;
  }
  const text = (key: string): string => (typeof row[key] === "string" ? row[key].slice(0, MOST_TEXT) : "");
  const common = { span: text("span"), branch: text("branch"), hole: text("hole") };
  switch (row["event"]) {
    case "role":
      return { kind: "role", text: text("role"), ...common };
    case "text":
      return { kind: row["inserted"] === true ? "inserted" : "text", text: text("text"), ...common };
    case "forced":
      return { kind: "forced", text: text("text"), ...common };
    case "token":
      return { kind: "token", text: text("text"), ...common, ...tokenOf(row) };
    case "hole_start":
      return { kind: "begin", text: text("mode"), ...common };
    case "hole_end":
      return { kind: "end", text: text("text"), ...common };
    case "retry":
      return { kind: "void", text: `${text("hole")} is asked again: ${text("reason")}`, ...common };
    case "again":
      return { kind: "void", text: `${text("hole")} is asked again: ${text("reason")}`, ...common };
    case "fork":
      return { kind: "note", text: `${Number(row["branches"])} branches`, ...common };
    case "adopt":
      return { kind: "note", text: `goes on from branch ${Number(row["index"])}`, ...common };
    case "call":
      return { kind: "call", text: text("function"), ...common };
    case "error":
      return { kind: "note", text: `${text("name")}: ${text("message")}`, ...common };
    case "python":
      return { kind: "note", text: `Python: ${text("function")} gave ${text("result") || text("error")}`, ...common };
    case "finish":
      return { kind: "finish", text: figuresOf(row), ...common };
    default:
      return undefined;
  }
}

function tokenOf(row: Record<string, unknown>): Partial<Shown> {
  const found: Partial<Shown> = {};
  if (typeof row["logprob"] === "number") {
    found.probability = Math.min(1, Math.exp(row["logprob"]));
  }
  if (typeof row["mask"] === "number") {
    found.mask = row["mask"];
  }
  if (Array.isArray(row["top"])) {
    found.top = row["top"].slice(0, 20).map(candidateOf);
  }
  return found;
}

function candidateOf(each: unknown): Candidate {
  const [text, logprob, legal] = Array.isArray(each)
    ? each
    : isObject(each)
      ? [each["text"], each["logprob"], each["legal"] ?? each["allowed"]]
      : [];
  return {
    text: typeof text === "string" ? text.slice(0, 200) : "",
    probability: typeof logprob === "number" ? Math.exp(logprob) : 0,
    legal: legal !== false,
  };
}

function figuresOf(row: Record<string, unknown>): string {
  const number = (key: string): number => (typeof row[key] === "number" ? row[key] : 0);
  const drawn = number("tokens") - number("forced");
  return `${number("tokens")} tokens, ${number("forced")} forced, ${drawn} drawn, ${number("seconds").toFixed(1)} s`;
}

/** The shade of a probability: 0 is sure, 5 is a surprise. */
export function shadeOf(probability: number | undefined): number {
  if (probability === undefined) {
    return 0;
  }
  const bounds = [0.9, 0.6, 0.3, 0.1, 0.03];
  const found = bounds.findIndex((bound) => probability >= bound);
  return found < 0 ? 5 : found;
}

/** Cuts what comes in pieces into whole lines. */
export class Lines {
  private rest = "";

  /** The lines that a piece completes. */
  take(piece: string): string[] {
    const parts = (this.rest + piece).split("\n");
    this.rest = parts.pop() ?? "";
    return parts.filter((each) => each !== "");
  }
}

export interface Place {
  file: string;
  line: number;
  column: number;
}

/** Path, line and column of a span; the path may have colons. */
export function placeOf(span: string): Place | undefined {
  const found = /^(.*):(\d+):(\d+)$/.exec(span);
  return found === null ? undefined : { file: found[1] ?? "", line: Number(found[2]), column: Number(found[3]) };
}
