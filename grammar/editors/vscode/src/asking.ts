// What people are asked before a function runs: which one, and its arguments.
import * as vscode from "vscode";
import type { Current } from "./current";
import { functionAt } from "./pure/source";
import { type Function, functionsOf, type Parameter, problemOf } from "./pure/parameters";
import { isObject } from "./pure/parameters";
import type { Server } from "./server";

/** A call that is wanted. */
export interface Call {
  document: vscode.TextDocument;
  function: Function;
  arguments: Record<string, string>;
}

const DEFAULT = "$(circle-slash) the default";

/** Asks for functions and arguments, and remembers the values that were given last. */
export class Asking {
  constructor(
    private readonly server: Server,
    private readonly memory: vscode.Memento,
    private readonly current: Current,
  ) {}

  /** The call that a lens or a command means; undefined where the user gave up, or the program has errors. */
  async call(wanted: unknown): Promise<Call | undefined> {
    const found = await this.chosen(wanted);
    if (found === undefined) {
      return undefined;
    }
    const given = await this.arguments(found.document, found.function);
    return given === undefined ? undefined : { ...found, arguments: given };
  }

  /** The function that a lens or a command means. */
  async chosen(wanted: unknown): Promise<{ document: vscode.TextDocument; function: Function } | undefined> {
    const document = await documentOf(wanted, this.current);
    if (document === undefined) {
      return undefined;
    }
    const functions = functionsOf(await this.server.ask("functions", { uri: document.uri.toString() }));
    if (functions.length === 0) {
      void vscode.window.showWarningMessage("This program has errors or no function: see Problems.");
      return undefined;
    }
    const name = isObject(wanted) && typeof wanted["function"] === "string" ? wanted["function"] : this.here(document);
    const meant = functions.find((each) => each.name === name) ?? (functions.length === 1 ? functions[0] : undefined);
    const picked = meant ?? (await pickFunction(functions));
    return picked === undefined ? undefined : { document, function: picked };
  }

  private here(document: vscode.TextDocument): string | undefined {
    const editor = vscode.window.visibleTextEditors.find((each) => each.document === document);
    const last = this.current.place;
    const line = editor?.selection.active.line ?? (last?.document === document ? last.line : undefined);
    return line === undefined ? undefined : functionAt(document.getText(), line);
  }

  /** Arguments of a function, asked for one by one; undefined where the user gave up. */
  private async arguments(document: vscode.TextDocument, called: Function): Promise<Record<string, string> | undefined> {
    const key = `arguments:${document.uri.toString()}#${called.name}`;
    const before = this.memory.get<Record<string, string>>(key, {});
    const given: Record<string, string> = {};
    for (const [number, parameter] of called.parameters.entries()) {
      const title = `${called.signature}  (${number + 1} of ${called.parameters.length})`;
      const value = await askFor(parameter, title, before[parameter.name] ?? parameter.default);
      if (value === undefined) {
        return undefined;
      }
      if (value !== DEFAULT) {
        given[parameter.name] = value;
      }
    }
    await this.memory.update(key, given);
    return given;
  }
}

/** The program that is meant: named by a lens, by the menu of a file, or that of the editor. It is saved. */
async function documentOf(wanted: unknown, current: Current): Promise<vscode.TextDocument | undefined> {
  const uri = wanted instanceof vscode.Uri ? wanted : isObject(wanted) && typeof wanted["uri"] === "string" ? vscode.Uri.parse(wanted["uri"]) : undefined;
  const document = uri !== undefined ? await vscode.workspace.openTextDocument(uri) : current.place?.document;
  if (document?.languageId !== "sgl") {
    void vscode.window.showInformationMessage("Open a program (*.sgl) first.");
    return undefined;
  }
  if ((document.isDirty || document.isUntitled) && !(await document.save())) {
    void vscode.window.showInformationMessage("The program is run from its file: save it first.");
    return undefined;
  }
  return document.isUntitled ? vscode.window.activeTextEditor?.document : document;
}

async function pickFunction(functions: readonly Function[]): Promise<Function | undefined> {
  const items = functions.map((each) => ({ label: each.name, description: each.signature, function: each }));
  return (await vscode.window.showQuickPick(items, { title: "Which function?" }))?.function;
}

async function askFor(parameter: Parameter, title: string, value: string | undefined): Promise<string | undefined> {
  const default_ = parameter.optional ? [{ label: DEFAULT, description: parameter.default ?? "" }] : [];
  if (parameter.choices !== undefined) {
    const choices = parameter.choices.map((label) => ({ label, description: "" }));
    const first = choices.filter((each) => each.label === value);
    const items = [...first, ...default_, ...choices.filter((each) => each.label !== value)];
    return (await vscode.window.showQuickPick(items, { title, placeHolder: `${parameter.name}: ${parameter.type}` }))?.label;
  }
  const options: vscode.InputBoxOptions = {
    title,
    prompt: `${parameter.name}: ${parameter.type}`,
    ignoreFocusOut: true,
    validateInput: (text) => problemOf(text, parameter),
  };
  if (value !== undefined) {
    options.value = value;
  }
  return vscode.window.showInputBox(options);
}
