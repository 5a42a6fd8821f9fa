// Bundles the extension, the scripts of its pages, and the pure parts for the tests, into dist/.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

// The page of `sglc view`, which is shown for recorded runs.
const PAGE = { "sgl-page": join(dirname(fileURLToPath(import.meta.url)), "../../../runtime/serve/ui/static") };
const node = { bundle: true, platform: "node", target: "node20", format: "cjs", legalComments: "none" };
const small = process.argv.includes("--minify");
await build({
  ...node,
  entryPoints: ["src/extension.ts"],
  alias: PAGE,
  loader: { ".html": "text" },
  outfile: "dist/extension.js",
  external: ["vscode"],
  minify: small,
});
await build({
  bundle: true,
  platform: "browser",
  target: "es2022",
  format: "iife",
  entryPoints: ["src/pages/run.ts", "src/pages/preview.ts", "src/pages/trace.ts", { in: "sgl-page/style.css", out: "view" }],
  alias: PAGE,
  outdir: "dist",
  minify: small,
});
if (process.argv.includes("--tests")) {
  await build({ ...node, entryPoints: ["src/pure/index.ts"], outfile: "dist/pure.cjs" });
}
