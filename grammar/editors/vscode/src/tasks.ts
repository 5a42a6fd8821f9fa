// Tasks: `sglc check` of a file or the whole folder, with its findings among the problems.
import * as vscode from "vscode";
import type { Tool } from "./tool";

interface Definition extends vscode.TaskDefinition {
  type: "sgl";
  task: "check" | "test";
  /** The file or folder; `.` where nothing is said. */
  path?: string;
}

/** Offers the tasks of a folder, and makes those of `tasks.json`. */
export class Tasks implements vscode.TaskProvider {
  constructor(private readonly tool: Tool) {}

  async provideTasks(): Promise<vscode.Task[]> {
    const found = await this.tool.find();
    if (found.state === "missing") {
      return [];
    }
    const folders = vscode.workspace.workspaceFolders ?? [];
    const check: Definition = { type: "sgl", task: "check" };
    return Promise.all(folders.map((folder) => this.task(check, folder)));
  }

  async resolveTask(task: vscode.Task): Promise<vscode.Task> {
    return this.task(task.definition as Definition, task.scope ?? vscode.TaskScope.Workspace);
  }

  private async task(definition: Definition, scope: vscode.WorkspaceFolder | vscode.TaskScope): Promise<vscode.Task> {
    const found = await this.tool.find();
    const command = found.state === "missing" ? { program: "sglc", first: [] } : found.command;
    const execution = new vscode.ProcessExecution(command.program, [...command.first, definition.task, definition.path ?? "."]);
    const name = `${definition.task} ${definition.path ?? "all programs"}`;
    return new vscode.Task(definition, scope, name, "sgl", execution, "$sglc");
  }
}
