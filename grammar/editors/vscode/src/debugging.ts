// The debugger: `sglc debug --dap`, which is started for each session.
import { dirname } from "node:path";
import * as vscode from "vscode";
import type { Asking } from "./asking";
import type { Current } from "./current";
import { isObject, jsonArguments } from "./pure/parameters";
import type { Tool } from "./tool";

/** Starts the adapter. */
export class Adapter implements vscode.DebugAdapterDescriptorFactory {
  constructor(private readonly tool: Tool) {}

  async createDebugAdapterDescriptor(session: vscode.DebugSession): Promise<vscode.DebugAdapterDescriptor | undefined> {
    const command = await this.tool.need();
    const program: unknown = session.configuration["program"];
    const folder = typeof program === "string" ? dirname(program) : session.workspaceFolder?.uri.fsPath;
    return command === undefined
      ? undefined
      : new vscode.DebugAdapterExecutable(
          command.program,
          [...command.first, "debug", "--dap"],
          folder === undefined ? {} : { cwd: folder },
        );
  }
}

/** Completes configurations: without a launch.json the program of the editor is debugged. */
export class Configurations implements vscode.DebugConfigurationProvider {
  constructor(private readonly asking: Asking) {}

  async resolveDebugConfiguration(
    _folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (configuration.type === undefined || configuration.type === "") {
      const document = vscode.window.activeTextEditor?.document;
      if (document?.languageId !== "sgl") {
        return undefined;
      }
      return this.completed({ type: "sgl", request: "launch", name: "Debug", program: document.uri.fsPath });
    }
    return this.completed(configuration);
  }

  /** The configuration with all that the adapter wants; undefined where the user gave up. */
  private async completed(configuration: vscode.DebugConfiguration): Promise<vscode.DebugConfiguration | undefined> {
    const own = vscode.workspace.getConfiguration("sgl");
    if (configuration["test"] !== undefined) {
      return configuration; // a test asks no model and takes no arguments
    }
    const known: vscode.DebugConfiguration = { model: own.get("model", ""), seed: own.get("run.seed", 0), ...configuration };
    if (known["args"] !== undefined || String(known["program"]).includes("${")) {
      return known;
    }
    const wanted = { uri: vscode.Uri.file(String(known["program"])).toString(), function: known["function"] };
    const call = await this.asking.call(wanted);
    if (call === undefined) {
      return undefined;
    }
    const args = jsonArguments(call.arguments, call.function.parameters);
    return { ...known, function: call.function.name, args };
  }
}

/** Debug what a lens or the button of a file means. */
export async function debug(wanted: unknown, current: Current): Promise<void> {
  const uri = wanted instanceof vscode.Uri ? wanted : current.place?.document.uri;
  if (uri !== undefined) {
    const name = "Debug";
    await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(uri), { type: "sgl", request: "launch", name, program: uri.fsPath });
  }
}

/** How a test came out in the debugger: undefined where the session was ended before it did. */
export interface Debugged {
  passed: boolean | undefined;
  output: string;
}

/** Debug one test to its end. */
export async function debugTest(uri: vscode.Uri, title: string, token: vscode.CancellationToken): Promise<Debugged> {
  const found: Debugged = { passed: undefined, output: "" };
  let session: vscode.DebugSession | undefined;
  const isOurs = (each: vscode.DebugSession): boolean =>
    each.type === "sgl" && each.configuration["test"] === title && each.configuration["program"] === uri.fsPath;
  const tracking = vscode.debug.registerDebugAdapterTrackerFactory("sgl", {
    createDebugAdapterTracker: (each) => (isOurs(each) ? { onDidSendMessage: (message) => heard(found, message) } : undefined),
  });
  const begun = vscode.debug.onDidStartDebugSession((each) => {
    session = isOurs(each) ? each : session;
  });
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const over = vscode.debug.onDidTerminateDebugSession((each) => {
    if (isOurs(each)) {
      end();
    }
  });
  const cancelled = token.onCancellationRequested(() => void vscode.debug.stopDebugging(session));
  try {
    const configuration = { type: "sgl", request: "launch", name: title, program: uri.fsPath, test: title };
    if (await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(uri), configuration)) {
      await ended;
    }
  } finally {
    [tracking, begun, over, cancelled].forEach((each) => each.dispose());
  }
  return found;
}

/** What the adapter tells of a run: its exit code, and what is wrong. */
function heard(found: Debugged, message: unknown): void {
  const told = isObject(message) && message["type"] === "event" && isObject(message["body"]) ? message["body"] : {};
  if (isObject(message) && message["event"] === "exited") {
    found.passed = told["exitCode"] === 0;
  } else if (told["category"] === "stderr") {
    found.output += String(told["output"]);
  }
}
