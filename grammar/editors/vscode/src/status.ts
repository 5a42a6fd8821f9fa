// The model of runs in the status bar.
import * as vscode from "vscode";

const OTHER = "$(edit) another …";

/** Shows the model and lets it be chosen. */
export class Status {
  private readonly item = vscode.window.createStatusBarItem("sgl.model", vscode.StatusBarAlignment.Right, 90);

  constructor(context: vscode.ExtensionContext) {
    this.item.name = "SGL model";
    this.item.command = "sgl.chooseModel";
    context.subscriptions.push(
      this.item,
      vscode.window.onDidChangeActiveTextEditor(() => this.update()),
      vscode.workspace.onDidChangeConfiguration(() => this.update()),
    );
    this.update();
  }

  private update(): void {
    const model = vscode.workspace.getConfiguration("sgl").get("model", "");
    this.item.text = `$(sparkle) ${model === "" ? "model of the project" : model}`;
    this.item.tooltip = "The model that runs of SGL ask; click to choose another one";
    if (vscode.window.activeTextEditor?.document.languageId === "sgl") {
      this.item.show();
    } else {
      this.item.hide();
    }
  }
}

/** Let the user choose the model of runs. */
export async function chooseModel(): Promise<void> {
  const own = vscode.workspace.getConfiguration("sgl");
  const items = [
    { label: "the model of the project", description: "that of sgl.toml, else smollm2", model: "" },
    { label: "smollm2", description: "a small model that runs on any machine", model: "smollm2" },
    { label: OTHER, description: "a name, a folder, openai:NAME, vllm:URL, scripted:FILE", model: undefined },
  ];
  const picked = await vscode.window.showQuickPick(items, { title: "Which model do runs ask?" });
  if (picked === undefined) {
    return;
  }
  const value = own.get("model", "");
  const model = picked.model ?? (await vscode.window.showInputBox({ prompt: "As of `sglc run --model`", value }));
  if (model !== undefined) {
    const target = vscode.workspace.workspaceFolders === undefined ? vscode.ConfigurationTarget.Global : vscode.ConfigurationTarget.Workspace;
    await own.update("model", model, target);
  }
}
