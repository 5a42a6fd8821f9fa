// Where sglc may be: command lines to try, in their order.

export interface Wanted {
  /** The setting `sgl.path`: a program, or an interpreter of Python. Empty where it is not set. */
  path: string;
  /** The interpreter that the Python extension has chosen; empty where there is none. */
  interpreter: string;
  /** Folders of the workspace, where it is trusted; else none, as what lies in them could be anything. */
  folders: readonly string[];
  windows: boolean;
  home: string;
}

/** A program and what its arguments begin with. */
export interface Command {
  program: string;
  first: readonly string[];
}

/** Command lines to try, the most wanted first. Where `sgl.path` is set it is the only one. */
export function candidates(wanted: Wanted): Command[] {
  if (wanted.path.trim() !== "") {
    return [commandOf(expanded(wanted.path.trim(), wanted))];
  }
  const found: Command[] = [];
  if (wanted.interpreter !== "") {
    found.push(asModule(wanted.interpreter));
  }
  for (const folder of wanted.folders) {
    for (const name of [".venv", "venv"]) {
      found.push(asModule(inEnvironment(folder, name, wanted.windows)));
    }
  }
  found.push({ program: wanted.windows ? "sglc.exe" : "sglc", first: [] });
  found.push(asModule(wanted.windows ? "python.exe" : "python3"));
  return found;
}

/** A path to an interpreter runs the module; any other program is sglc itself. */
export function commandOf(path: string): Command {
  const name = path.split(/[\\/]/).at(-1) ?? "";
  return /^python[\d.]*(\.exe)?$/i.test(name) ? asModule(path) : { program: path, first: [] };
}

/** The words of a command line, for people. */
export function shown(command: Command): string {
  return [command.program, ...command.first].map((each) => (/[\s"']/.test(each) ? `"${each}"` : each)).join(" ");
}

function asModule(interpreter: string): Command {
  return { program: interpreter, first: ["-P", "-m", "sglc"] };
}

function inEnvironment(folder: string, name: string, windows: boolean): string {
  return windows ? `${folder}\\${name}\\Scripts\\python.exe` : `${folder}/${name}/bin/python`;
}

function expanded(path: string, wanted: Wanted): string {
  const folder = wanted.folders[0];
  const known = path.startsWith("~/") ? wanted.home + path.slice(1) : path;
  return folder === undefined ? known : known.replace(/\$\{workspaceFolder\}/g, () => folder);
}
