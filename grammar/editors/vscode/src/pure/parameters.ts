// Functions that can be run, as the server tells them, and the arguments that people give them.

export interface Parameter {
  name: string;
  type: string;
  optional: boolean;
  default?: string;
  choices?: string[];
}

export interface Function {
  name: string;
  signature: string;
  parameters: Parameter[];
}

/** What `sgl.server.functions` answers, without what is not of its form. */
export function functionsOf(answer: unknown): Function[] {
  const rows = isObject(answer) && Array.isArray(answer["functions"]) ? answer["functions"] : [];
  return rows.filter(isObject).map((row) => ({
    name: String(row["name"]),
    signature: String(row["signature"] ?? row["name"]),
    parameters: (Array.isArray(row["parameters"]) ? row["parameters"] : []).filter(isObject).map(parameterOf),
  }));
}

function parameterOf(row: Record<string, unknown>): Parameter {
  const found: Parameter = {
    name: String(row["name"]),
    type: String(row["type"]),
    optional: row["optional"] === true,
  };
  if (typeof row["default"] === "string") {
    found.default = row["default"];
  }
  if (Array.isArray(row["choices"])) {
    found.choices = row["choices"].map(String);
  }
  return found;
}

/** Options of the command line for arguments. */
export function argumentOptions(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => ["--arg", `${name}=${value}`]);
}

/** Arguments for the debugger, which takes values of JSON: a text stays one unless its type is another. */
export function jsonArguments(
  values: Readonly<Record<string, string>>,
  parameters: readonly Parameter[],
): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(values)) {
    const parameter = parameters.find((each) => each.name === name);
    found[name] = parameter === undefined || isText(parameter) ? text : parsed(text);
  }
  return found;
}

/** What is plainly wrong with a text for a type, in a sentence; the compiler knows the rest. */
export function problemOf(text: string, parameter: Parameter): string | undefined {
  const whole = /^int(?: in (-?\d+)\.\.(-?\d+))?$/.exec(parameter.type);
  if (whole === null) {
    return undefined;
  }
  if (!/^-?\d+$/.test(text.trim())) {
    return `${parameter.name} is a whole number (${parameter.type})`;
  }
  const [, low, high] = whole;
  const number = BigInt(text.trim());
  const outside = low !== undefined && high !== undefined && (number < BigInt(low) || number > BigInt(high));
  return outside ? `${parameter.name} is from ${low} to ${high}` : undefined;
}

function isText(parameter: Parameter): boolean {
  return /^str\b/.test(parameter.type) || (parameter.choices !== undefined && parameter.type !== "bool");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
