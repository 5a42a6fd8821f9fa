// `test` blocks in the test explorer.
import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import { debugTest } from "./debugging";
import { type Report, reportsOf } from "./pure/reports";
import { testsOf, wordsOf } from "./pure/source";
import { isObject } from "./pure/parameters";
import type { Tool } from "./tool";

const MOST_FILES = 1_000;
const MOST_OUTPUT = 1 << 24;

/** Finds tests in programs and runs them with `sglc test`. */
export class Testing {
  private readonly controller = vscode.tests.createTestController("sgl", "SGL");

  constructor(
    context: vscode.ExtensionContext,
    private readonly tool: Tool,
  ) {
    const { controller } = this;
    controller.resolveHandler = async (item) => (item === undefined ? this.discover() : this.read(item));
    controller.refreshHandler = () => this.discover();
    controller.createRunProfile("Run", vscode.TestRunProfileKind.Run, (request, token) => this.run(request, token, 1), true);
    controller.createRunProfile("Debug", vscode.TestRunProfileKind.Debug, (request, token) => this.debug(request, token), true);
    const watcher = vscode.workspace.createFileSystemWatcher("**/*.sgl");
    context.subscriptions.push(
      controller,
      watcher,
      watcher.onDidCreate((uri) => void this.add(uri)),
      watcher.onDidChange((uri) => void this.add(uri)),
      watcher.onDidDelete((uri) => controller.items.delete(uri.toString())),
      vscode.workspace.onDidOpenTextDocument((document) => this.opened(document)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.opened(document)),
    );
    vscode.workspace.textDocuments.forEach((each) => this.opened(each));
  }

  /** Run or debug what a lens means: one test, or with `rounds` the same test often. */
  async lens(wanted: unknown, rounds = 1, debugged = false): Promise<void> {
    if (!isObject(wanted) || typeof wanted["uri"] !== "string") {
      await vscode.commands.executeCommand("testing.runCurrentFile");
      return;
    }
    const uri = vscode.Uri.parse(wanted["uri"]);
    await this.add(uri);
    const file = this.controller.items.get(uri.toString());
    const title = wanted["test"];
    const item = typeof title === "string" ? file?.children.get(`${uri.toString()}#${title}`) : file;
    if (item !== undefined) {
      const [request, { token }] = [new vscode.TestRunRequest([item]), new vscode.CancellationTokenSource()];
      await (debugged ? this.debug(request, token) : this.run(request, token, rounds));
    }
  }

  private opened(document: vscode.TextDocument): void {
    if (document.languageId === "sgl" && document.uri.scheme === "file") {
      this.fill(document.uri, document.getText());
    }
  }

  private async discover(): Promise<void> {
    const found = await vscode.workspace.findFiles("**/*.sgl", "**/{node_modules,.venv,venv}/**", MOST_FILES);
    await Promise.all(found.map((uri) => this.add(uri)));
  }

  private async read(item: vscode.TestItem): Promise<void> {
    if (item.uri !== undefined && item.parent === undefined) {
      await this.add(item.uri);
    }
  }

  private async add(uri: vscode.Uri): Promise<void> {
    const open = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
    try {
      const text = open?.getText() ?? new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
      this.fill(uri, text);
    } catch {
      this.controller.items.delete(uri.toString());
    }
  }

  private fill(uri: vscode.Uri, text: string): void {
    const found = testsOf(text);
    const key = uri.toString();
    if (found.length === 0) {
      this.controller.items.delete(key);
      return;
    }
    const file = this.controller.items.get(key) ?? this.controller.createTestItem(key, vscode.workspace.asRelativePath(uri), uri);
    this.controller.items.add(file);
    file.children.replace(
      found.map(({ title, line }) => {
        const id = `${key}#${title}`;
        const item = file.children.get(id) ?? this.controller.createTestItem(id, title, uri);
        item.range = new vscode.Range(line, 0, line, 0);
        return item;
      }),
    );
  }

  private async run(request: vscode.TestRunRequest, token: vscode.CancellationToken, rounds: number): Promise<void> {
    const run = this.controller.createTestRun(request);
    const wanted = request.include ?? [...this.controller.items].map(([, item]) => item);
    const excluded = new Set(request.exclude ?? []);
    try {
      for (const [file, tests] of byFile(wanted, excluded)) {
        if (!token.isCancellationRequested) {
          await this.runFile(run, file, tests, token, rounds);
        }
      }
    } finally {
      run.end();
    }
  }

  /** One session of the debugger for each test, one after the other. */
  private async debug(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const run = this.controller.createTestRun(request);
    const wanted = request.include ?? [...this.controller.items].map(([, item]) => item);
    try {
      for (const [file, tests] of byFile(wanted, new Set(request.exclude ?? []))) {
        for (const test of tests) {
          if (file.uri === undefined || token.isCancellationRequested) {
            return;
          }
          await (await vscode.workspace.openTextDocument(file.uri)).save();
          run.started(test);
          const { passed, output } = await debugTest(file.uri, test.label, token);
          if (passed === undefined) {
            run.skipped(test);
          } else if (passed) {
            run.passed(test);
          } else {
            run.failed(test, new vscode.TestMessage(output.trim() || "the run was ended"));
          }
        }
      }
    } finally {
      run.end();
    }
  }

  private async runFile(
    run: vscode.TestRun,
    file: vscode.TestItem,
    tests: vscode.TestItem[],
    token: vscode.CancellationToken,
    rounds: number,
  ): Promise<void> {
    tests.forEach((each) => run.started(each));
    const command = await this.tool.need();
    const uri = file.uri;
    if (command === undefined || uri === undefined) {
      tests.forEach((each) => run.errored(each, new vscode.TestMessage("sglc was not found")));
      return;
    }
    const document = await vscode.workspace.openTextDocument(uri);
    await document.save();
    const every = tests.length === file.children.size;
    const words = every ? [] : ["-k", tests.map((each) => wordsOf(each.label)).join(" or ")];
    const more = ["test", basename(uri.fsPath), "--json", "--rounds", String(rounds), ...words];
    const child = this.tool.start(command, more, dirname(uri.fsPath));
    const cancelled = token.onCancellationRequested(() => child.kill());
    const { out, err } = await outputOf(child);
    cancelled.dispose();
    if (err !== "") {
      run.appendOutput(err.replaceAll("\n", "\r\n"));
    }
    const reports = reportsOf(out, document.getText());
    for (const test of tests) {
      const report = reports?.find((each) => each.title === test.label);
      tell(run, test, report, token.isCancellationRequested ? undefined : err);
    }
  }
}

function tell(run: vscode.TestRun, test: vscode.TestItem, report: Report | undefined, problem: string | undefined): void {
  if (report === undefined) {
    if (problem === undefined) {
      run.skipped(test);
    } else {
      run.errored(test, new vscode.TestMessage(problem || "sglc test gave no results"));
    }
  } else if (report.passed) {
    run.passed(test, 1000 * report.seconds);
  } else {
    const messages = report.failures.map((each) => {
      const message =
        each.expected !== undefined && each.actual !== undefined
          ? vscode.TestMessage.diff(each.message, each.expected, each.actual)
          : new vscode.TestMessage(each.message);
      if (test.uri !== undefined) {
        message.location = new vscode.Location(test.uri, new vscode.Position(Math.max(0, each.line - 1), 0));
      }
      return message;
    });
    run.failed(test, messages, 1000 * report.seconds);
  }
}

function byFile(items: readonly vscode.TestItem[], excluded: ReadonlySet<vscode.TestItem>): Map<vscode.TestItem, vscode.TestItem[]> {
  const found = new Map<vscode.TestItem, vscode.TestItem[]>();
  for (const item of items) {
    const file = item.parent ?? item;
    const tests = item.parent === undefined ? [...item.children].map(([, each]) => each) : [item];
    const left = tests.filter((each) => !excluded.has(each) && !excluded.has(file));
    found.set(file, [...(found.get(file) ?? []), ...left]);
  }
  return found;
}

function outputOf(child: import("node:child_process").ChildProcess): Promise<{ out: string; err: string }> {
  return new Promise((resolve) => {
    let [out, err] = ["", ""];
    child.stdout?.setEncoding("utf8").on("data", (piece: string) => (out = (out + piece).slice(0, MOST_OUTPUT)));
    child.stderr?.setEncoding("utf8").on("data", (piece: string) => (err = (err + piece).slice(0, MOST_OUTPUT)));
    child.on("error", (problem) => resolve({ out, err: problem.message }));
    child.on("close", () => resolve({ out, err }));
  });
}
