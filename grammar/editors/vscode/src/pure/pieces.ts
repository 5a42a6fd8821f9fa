// A previewed prompt as the page of previews shows it.
import { isObject } from "./parameters";

export interface Piece {
  /**
   * `shared` begins every call of the function alike, `constant` stands in every call behind something that
   * differs, `given` is of an argument, `value` of a hole, `unknown` a hole without a value, `role` the border
   * of a message.
   */
  kind: "shared" | "constant" | "given" | "value" | "unknown" | "role";
  text: string;
}

export interface Conversation {
  title: string;
  pieces: Piece[];
  remarks: string[];
}

const MOST = 200_000;

/** The conversations of an answer of `sgl.server.preview`. */
export function conversationsOf(answer: unknown): Conversation[] {
  if (!isObject(answer) || !Array.isArray(answer["conversations"])) {
    return [];
  }
  const given = isObject(answer["arguments"]) ? answer["arguments"] : {};
  const marks = Object.entries(given).flatMap(([name, value]) => (value === `<${name}>` ? [`<${name}>`] : []));
  return answer["conversations"].filter(isObject).map((each) => conversationOf(each, marks));
}

function conversationOf(row: Record<string, unknown>, marks: readonly string[]): Conversation {
  const path = Array.isArray(row["path"]) ? row["path"].map(String).join(" › ") : "";
  const branch = typeof row["branch"] === "string" && row["branch"] !== "" ? `, branch ${row["branch"]}` : "";
  const raw = (Array.isArray(row["pieces"]) ? row["pieces"] : []).filter(isObject);
  const roles = raw.some((each) => typeof each["role"] === "string");
  const pieces: Piece[] = [];
  let varies = false;
  const put = (kind: Piece["kind"], text: string): void => {
    pieces.push({ kind: kind === "constant" && !varies ? "shared" : kind, text: text.slice(0, MOST) });
    varies ||= kind === "given" || kind === "value" || kind === "unknown";
  };
  let inside = !roles;
  for (const each of raw) {
    if (typeof each["role"] === "string") {
      inside = true;
      put("role", each["role"]);
    } else if (each["end"] !== undefined) {
      inside = false;
    } else if (typeof each["unknown"] === "string") {
      put("unknown", each["unknown"]);
    } else if (typeof each["hole"] === "string") {
      put("value", String(each["text"] ?? ""));
    } else if (typeof each["text"] === "string" && inside) {
      for (const part of split(each["text"], marks)) {
        put(part.given ? "given" : "constant", part.text);
      }
    }
  }
  return { title: path + branch, pieces, remarks: remarksOf(row) };
}

function remarksOf(row: Record<string, unknown>): string[] {
  const stopped = row["stopped"];
  const assumed = Array.isArray(row["assumed"]) ? row["assumed"].filter(isObject) : [];
  const found = assumed.map((each) => `goes on as if nothing failed: ${String(each["condition"])}`);
  if (isObject(stopped)) {
    found.push(`stops here: what follows depends on ${String(stopped["condition"])}`);
  }
  return found;
}

function split(text: string, marks: readonly string[]): { text: string; given: boolean }[] {
  const found: { text: string; given: boolean }[] = [];
  let rest = text;
  while (rest !== "") {
    const next = marks
      .map((mark) => ({ mark, at: rest.indexOf(mark) }))
      .filter(({ at }) => at >= 0)
      .sort((one, other) => one.at - other.at)[0];
    if (next === undefined) {
      found.push({ text: rest, given: false });
      break;
    }
    if (next.at > 0) {
      found.push({ text: rest.slice(0, next.at), given: false });
    }
    found.push({ text: next.mark, given: true });
    rest = rest.slice(next.at + next.mark.length);
  }
  return found;
}
