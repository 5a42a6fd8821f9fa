// Runs with their tokens in a page, and the way between tokens and the holes of the source.
import { basename, dirname, resolve } from "node:path";
import * as vscode from "vscode";
import type { Asking, Call } from "./asking";
import { Panel } from "./panel";
import { placeOf, type Shown } from "./pure/events";
import { argumentOptions } from "./pure/parameters";
import { holesOf, offsetOf } from "./pure/source";
import type { Tool } from "./tool";
import { type Heard, watched } from "./watching";

const BODY = `<header id="head" aria-live="polite"><strong id="title"></strong> <span id="state"></span>
<button id="stop" type="button">Stop</button><button id="again" type="button" hidden>Run again</button></header>
<main id="conversation" aria-label="conversation"></main>
<section id="value" aria-label="value" hidden></section>
<aside id="inspector" aria-live="polite">Point at a token, or choose one to go to its hole.</aside>`;

/** Runs functions, one at a time. */
export class Running {
  private readonly panel: Panel;
  private readonly mark: vscode.TextEditorDecorationType;
  private readonly holes = new Set<string>();
  private folder = "";
  private last: Call | undefined;
  private end: () => void = () => undefined;
  private number = 0;

  constructor(
    context: vscode.ExtensionContext,
    private readonly tool: Tool,
    private readonly asking: Asking,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.panel = new Panel(context.extensionUri, "run", BODY, (message) => this.received(message), () => this.end());
    this.mark = vscode.window.createTextEditorDecorationType({
      backgroundColor: new vscode.ThemeColor("editor.findMatchHighlightBackground"),
      borderRadius: "3px",
    });
    context.subscriptions.push(
      this.mark,
      vscode.window.onDidChangeTextEditorSelection((event) => this.selected(event)),
      { dispose: () => this.end() },
    );
  }

  /** Run what a lens or a command means. */
  async run(wanted: unknown): Promise<void> {
    const call = await this.asking.call(wanted);
    if (call !== undefined) {
      await this.begin(call);
    }
  }

  private async begin(call: Call): Promise<void> {
    const command = await this.tool.need();
    if (command === undefined) {
      return;
    }
    this.end();
    this.last = call;
    this.holes.clear();
    this.number += 1;
    const path = call.document.uri.fsPath;
    this.folder = dirname(path);
    this.panel.show(`Run: ${call.function.name}`);
    this.panel.post({ kind: "begin", title: title(call) });
    const more = ["run", basename(path), call.function.name, ...argumentOptions(call.arguments), ...runOptions()];
    const start = (trace: string) => this.tool.start(command, [...more, "--trace", trace, "--trace-top", "5"], this.folder);
    this.end = await watched(start, this.heard(this.number));
  }

  private heard(number: number): Heard {
    const mine = (act: () => void): void => (number === this.number ? act() : undefined);
    return {
      events: (events) => mine(() => this.tell(events)),
      progress: (text) => mine(() => this.panel.post({ kind: "progress", text })),
      ended: (value, problem) =>
        mine(() => {
          this.end = () => undefined;
          if (problem !== "") {
            this.log.warn(problem);
          }
          this.panel.post({ kind: "ended", value, problem });
        }),
    };
  }

  private tell(events: Shown[]): void {
    events.filter((each) => each.kind === "begin").forEach((each) => this.holes.add(each.span));
    this.panel.post({ kind: "events", events });
  }

  private received(message: Record<string, unknown>): void {
    if (message["kind"] === "stop") {
      this.end();
    } else if (message["kind"] === "again" && this.last !== undefined) {
      void this.begin(this.last);
    } else if (message["kind"] === "go" && typeof message["span"] === "string") {
      void this.go(message["span"]);
    }
  }

  /** Show the hole of a token in the source. Only holes of the run are gone to. */
  private async go(span: string): Promise<void> {
    const place = placeOf(span);
    if (place === undefined || !this.holes.has(span)) {
      return;
    }
    const uri = vscode.Uri.file(resolve(this.folder, place.file));
    const document = await vscode.workspace.openTextDocument(uri);
    const shown = vscode.window.visibleTextEditors.find((each) => each.document === document);
    const editor = await vscode.window.showTextDocument(document, {
      viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One,
    });
    const range = rangeOf(document, place.line, place.column);
    editor.setDecorations(this.mark, [range]);
    editor.selection = new vscode.Selection(range.start, range.start);
    editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    this.panel.post({ kind: "hole", span });
  }

  /** Show the tokens of the hole that was chosen in the source. */
  private selected(event: vscode.TextEditorSelectionChangeEvent): void {
    const { document } = event.textEditor;
    if (!this.panel.open || document.languageId !== "sgl") {
      return;
    }
    const position = event.selections[0]?.active;
    for (const span of this.holes) {
      const place = placeOf(span);
      if (place === undefined || resolve(this.folder, place.file) !== document.uri.fsPath) {
        continue;
      }
      const range = rangeOf(document, place.line, place.column);
      if (position !== undefined && range.contains(position)) {
        event.textEditor.setDecorations(this.mark, [range]);
        this.panel.post({ kind: "hole", span });
        return;
      }
    }
    event.textEditor.setDecorations(this.mark, []);
    this.panel.post({ kind: "hole", span: "" });
  }
}

/** Options of the settings for `sglc run`. */
export function runOptions(): string[] {
  const own = vscode.workspace.getConfiguration("sgl");
  const model = own.get("model", "").trim();
  const more = own.get<string[]>("run.arguments", []).map(String);
  return [...(model === "" ? [] : ["--model", model]), "--seed", String(own.get("run.seed", 0)), ...more];
}

function title(call: Call): string {
  const given = Object.entries(call.arguments).map(([name, value]) => `${name}: ${value}`);
  return `${call.function.name}(${given.join(", ")})`;
}

function rangeOf(document: vscode.TextDocument, line: number, column: number): vscode.Range {
  const text = document.getText().replaceAll("\r\n", "\n");
  const offset = offsetOf(text, line, column);
  const around = holesOf(text).find((each) => each.start <= offset && offset < each.end);
  const extent = around ?? { start: offset, end: offset + 1 };
  const until = text.slice(0, extent.end);
  const last = until.split("\n").length - 1;
  const before = text.slice(0, extent.start);
  const first = before.split("\n").length - 1;
  return new vscode.Range(
    first,
    extent.start - (before.lastIndexOf("\n") + 1),
    last,
    extent.end - (until.lastIndexOf("\n") + 1),
  );
}
