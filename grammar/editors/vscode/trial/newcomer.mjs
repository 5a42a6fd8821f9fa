// The start of the README as a newcomer makes it, once and by the clock: an empty folder, an editor without a profile, no
// cache, no model. Says how long each step took, and what of it was the network.
//
//     npm run package && CODE_SERVER=… PYTHON=… node trial/newcomer.mjs WHEEL
//
// WHEEL is sglc as the index would give it (`python -m build --wheel`, or `pip wheel --no-deps`).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { until, withEditor } from "./editor.mjs";

const [wheel] = process.argv.slice(2);
assert.ok(wheel, "the wheel of sglc is wanted as the argument");
const kept = mkdtempSync(join(tmpdir(), "sgl-newcomer-"));
const env = { SGLC_CACHE_DIR: join(kept, "cache"), PIP_NO_CACHE_DIR: "1", PIP_DISABLE_PIP_VERSION_CHECK: "1" };
const begun = performance.now();
let last = begun;
let network = 0;

/** Say what was done since the last time, and whether it was the network that it waited for. */
function told(text, waited = false) {
  const now = performance.now();
  const seconds = (now - last) / 1000;
  network += waited ? seconds : 0;
  console.log(`${seconds.toFixed(1).padStart(6)} s  ${text}${waited ? " (network)" : ""}`);
  last = now;
}

function ran(program, ...more) {
  const done = spawnSync(program, more, { encoding: "utf8", env: { ...process.env, ...env } });
  assert.equal(done.status, 0, `${program} ${more.join(" ")}: ${done.stdout}${done.stderr}`);
}

/** Step 1 of the README. What pip fetches is fetched before, to be told apart. */
function installed(folder) {
  const python = join(folder, ".venv", "bin", "python");
  ran(process.env.PYTHON ?? "python3", "-m", "venv", join(folder, ".venv"));
  told("python3 -m venv .venv");
  const wanted = `${resolve(wheel)}[lsp]`;
  ran(python, "-m", "pip", "download", "--quiet", "--dest", kept, wanted);
  told("packages are fetched", true);
  ran(python, "-m", "pip", "install", "--quiet", "--no-index", "--find-links", kept, wanted);
  told("pip install 'sglc[lsp]'");
}

/** Steps 3 and 4 of the README. */
async function followed(editor) {
  const { page } = editor;
  const trust = page.locator(".monaco-dialog-box .monaco-button", { hasText: /^Yes, I trust/ });
  await trust.click();
  told("the folder is trusted");
  await editor.command("SGL: Make a first program");
  await page.locator(".tabs-container .tab.active", { hasText: "first.sgl" }).waitFor();
  await editor.lens("run").first().waitFor();
  const colours = await page.evaluate(() => new Set([...document.querySelectorAll(".view-line > span > span")].map((each) => getComputedStyle(each).color)).size);
  assert.ok(colours >= 4, `the program has ${colours} colours`);
  told("SGL: Make a first program; it is coloured and has its lenses");
  await editor.lens("run").first().click();
  await page.locator(".quick-input-message", { hasText: "mail: str" }).waitFor();
  await page.keyboard.press("Enter");
  const run = await editor.inside("#conversation");
  told("run, and the mail that is offered");
  await fetched(run);
  await run.locator("#value .result").waitFor();
  const value = JSON.parse(await run.locator("#value .result").innerText());
  assert.ok(value.mood && value.subject);
  const shades = await run.evaluate(() => new Set([...document.querySelectorAll(".token")].map((each) => getComputedStyle(each).backgroundColor)).size);
  assert.ok(shades > 1, `the tokens have ${shades} shades`);
  told(`the value, in tokens of ${shades} shades: ${JSON.stringify(value)}`);
}

/** Wait for the first token; the time until the model is fetched is the network's. */
async function fetched(run) {
  let fetching = false;
  await until(async () => {
    const said = await run.locator("#state").innerText();
    const now = /fetch|download/i.test(said);
    if (fetching && !now) {
      told("the model is fetched", true);
    }
    fetching = now;
    return (await run.locator(".token").count()) > 0;
  }, 600_000);
  told("the model is converted and loaded; the first coloured token");
}

try {
  await withEditor({ files: {}, bare: true, prepare: installed, told, env }, followed);
  const seconds = (last - begun) / 1000;
  console.log(`${seconds.toFixed(1).padStart(6)} s  in all, ${(seconds - network).toFixed(1)} s of it without the network`);
} finally {
  rmSync(kept, { recursive: true, force: true });
}
