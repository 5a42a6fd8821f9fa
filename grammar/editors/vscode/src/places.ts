// Places in the source that traces name: shown in an editor, and found again from where the cursor is.
import * as vscode from "vscode";
import { type Place, placeOf } from "./pure/events";
import { type Extent, holesOf, offsetOf } from "./pure/source";

/** Shows places, one at a time. */
export class Places {
  private readonly mark = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor("editor.findMatchHighlightBackground"),
    borderRadius: "3px",
  });

  constructor(context: vscode.ExtensionContext) {
    context.subscriptions.push(this.mark);
  }

  /** Show a place: the hole that it is in, or the place itself. Where no editor has the program, one of that column does. */
  async show(document: vscode.TextDocument, place: Place, column: vscode.ViewColumn): Promise<void> {
    const shown = vscode.window.visibleTextEditors.find((each) => each.document === document);
    const editor = await vscode.window.showTextDocument(document, { viewColumn: shown?.viewColumn ?? column });
    const range = rangeOf(document, place);
    editor.setDecorations(this.mark, [range]);
    editor.selection = new vscode.Selection(range.start, range.start);
    editor.revealRange(new vscode.Range(range.start, range.start), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  /** The span whose hole the cursor is in, which is marked then; empty where there is none. */
  chosen(editor: vscode.TextEditor, spans: Iterable<string>, isHere: (file: string) => boolean): string {
    const text = editor.document.getText().replaceAll("\r\n", "\n");
    const { line, character } = editor.selection.active;
    const cursor = offsetOf(text, line + 1, 1) + character;
    const hole = holesOf(text).find((each) => each.start <= cursor && cursor < each.end);
    if (hole !== undefined) {
      const range = asRange(text, hole);
      for (const span of spans) {
        const place = placeOf(span);
        if (place === undefined || place.line <= range.start.line || place.line > range.end.line + 1 || !isHere(place.file)) {
          continue;
        }
        const offset = offsetOf(text, place.line, place.column);
        if (hole.start <= offset && offset < hole.end) {
          editor.setDecorations(this.mark, [range]);
          return span;
        }
      }
    }
    editor.setDecorations(this.mark, []);
    return "";
  }
}

function rangeOf(document: vscode.TextDocument, place: Place): vscode.Range {
  const text = document.getText().replaceAll("\r\n", "\n");
  const offset = offsetOf(text, place.line, place.column);
  const around = holesOf(text).find((each) => each.start <= offset && offset < each.end);
  return asRange(text, around ?? { start: offset, end: offset + 1 });
}

function asRange(text: string, extent: Extent): vscode.Range {
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
