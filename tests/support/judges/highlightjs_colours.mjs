// Colours programs with highlight.js. Arguments: the folder with node_modules, the module. Standard input: a JSON list of
// programs. Output: for each a list of [text, class] in order.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const require = createRequire(join(process.argv[2], "package.json"));
const hljs = require("highlight.js/lib/core");
const { default: sgl } = await import(
  `data:text/javascript,${encodeURIComponent(readFileSync(process.argv[3], "utf8"))}`
);
hljs.registerLanguage("sgl", sgl);
const plain = (text) =>
  text.replace(/&(amp|lt|gt|quot|#x27);/g, (_, name) => ({ amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" })[name]);
const programs = JSON.parse(readFileSync(0, "utf8"));
const found = programs.map((text) => {
  const html = hljs.highlight(text, { language: "sgl" }).value;
  const spans = [];
  for (const [, open, inner, other] of html.matchAll(/<span class="hljs-([^"]*)">([^<]*)<\/span>|([^<]+)/g)) {
    spans.push(open ? [plain(inner), open] : [plain(other), null]);
  }
  return spans;
});
process.stdout.write(JSON.stringify(found));
