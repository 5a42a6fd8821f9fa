// The program `sglc`: which one it is, and how it is called.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { candidates, type Command, shown } from "./pure/candidates";

/** How an attempt ended. */
export type Found =
  | { state: "found"; command: Command; version: string }
  | { state: "missing"; tried: string[] }
  | { state: "incomplete"; command: Command; problem: string };

const PATIENCE = 60_000;

/** Knows the program, once it was found. Settings and interpreters may change: then it is looked for anew. */
export class Tool {
  private known: Promise<Found> | undefined;

  constructor(private readonly log: vscode.LogOutputChannel) {}

  /** Forget what was found. */
  forget(): void {
    this.known = undefined;
  }

  /** The program that is used. Where it is missing it is looked for again the next time. */
  find(): Promise<Found> {
    this.known ??= this.look().then((found) => {
      if (found.state === "missing") {
        this.forget();
      }
      return found;
    });
    return this.known;
  }

  /** The program, or undefined after the user was told what is missing. */
  async need(): Promise<Command | undefined> {
    const found = await this.find();
    if (found.state === "missing") {
      void tellMissing(found.tried, this.log);
      return undefined;
    }
    return found.command;
  }

  /** Start the program in a folder. */
  start(command: Command, more: readonly string[], folder: string): ChildProcess {
    this.log.info(`${shown(command)} ${more.join(" ")}`);
    return spawn(command.program, [...command.first, ...more], {
      cwd: folder,
      env: { ...process.env, PYTHONUTF8: "1", NO_COLOR: "1" },
      windowsHide: true,
    });
  }

  private async look(): Promise<Found> {
    const trusted = vscode.workspace.isTrusted;
    const folders = trusted ? (vscode.workspace.workspaceFolders ?? []).map((each) => each.uri.fsPath) : [];
    const tries = candidates({
      path: vscode.workspace.getConfiguration("sgl").get("path", ""),
      interpreter: trusted ? await interpreter() : "",
      folders,
      windows: process.platform === "win32",
      home: homedir(),
    });
    for (const command of tries) {
      const version = await said(command, ["--version"]);
      if (!version.ok || !/sglc/.test(version.out)) {
        this.log.info(`${shown(command)} is not sglc: ${version.err.trim().slice(0, 500) || "no version"}`);
        continue;
      }
      this.log.info(`${shown(command)}: ${version.out.trim()}`);
      const server = await said(command, ["lsp"]);
      return server.ok
        ? { state: "found", command, version: version.out.trim() }
        : { state: "incomplete", command, problem: server.err.trim() };
    }
    return { state: "missing", tried: tries.map(shown) };
  }
}

/** Say that sglc is missing, with what to do. */
async function tellMissing(tried: readonly string[], log: vscode.LogOutputChannel): Promise<void> {
  log.warn(`sglc was not found; tried: ${tried.join(", ")}`);
  const [install, choose, show] = ["Install in a terminal", "Choose the program", "Show what was tried"];
  const text = "sglc was not found. Install it with: pip install 'sglc[lsp]'";
  const answer = await vscode.window.showErrorMessage(text, install, choose, show);
  if (answer === install) {
    await vscode.commands.executeCommand("sgl.install");
  } else if (answer === choose) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "sgl.path");
  } else if (answer === show) {
    log.show();
  }
}

/** Say what the language server lacks, with what to do. */
export async function tellIncomplete(found: Found & { state: "incomplete" }, log: vscode.LogOutputChannel): Promise<void> {
  log.warn(found.problem);
  const extra = /E0812|No module named/.test(found.problem);
  const [install, show] = ["Install in a terminal", "Show the log"];
  const text = extra
    ? "The language server needs the extra `lsp` of sglc. Install it with: pip install 'sglc[lsp]'"
    : "The language server of sglc does not start.";
  const answer = await vscode.window.showErrorMessage(text, ...(extra ? [install, show] : [show]));
  if (answer === install) {
    await vscode.commands.executeCommand("sgl.install");
  } else if (answer === show) {
    log.show();
  }
}

/** The interpreter that the Python extension has chosen for the workspace, if there is one. */
async function interpreter(): Promise<string> {
  const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  if (extension === undefined) {
    return "";
  }
  try {
    const python = extension.isActive ? extension.exports : await extension.activate();
    const chosen = python.environments.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
    const resolved = await python.environments.resolveEnvironment(chosen);
    return resolved?.executable.uri?.fsPath ?? "";
  } catch {
    return "";
  }
}

/** The part of the Python extension's interface that is asked. */
interface PythonExtension {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(path: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

function said(command: Command, more: string[]): Promise<{ ok: boolean; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      command.program,
      [...command.first, ...more],
      { timeout: PATIENCE, windowsHide: true, env: { ...process.env, NO_COLOR: "1" } },
      (error, out, err) => resolve({ ok: error === null, out, err: err || (error?.message ?? "") }),
    );
    child.stdin?.on("error", () => undefined);
    child.stdin?.end();
  });
}
