// Colours programs with VS Code's own engine. Arguments: the folder with node_modules, the grammar. Standard input: a
// JSON list of programs. Output: for each program a list of [length, scopes] in order, line ends included.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const require = createRequire(join(process.argv[2], "package.json"));
const oniguruma = require("vscode-oniguruma");
const { Registry, INITIAL, parseRawGrammar } = require("vscode-textmate");
const wasm = readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer;
await oniguruma.loadWASM(wasm);
const path = process.argv[3];
const registry = new Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async () => parseRawGrammar(readFileSync(path, "utf8"), path),
});
const grammar = await registry.loadGrammar("source.sgl");
const programs = JSON.parse(readFileSync(0, "utf8"));
const found = programs.map((text) => {
  const spans = [];
  let stack = INITIAL;
  const lines = text.split("\n");
  lines.forEach((line, number) => {
    const result = grammar.tokenizeLine(line, stack);
    stack = result.ruleStack;
    for (const token of result.tokens) {
      const end = Math.min(token.endIndex, line.length);
      if (end > token.startIndex) spans.push([line.slice(token.startIndex, end), token.scopes.slice(1)]);
    }
    if (number < lines.length - 1) spans.push(["\n", []]);
  });
  return spans;
});
process.stdout.write(JSON.stringify(found));
