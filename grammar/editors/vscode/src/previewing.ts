// The prompt of the function at the cursor, beside the source.
import * as vscode from "vscode";
import type { Current } from "./current";
import { Panel } from "./panel";
import { isObject } from "./pure/parameters";
import { conversationsOf } from "./pure/pieces";
import { functionAt } from "./pure/source";
import type { Server } from "./server";

const BODY = `<header id="head"><strong id="title"></strong> <span id="state"></span>
<button id="fuzz" type="button">Values</button><button id="next" type="button" hidden>Others</button>
<p class="legend"><span class="shared">alike in every call</span><span class="constant">constant</span>
<span class="given">argument</span><span class="unknown">?{hole}</span></p></header>
<main id="conversation"></main>`;
const REST = 300;

interface Look {
  uri: string;
  function: string;
  /** Whether holes have random legal values, and of which seed. */
  fuzz: boolean;
  seed: number;
}

/** Shows prompts, and follows the cursor and what is written. */
export class Previewing {
  private readonly panel: Panel;
  private look: Look | undefined;
  private timer: NodeJS.Timeout | undefined;
  private asked = 0;

  constructor(
    context: vscode.ExtensionContext,
    private readonly server: Server,
    private readonly current: Current,
  ) {
    this.panel = new Panel(context.extensionUri, "preview", BODY, (message) => this.received(message));
    context.subscriptions.push(
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.follow(textEditor)),
      vscode.window.onDidChangeActiveTextEditor((textEditor) => textEditor && this.follow(textEditor)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.changed(document)),
    );
  }

  /** Show the prompt of what a lens or a command means. */
  show(wanted: unknown, fuzz = false): void {
    const active = this.current.place;
    const named = isObject(wanted) && !(wanted instanceof vscode.Uri);
    const uri = named && typeof wanted["uri"] === "string" ? wanted["uri"] : active?.document.uri.toString();
    const text = active?.document.getText() ?? "";
    const name =
      named && typeof wanted["function"] === "string"
        ? wanted["function"]
        : functionAt(text, active?.line ?? 0);
    if (uri === undefined) {
      void vscode.window.showInformationMessage("Open a program (*.sgl) first.");
      return;
    }
    this.look = { uri, function: name ?? "", fuzz, seed: 0 };
    this.panel.show("Prompt");
    void this.refresh();
  }

  private follow(editor: vscode.TextEditor): void {
    if (!this.panel.open || this.look === undefined || editor.document.languageId !== "sgl") {
      return;
    }
    const uri = editor.document.uri.toString();
    const name = functionAt(editor.document.getText(), editor.selection.active.line);
    if (name !== undefined && (uri !== this.look.uri || name !== this.look.function)) {
      this.look = { ...this.look, uri, function: name };
      this.soon();
    }
  }

  private changed(document: vscode.TextDocument): void {
    if (this.panel.open && document.uri.toString() === this.look?.uri) {
      this.soon();
    }
  }

  private received(message: Record<string, unknown>): void {
    if (this.look === undefined) {
      return;
    }
    if (message["kind"] === "fuzz") {
      this.look = { ...this.look, fuzz: !this.look.fuzz };
    } else if (message["kind"] === "next") {
      this.look = { ...this.look, seed: this.look.seed + 1 };
    }
    void this.refresh();
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), REST);
  }

  /** Ask the server; an answer that a newer question has overtaken is left out. */
  private async refresh(): Promise<void> {
    const look = this.look;
    if (look === undefined) {
      return;
    }
    this.asked += 1;
    const mine = this.asked;
    const question = { uri: look.uri, fuzz: look.fuzz, seed: look.seed, ...(look.function === "" ? {} : { function: look.function }) };
    const told = (more: object): void => this.panel.post({ kind: "preview", title: look.function, drawn: look.fuzz, ...more });
    try {
      const answer = await this.server.ask("preview", question);
      if (mine !== this.asked) {
        return;
      }
      const conversations = conversationsOf(answer);
      const problem = problemOf(answer);
      told({ state: problem, ...(conversations.length > 0 || problem === "" ? { conversations } : {}) });
    } catch (problem) {
      told({ state: String(problem) });
    }
  }
}

function problemOf(answer: unknown): string {
  if (answer === undefined) {
    return "the language server does not run";
  }
  const found = isObject(answer) && Array.isArray(answer["diagnostics"]) ? answer["diagnostics"] : [];
  return found.filter(isObject).map((each) => String(each["message"]))[0] ?? "";
}
