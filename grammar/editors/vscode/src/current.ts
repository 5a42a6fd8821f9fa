// The program that is meant where nothing else is said.
import * as vscode from "vscode";

/** A program and the line, from 0 on, at which the cursor stands in it. */
export interface Cursor {
  document: vscode.TextDocument;
  line: number;
}

/** Knows the program that was written in last: a page or a walkthrough may have the focus now. */
export class Current {
  private last: Cursor | undefined;

  constructor(context: vscode.ExtensionContext) {
    this.see(vscode.window.activeTextEditor);
    context.subscriptions.push(
      vscode.window.onDidChangeActiveTextEditor((editor) => this.see(editor)),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.see(textEditor)),
    );
  }

  private see(editor: vscode.TextEditor | undefined): void {
    if (editor?.document.languageId === "sgl") {
      this.last = { document: editor.document, line: editor.selection.active.line };
    }
  }

  /** The program of the editor that has the focus; where that has none, the last one, as long as it is open. */
  get place(): Cursor | undefined {
    const active = vscode.window.activeTextEditor;
    if (active !== undefined && active.document.uri.scheme !== "output") {
      const { document, selection } = active;
      return document.languageId === "sgl" ? { document, line: selection.active.line } : undefined;
    }
    return this.last?.document.isClosed === false ? this.last : undefined;
  }
}
