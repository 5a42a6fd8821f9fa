// A run of `sglc run`, whose trace is read while it grows.
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChildProcess } from "node:child_process";
import { Lines, type Shown, shownOf } from "./pure/events";

/** What is told of a run. */
export interface Heard {
  events(events: Shown[]): void;
  progress(text: string): void;
  ended(value: string, problem: string): void;
}

const REST = 100;
const PIECE = 1 << 20;
const MOST_OUTPUT = 1 << 20;
/** Events of a run that are shown; what comes behind them is only counted. */
const MOST_EVENTS = 200_000;

/** Starts a run and tells of it until it has ended. Gives what stops it. */
export async function watched(start: (trace: string) => ChildProcess, heard: Heard): Promise<() => void> {
  const folder = await mkdtemp(join(tmpdir(), "sgl-run-"));
  const trace = join(folder, "run.jsonl");
  const child = start(trace);
  const reading = new Reading(trace, heard);
  let value = "";
  let problem = "";
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
    value = (value + piece).slice(0, MOST_OUTPUT);
  });
  child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
    problem = (problem + piece).slice(-MOST_OUTPUT);
    heard.progress(piece);
  });
  const timer = setInterval(() => void reading.more(), REST);
  let over = false;
  const end = async (told: string, failed: string): Promise<void> => {
    if (over) {
      return;
    }
    over = true;
    clearInterval(timer);
    await reading.more();
    await rm(folder, { recursive: true, force: true });
    heard.ended(told, failed);
  };
  child.on("error", (wrong) => void end("", wrong.message));
  child.on("close", (code) => void end(code === 0 ? value : "", code === 0 ? "" : problem || `it has ended with ${code}`));
  return () => child.kill();
}

class Reading {
  private at = 0;
  private shown = 0;
  private readonly lines = new Lines();
  private readonly decoder = new TextDecoder();
  private busy: Promise<void> = Promise.resolve();

  constructor(
    private readonly path: string,
    private readonly heard: Heard,
  ) {}

  /** Read what has come; one reading after the other. */
  more(): Promise<void> {
    this.busy = this.busy.then(() => this.read());
    return this.busy;
  }

  private async read(): Promise<void> {
    let file;
    try {
      file = await open(this.path, "r");
    } catch {
      return;
    }
    try {
      const buffer = Buffer.alloc(PIECE);
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, PIECE, this.at);
        if (bytesRead === 0) {
          return;
        }
        this.at += bytesRead;
        const lines = this.lines.take(this.decoder.decode(buffer.subarray(0, bytesRead), { stream: true }));
        const events = lines.map(shownOf).filter((each) => each !== undefined);
        const room = Math.max(0, MOST_EVENTS - this.shown);
        this.shown += events.length;
        if (events.length > 0 && room > 0) {
          this.heard.events(events.slice(0, room));
        }
      }
    } finally {
      await file.close();
    }
  }
}
