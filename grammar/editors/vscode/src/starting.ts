// The first steps of a newcomer: installing, a first program, the plan of a function.
import * as vscode from "vscode";
import type { Asking } from "./asking";
import { isObject } from "./pure/parameters";
import type { Server } from "./server";

/** Open a terminal with the command that installs sglc. It is not run before the user presses Enter. */
export function install(): void {
  const terminal = vscode.window.createTerminal("Install sglc");
  terminal.show();
  terminal.sendText("python3 -m pip install 'sglc[lsp]'", false);
}

/** Make a first program in the folder of the workspace, or beside it where there is none. */
export async function firstProgram(extension: vscode.Uri): Promise<void> {
  const content = new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.joinPath(extension, "media", "first.sgl")));
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (folder === undefined) {
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: "sgl", content }));
    return;
  }
  const uri = vscode.Uri.joinPath(folder, "first.sgl");
  try {
    await vscode.workspace.fs.stat(uri);
  } catch {
    await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(content));
  }
  await vscode.window.showTextDocument(uri);
}

/** Plans as documents that cannot be edited. */
export class Plans implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly server: Server,
    private readonly asking: Asking,
  ) {}

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** Show the plan of what a lens or a command means. */
  async show(wanted: unknown): Promise<void> {
    const found = await this.asking.chosen(wanted);
    if (found === undefined) {
      return;
    }
    const name = found.function.name;
    const question = { uri: found.document.uri.toString(), function: name, tokens: true };
    const answer = await this.server.ask("plan", question);
    const uri = vscode.Uri.from({ scheme: "sgl-plan", path: `/${name} (plan)` });
    this.texts.set(uri.toString(), isObject(answer) && typeof answer["text"] === "string" ? answer["text"] : "no plan");
    this.changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
  }
}
