// Recorded runs: the page of `sglc view` beside the source, and the way from tokens to holes and back.
import { open, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import index from "sgl-page/index.html";
import * as vscode from "vscode";
import { Panel } from "./panel";
import type { Places } from "./places";
import { placeOf } from "./pure/events";
import { digestOf, isInside, isProgramName, originsOf, sourcesOf, startOf } from "./pure/origins";

const BODY = /<body>([\s\S]*)<\/body>/.exec(index)?.[1] ?? "";
const SHEETS = [["dist", "view.css"], ["media", "trace.css"]];
const PIECE = 1 << 20;
const BEGINNING = 1 << 16;
/** Bytes of a trace that are shown, as of `sglc view`. */
const MOST_BYTES = 256 << 20;
const MOST_TRACES = 16;
const MOST_SPANS = 5_000;
const MOST_FILES = 64;
const MOST_FOUND = 64;
/** Bytes of a program that is looked into. */
const LARGEST = 4 << 20;

/** Opens traces, each set of them in a page of its own. */
export class Traces {
  private readonly opened = new Set<Opened>();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly places: Places,
  ) {
    context.subscriptions.push(
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.opened.forEach((each) => each.selected(textEditor))),
    );
  }

  /** Show the traces that the explorer means, or those that are chosen. */
  async view(wanted: unknown, all: unknown): Promise<void> {
    const several = Array.isArray(all) ? all.filter((each) => each instanceof vscode.Uri) : [];
    const filters = { "Traces (*.jsonl)": ["jsonl"] };
    const named = several.length > 0 ? several : wanted instanceof vscode.Uri ? [wanted] : [];
    const uris = named.length > 0 ? named : await vscode.window.showOpenDialog({ filters, canSelectMany: true });
    if (uris === undefined || uris.length === 0) {
      return;
    }
    const files = uris.filter((each) => each.scheme === "file").slice(0, MOST_TRACES);
    if (files.length === 0) {
      void vscode.window.showInformationMessage("Traces are read from files of this machine.");
      return;
    }
    const opened = new Opened(this.context.extensionUri, this.places, () => this.opened.delete(opened));
    this.opened.add(opened);
    await opened.begin(files.map((each) => each.fsPath));
  }
}

/** A file that a trace names: where it lies, and whether it is still the one that was run. */
interface Origin {
  uri?: vscode.Uri;
  /** Undefined where the trace does not tell. */
  same?: boolean;
}

interface Shown {
  trace: string;
  spans: ReadonlySet<string>;
  sources: Record<string, string>;
  /** The files of its places, as far as they were found. */
  paths: Map<string, string>;
}

class Opened {
  private readonly panel: Panel;
  private readonly shown: Shown[] = [];
  private readonly warned = new Set<string>();
  private traces: readonly string[] = [];
  private next: () => void = () => undefined;
  private over = false;

  constructor(
    root: vscode.Uri,
    private readonly places: Places,
    closed: () => void,
  ) {
    const end = (): void => {
      this.over = true;
      this.next();
      closed();
    };
    this.panel = new Panel(root, "trace", BODY, (message) => void this.received(message), end, SHEETS);
  }

  /** Show the program of the first trace, and all traces beside it. */
  async begin(traces: readonly string[]): Promise<void> {
    this.traces = traces;
    const [first] = traces;
    if (first !== undefined) {
      await this.showProgram(first);
    }
    const taken = vscode.window.tabGroups.all.some((each) => each.viewColumn === vscode.ViewColumn.One && each.tabs.length > 0);
    const title = traces.length === 1 ? `Trace: ${basename(first ?? "")}` : `${traces.length} traces`;
    this.panel.show(title, taken ? vscode.ViewColumn.Two : vscode.ViewColumn.One);
    for (const trace of traces) {
      await this.read(trace);
    }
  }

  private async showProgram(trace: string): Promise<void> {
    const beginning = await beginningOf(trace).catch(() => "");
    const { program, sources } = startOf(beginning);
    const { uri } = await originOf(program, trace, sources);
    if (uri !== undefined) {
      const column = vscode.ViewColumn.One;
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { viewColumn: column, preview: false });
    }
  }

  /** Give the page a trace in pieces, each when it has taken the one before. */
  private async read(trace: string): Promise<void> {
    this.panel.post({ kind: "begin", name: basename(trace) });
    let cut = false;
    try {
      const file = await open(trace, "r");
      try {
        if (!(await file.stat()).isFile()) {
          throw new Error("it is no file");
        }
        const decoder = new TextDecoder();
        const buffer = Buffer.alloc(PIECE);
        for (let at = 0; !this.over; ) {
          const { bytesRead } = await file.read(buffer, 0, PIECE, at);
          cut = at + bytesRead > MOST_BYTES;
          if (bytesRead === 0 || cut) {
            break;
          }
          at += bytesRead;
          await this.piece(decoder.decode(buffer.subarray(0, bytesRead), { stream: true }));
        }
      } finally {
        await file.close();
      }
    } catch (problem) {
      this.told(`${basename(trace)} cannot be read: ${String(problem)}`, trace);
    }
    this.panel.post({ kind: "end", cut });
  }

  private piece(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.next = resolve;
      this.panel.post({ kind: "piece", text });
      if (this.over) {
        resolve();
      }
    });
  }

  private async received(message: Record<string, unknown>): Promise<void> {
    const run = message["run"];
    if (message["kind"] === "more") {
      this.next();
    } else if (message["kind"] === "holes" && run === this.shown.length) {
      await this.holes(message);
    } else if (message["kind"] === "go" && typeof run === "number" && typeof message["span"] === "string") {
      await this.go(this.shown[run], message["span"]);
    }
  }

  private async holes(message: Record<string, unknown>): Promise<void> {
    const told = Array.isArray(message["spans"]) ? message["spans"].slice(0, MOST_SPANS) : [];
    const spans = new Set(told.filter((each) => typeof each === "string"));
    const trace = this.traces[this.shown.length] ?? "";
    const shown: Shown = { trace, spans, sources: sourcesOf(message["sources"]), paths: new Map() };
    this.shown.push(shown);
    const files = new Set([...spans].map((each) => placeOf(each)?.file ?? ""));
    for (const file of [...files].slice(0, MOST_FILES)) {
      const { uri } = await originOf(file, trace, shown.sources);
      if (uri !== undefined) {
        shown.paths.set(file, uri.fsPath);
      }
    }
  }

  /** Go to a place, or say why there is none to go to. */
  private async go(shown: Shown | undefined, span: string): Promise<void> {
    const place = placeOf(span);
    if (shown === undefined || place === undefined) {
      return;
    }
    const { uri, same } = await originOf(place.file, shown.trace, shown.sources);
    const name = place.file.slice(0, 200);
    if (uri === undefined) {
      this.told(`${name} is in none of the open folders.`, name);
      return;
    }
    const column = this.panel.column === vscode.ViewColumn.One ? vscode.ViewColumn.Two : vscode.ViewColumn.One;
    await this.places.show(await vscode.workspace.openTextDocument(uri), place, column);
    if (same === false) {
      this.told(`${name} has changed since this run: its places may be others.`, name);
    } else {
      this.panel.post({ kind: "told", text: `${name}, line ${place.line}` });
    }
  }

  /** Say something in the page, and the first time that it is of this file also as a warning. */
  private told(text: string, file: string): void {
    this.panel.post({ kind: "told", text });
    if (!this.warned.has(file)) {
      this.warned.add(file);
      void vscode.window.showWarningMessage(text);
    }
  }

  /** Mark what was written of the hole that was chosen in the source. */
  selected(editor: vscode.TextEditor): void {
    const path = editor.document.uri.fsPath;
    for (const [run, { spans, paths }] of this.shown.entries()) {
      if ([...paths.values()].includes(path)) {
        const span = this.places.chosen(editor, spans, (file) => paths.get(file) === path);
        this.panel.post({ kind: "hole", run, span });
      }
    }
  }
}

async function beginningOf(trace: string): Promise<string> {
  const file = await open(trace, "r");
  try {
    const buffer = Buffer.alloc(BEGINNING);
    const { bytesRead } = await file.read(buffer, 0, BEGINNING, 0);
    return buffer.subarray(0, bytesRead).toString("utf8");
  } finally {
    await file.close();
  }
}

/**
 * The file that a trace means by a name. It is a program in an open folder, or beside the trace where no folder is open:
 * the one whose text is that of the run, else the first of that name.
 */
async function originOf(name: string, trace: string, sources: Record<string, string>): Promise<Origin> {
  if (!isProgramName(name)) {
    return {};
  }
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
  const roots = folders.length > 0 ? folders : [dirname(trace)];
  const real = await Promise.all(roots.map((each) => realpath(each).catch(() => each)));
  const wanted = sources[name];
  const near = originsOf(name, trace, roots);
  const pattern = `**/${basename(name).replaceAll(/[[\]{}*?]/g, "?")}`;
  const far = async (): Promise<string[]> =>
    (await vscode.workspace.findFiles(pattern, "**/{node_modules,.venv,venv}/**", MOST_FOUND)).map(({ fsPath }) => fsPath);
  let first: Origin = {};
  for (const paths of [async () => near, far]) {
    for (const path of await paths()) {
      const found = await lookedAt(path, real, wanted);
      if (found.same === true) {
        return found;
      }
      first = first.uri === undefined ? found : first;
    }
  }
  return first;
}

async function lookedAt(path: string, roots: readonly string[], wanted: string | undefined): Promise<Origin> {
  try {
    const lies = await realpath(path);
    if (!roots.some((root) => isInside(root, lies))) {
      return {};
    }
    const uri = vscode.Uri.file(path);
    const { size } = await stat(lies);
    if (wanted === undefined || size > LARGEST) {
      return size > LARGEST ? {} : { uri };
    }
    const document = vscode.workspace.textDocuments.find((each) => each.uri.fsPath === path);
    return { uri, same: digestOf(document?.getText() ?? (await readFile(lies, "utf8"))) === wanted };
  } catch {
    return {};
  }
}
