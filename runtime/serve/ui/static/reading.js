// From the lines of a trace to its events. What is damaged is told with its line, what is sound is kept.

const LIMITS = { line: 32 * 1024 * 1024, all: 384 * 1024 * 1024, events: 1_000_000, faults: 8 };
const TRACE_VERSION = 1;
const TOO_LONG = "#line too long"; // what stands for such a line in a page

/** Reads pieces of text; `take` gets each event. `faults` are the first damaged lines, `damaged` counts all. */
export class TraceReader {
  constructor(take, limits = LIMITS) {
    this.take = take;
    this.limits = limits;
    this.rest = "";
    this.skipping = false;
    this.lines = 0;
    this.events = 0;
    this.size = 0;
    this.damaged = 0;
    this.faults = [];
    this.leftOut = 0;
  }

  push(text) {
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      const line = this.rest ? this.rest + text.slice(from, at) : text.slice(from, at);
      this.rest = "";
      from = at + 1;
      if (this.skipping) this.skipping = false;
      else this.line(line, true);
    }
    if (this.skipping) return;
    this.rest += text.slice(from);
    if (this.rest.length > this.limits.line) this.tooLong();
  }

  /** The end of the text: a last line without its end is one that was cut short. */
  end() {
    if (this.rest && !this.skipping) this.line(this.rest, false);
    this.rest = "";
    return this;
  }

  tooLong() {
    this.lines += 1;
    this.fault(`it has more than ${this.limits.line / 1024 / 1024} MiB`);
    this.rest = "";
    this.skipping = true;
  }

  line(line, whole) {
    if (line.length > this.limits.line || line === TOO_LONG) {
      this.tooLong();
      this.skipping = false;
      return;
    }
    this.lines += 1;
    if (!line.trim()) return;
    if (this.events >= this.limits.events || this.size + line.length > this.limits.all) {
      this.leftOut += 1;
      this.size = this.limits.all; // nothing behind a gap is read
      return;
    }
    this.size += line.length;
    let data;
    try {
      data = JSON.parse(line);
    } catch (wrong) {
      const deep = wrong instanceof RangeError;
      if (whole) this.fault(deep ? "it is nested too deeply" : "it is not JSON");
      else this.fault("it is unfinished: the run was cut short, or goes on");
      return;
    }
    if (data === null || typeof data !== "object" || typeof data.event !== "string") {
      this.fault("it is no event: an object with the text `event` was expected");
    } else if (data.v !== TRACE_VERSION) {
      this.fault(`it is of another version of the format; version ${TRACE_VERSION} can be read`);
    } else {
      this.events += 1;
      this.take(data);
    }
  }

  fault(reason) {
    this.damaged += 1;
    if (this.faults.length < this.limits.faults) this.faults.push({ line: this.lines, reason });
  }
}

/** Read a file that the user has chosen. */
export async function readFile(file, take) {
  const reader = new TraceReader(take);
  const texts = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  for (let next = await texts.read(); !next.done; next = await texts.read()) reader.push(next.value);
  return reader.end();
}
