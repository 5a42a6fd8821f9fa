// What the editor starts.
import * as vscode from "vscode";
import { Asking } from "./asking";
import { Current } from "./current";
import { Adapter, Configurations, debug } from "./debugging";
import { Places } from "./places";
import { Previewing } from "./previewing";
import { Running } from "./running";
import { Server, settings } from "./server";
import { firstProgram, install, Plans } from "./starting";
import { chooseModel, Status } from "./status";
import { Tasks } from "./tasks";
import { Testing } from "./testing";
import { isObject } from "./pure/parameters";
import { Tool } from "./tool";
import { Traces } from "./tracing";

const FUZZ_ROUNDS = 20;
let server: Server | undefined;

/** Start all parts. In a workspace that is not trusted nothing of it is run: see the manifest. */
export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("SGL", { log: true });
  const tool = new Tool(log);
  server = new Server(tool, log);
  const current = new Current(context);
  const asking = new Asking(server, context.workspaceState, current);
  const plans = new Plans(server, asking);
  const previewing = new Previewing(context, server, current);
  const places = new Places(context);
  const running = new Running(context, tool, asking, places, log);
  const traces = new Traces(context, places);
  const testing = new Testing(context, tool);
  new Status(context);
  const client = server;
  const commands: Record<string, (wanted?: unknown, all?: unknown) => unknown> = {
    "sgl.run": trusted((wanted) => running.run(wanted)),
    "sgl.test": trusted((wanted) => testing.lens(wanted)),
    "sgl.fuzz": trusted((wanted) =>
      isObject(wanted) && "test" in wanted ? testing.lens(wanted, FUZZ_ROUNDS) : previewing.show(wanted, true),
    ),
    "sgl.debug": trusted((wanted) => (isObject(wanted) && "test" in wanted ? testing.lens(wanted, 1, true) : debug(wanted, current))),
    "sgl.preview": (wanted) => previewing.show(wanted),
    "sgl.plan": (wanted) => plans.show(wanted),
    "sgl.viewTrace": (wanted, all) => traces.view(wanted, all),
    "sgl.chooseModel": () => chooseModel(),
    "sgl.install": () => install(),
    "sgl.firstProgram": () => firstProgram(context.extensionUri),
    "sgl.restart": () => client.restart(),
    "sgl.showLog": () => log.show(),
  };
  for (const [name, act] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, act));
  }
  context.subscriptions.push(
    log,
    vscode.workspace.registerTextDocumentContentProvider("sgl-plan", plans),
    vscode.tasks.registerTaskProvider("sgl", new Tasks(tool)),
    vscode.debug.registerDebugAdapterDescriptorFactory("sgl", new Adapter(tool)),
    vscode.debug.registerDebugConfigurationProvider("sgl", new Configurations(asking)),
    vscode.workspace.onDidChangeConfiguration((event) => void configured(event, client)),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void client.restart()),
  );
  void client.start();
}

/** Stop the server. */
export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}

async function configured(event: vscode.ConfigurationChangeEvent, client: Server): Promise<void> {
  if (event.affectsConfiguration("sgl.path")) {
    await client.restart();
  } else if (event.affectsConfiguration("sgl.tokens") || event.affectsConfiguration("sgl.allowOutside")) {
    await client.configure(settings());
  }
}

/** A command that runs programs: only in a workspace that is trusted. */
function trusted(act: (wanted: unknown) => unknown): (wanted?: unknown) => unknown {
  return async (wanted) => {
    if (!vscode.workspace.isTrusted) {
      const manage = "Manage trust";
      const text = "Programs are run only in folders that you trust: they may call functions of Python.";
      if ((await vscode.window.showWarningMessage(text, manage)) === manage) {
        await vscode.commands.executeCommand("workbench.trust.manage");
      }
      return;
    }
    await act(wanted);
  };
}
