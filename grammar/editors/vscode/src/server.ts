// The language server: its client, and what is asked of it.
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, RevealOutputChannelOn } from "vscode-languageclient/node";
import { type Tool, tellIncomplete } from "./tool";

/** What is asked of the server about a program. */
export interface Question {
  uri: string;
  function?: string;
  [more: string]: unknown;
}

/** Starts and stops the client; asks the server. */
export class Server {
  private client: LanguageClient | undefined;
  private starting: Promise<void> | undefined;

  constructor(
    private readonly tool: Tool,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Start it, if it does not run. */
  start(): Promise<void> {
    this.starting ??= this.begin();
    return this.starting;
  }

  /** Stop it, and look for the program anew. */
  async restart(): Promise<void> {
    await this.stop();
    this.tool.forget();
    await this.start();
  }

  /** Stop it. */
  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.starting = undefined;
    await client?.dispose();
  }

  /** Tell the server of changed settings. */
  async configure(changed: object): Promise<void> {
    await this.client?.sendNotification("workspace/didChangeConfiguration", { settings: changed });
  }

  /** The answer to a command of the server; undefined where no server runs. */
  async ask(name: "preview" | "plan" | "functions", question: Question): Promise<unknown> {
    await this.start();
    return this.client?.sendRequest("workspace/executeCommand", {
      command: `sgl.server.${name}`,
      arguments: [question],
    });
  }

  private async begin(): Promise<void> {
    const command = await this.tool.need();
    if (command === undefined) {
      this.starting = undefined;
      return;
    }
    const found = await this.tool.find();
    if (found.state === "incomplete") {
      void tellIncomplete(found, this.log);
      return;
    }
    const run = { command: command.program, args: [...command.first, "lsp"], options: { env: { ...process.env } } };
    const client = new LanguageClient("sgl", "SGL", { run, debug: run }, options(this.log));
    this.client = client;
    try {
      await client.start();
    } catch (problem) {
      this.client = undefined;
      this.log.error(String(problem));
      void vscode.window.showErrorMessage("The language server of sglc does not start; see the output `SGL`.");
    }
  }
}

/** Settings as the server reads them. */
export function settings(): { sglc: { lsp: Record<string, unknown> } } {
  const own = vscode.workspace.getConfiguration("sgl");
  return { sglc: { lsp: { model: own.get("tokens.model", ""), allowOutside: own.get("allowOutside", false) } } };
}

function options(log: vscode.LogOutputChannel): LanguageClientOptions {
  return {
    documentSelector: [
      { scheme: "file", language: "sgl" },
      { scheme: "untitled", language: "sgl" },
    ],
    outputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationOptions: settings(),
    markdown: { isTrusted: false, supportHtml: false },
  };
}
