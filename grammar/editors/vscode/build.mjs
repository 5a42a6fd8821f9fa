// Bundles the extension, the scripts of its pages, and the pure parts for the tests, into dist/.
import { build } from "esbuild";

const node = { bundle: true, platform: "node", target: "node20", format: "cjs", legalComments: "none" };
const small = process.argv.includes("--minify");
await build({
  ...node,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  external: ["vscode"],
  minify: small,
});
await build({
  bundle: true,
  platform: "browser",
  target: "es2022",
  format: "iife",
  entryPoints: ["src/pages/run.ts", "src/pages/preview.ts"],
  outdir: "dist",
  minify: small,
});
if (process.argv.includes("--tests")) {
  await build({ ...node, entryPoints: ["src/pure/index.ts"], outfile: "dist/pure.cjs" });
}
