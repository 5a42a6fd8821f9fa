// A page beside the source.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { page } from "./pure/html";

/** A page with a script of its own. Messages are kept until the page says that it is ready. */
export class Panel {
  private panel: vscode.WebviewPanel | undefined;
  private ready = false;
  private waiting: unknown[] = [];

  constructor(
    private readonly root: vscode.Uri,
    private readonly name: "run" | "preview" | "trace",
    private readonly body: string,
    private readonly received: (message: Record<string, unknown>) => void,
    private readonly closed: () => void = () => undefined,
    private readonly sheets: readonly (readonly string[])[] = [["media", "pages.css"]],
  ) {}

  /** Where it is, once it is there. */
  get column(): vscode.ViewColumn | undefined {
    return this.panel?.viewColumn;
  }

  /** Whether it is there to be seen. */
  get open(): boolean {
    return this.panel !== undefined;
  }

  /** Show it beside the source or in a column, or anew where it is. */
  show(title: string, viewColumn: vscode.ViewColumn = vscode.ViewColumn.Beside): void {
    if (this.panel !== undefined) {
      this.panel.title = title;
      this.panel.reveal(undefined, true);
      return;
    }
    const roots = [vscode.Uri.joinPath(this.root, "dist"), vscode.Uri.joinPath(this.root, "media")];
    const place = { viewColumn, preserveFocus: true };
    const panel = vscode.window.createWebviewPanel(`sgl.${this.name}`, title, place, {
      enableScripts: true,
      localResourceRoots: roots,
      retainContextWhenHidden: true,
    });
    panel.iconPath = vscode.Uri.joinPath(this.root, "media", "icon.png");
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.ready = false;
      this.waiting = [];
      this.closed();
    });
    panel.webview.onDidReceiveMessage((message: unknown) => this.take(message));
    const uri = (...path: string[]): string => panel.webview.asWebviewUri(vscode.Uri.joinPath(this.root, ...path)).toString();
    panel.webview.html = page({
      title,
      source: panel.webview.cspSource,
      nonce: randomBytes(16).toString("hex"),
      script: uri("dist", `${this.name}.js`),
      sheets: this.sheets.map((each) => uri(...each)),
      body: this.body,
    });
    this.panel = panel;
  }

  /** Tell the page something. */
  post(message: unknown): void {
    if (this.ready) {
      void this.panel?.webview.postMessage(message);
    } else if (this.panel !== undefined) {
      this.waiting.push(message);
    }
  }

  private take(message: unknown): void {
    if (typeof message !== "object" || message === null) {
      return;
    }
    const row = message as Record<string, unknown>;
    if (row["kind"] === "ready") {
      this.ready = true;
      const kept = this.waiting;
      this.waiting = [];
      kept.forEach((each) => this.post(each));
    } else {
      this.received(row);
    }
  }
}
