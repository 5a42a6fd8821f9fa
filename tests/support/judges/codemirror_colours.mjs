// Colours programs with a parser of streams under CodeMirror's own stream. Arguments: the folder with node_modules, the
// module. Standard input: a JSON list of programs. Output: for each a list of [text, class] in order.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const require = createRequire(join(process.argv[2], "package.json"));
const { StreamLanguage, StringStream } = require("@codemirror/language");
const { sgl } = await import(`data:text/javascript,${encodeURIComponent(readFileSync(process.argv[3], "utf8"))}`);
const language = StreamLanguage.define(sgl);
const programs = JSON.parse(readFileSync(0, "utf8"));
const found = programs.map((text) => {
  language.parser.parse(text);
  const spans = [];
  const state = sgl.startState(2);
  text.split("\n").forEach((line, number) => {
    if (number) spans.push(["\n", null]);
    const stream = new StringStream(line, 2, 2);
    if (!line) sgl.blankLine(state, 2);
    while (!stream.eol()) {
      stream.start = stream.pos;
      const kind = sgl.token(stream, state);
      spans.push([line.slice(stream.start, stream.pos), kind]);
    }
  });
  return spans;
});
process.stdout.write(JSON.stringify(found));
