// Runs with their tokens in a page, and the way between tokens and the holes of the source.
import { basename, dirname, resolve } from "node:path";
import * as vscode from "vscode";
import type { Asking, Call } from "./asking";
import { Panel } from "./panel";
import type { Places } from "./places";
import { placeOf, type Shown } from "./pure/events";
import { argumentOptions } from "./pure/parameters";
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
  private readonly holes = new Set<string>();
  private folder = "";
  private last: Call | undefined;
  private end: () => void = () => undefined;
  private number = 0;

  constructor(
    context: vscode.ExtensionContext,
    private readonly tool: Tool,
    private readonly asking: Asking,
    private readonly places: Places,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.panel = new Panel(context.extensionUri, "run", BODY, (message) => this.received(message), () => this.end());
    context.subscriptions.push(
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
    await this.places.show(await vscode.workspace.openTextDocument(uri), place, vscode.ViewColumn.One);
    this.panel.post({ kind: "hole", span });
  }

  /** Show the tokens of the hole that was chosen in the source. */
  private selected(event: vscode.TextEditorSelectionChangeEvent): void {
    const { document } = event.textEditor;
    if (!this.panel.open || document.languageId !== "sgl") {
      return;
    }
    const isHere = (file: string): boolean => resolve(this.folder, file) === document.uri.fsPath;
    this.panel.post({ kind: "hole", span: this.places.chosen(event.textEditor, this.holes, isHere) });
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
