// What is found in the text of a program without a server: holes and tests. Offsets are of UTF-16.

export interface Extent {
  start: number;
  end: number;
}

/** The hole whose inner part begins at an offset, from `?{` to its brace; to the end of the line where none is. */
export function holeAt(text: string, inner: number): Extent {
  const start = text.slice(Math.max(0, inner - 2), inner) === "?{" ? inner - 2 : inner;
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '"') {
      const end = endOfText(text, at);
      at = end < 0 ? at : end;
    } else if (letter === "{") {
      depth += 1;
    } else if (letter === "}") {
      depth -= 1;
      if (depth <= 0) {
        return { start, end: at + 1 };
      }
    }
  }
  const line = text.indexOf("\n", start);
  return { start, end: line < 0 ? text.length : line };
}

/** All holes of a text, in order. */
export function holesOf(text: string): Extent[] {
  return [...text.matchAll(/\?\{/g)].map((found) => holeAt(text, found.index + 2));
}

/** The offset of a line and column as traces tell them: from 1 on, columns in Unicode characters. */
export function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let number = 1; number < line; number += 1) {
    const next = text.indexOf("\n", start);
    if (next < 0) {
      return text.length;
    }
    start = next + 1;
  }
  let offset = start;
  for (let left = column - 1; left > 0 && offset < text.length && text[offset] !== "\n"; left -= 1) {
    offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  }
  return offset;
}

export interface FoundTest {
  title: string;
  line: number;
}

/** The `test` blocks of a program: titles, and lines from 0 on. */
export function testsOf(text: string): FoundTest[] {
  const found: FoundTest[] = [];
  text.split("\n").forEach((each, line) => {
    const matched = /^test\s+("(?:[^"\\]|\\.)*")/.exec(each);
    if (matched?.[1] !== undefined) {
      found.push({ title: unquoted(matched[1]), line });
    }
  });
  return found;
}

export interface FoundFunction {
  name: string;
  line: number;
}

/** The functions that ask a model: names, and lines from 0 on. */
export function functionsIn(text: string): FoundFunction[] {
  return text.split("\n").flatMap((each, line) => {
    const name = /^(?:pub\s+)?fn\s+([^\W\d]\w*)\s*\(/u.exec(each)?.[1];
    return name === undefined ? [] : [{ name, line }];
  });
}

/** The function that a line stands in or below; undefined above the first. */
export function functionAt(text: string, line: number): string | undefined {
  return functionsIn(text).filter((each) => each.line <= line).at(-1)?.name;
}

/** `-k` for one title, as `sglc test` reads it. */
export function wordsOf(title: string): string {
  return title.includes('"') ? `'${title}'` : `"${title}"`;
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text.slice(1, -1);
  }
}

function endOfText(text: string, at: number): number {
  for (let next = at + 1; next < text.length && text[next] !== "\n"; next += 1) {
    if (text[next] === "\\") {
      next += 1;
    } else if (text[next] === '"') {
      return next;
    }
  }
  return -1;
}
