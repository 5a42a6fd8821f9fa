// A folder that is not trusted: a recorded run can be looked at, and goes to its program; nothing is executed.
//
//     npm run package && CODE_SERVER=… SGLC=… node trial/untrusted.mjs
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, until, withEditor } from "./editor.mjs";
import { shown } from "./traces.mjs";

const scratch = mkdtempSync(join(tmpdir(), "sgl-untrusted-"));
const trace = join(scratch, "run.jsonl");
const place = { hole: "crew.member", span: "character.sgl:51:28" };
const rows = [{ event: "start", program: "character.sgl" }, { event: "hole_start", ...place }, { event: "token", text: "Ada", logprob: -1, ...place }];
writeFileSync(trace, rows.map((each) => `${JSON.stringify({ v: 1, ...each })}\n`).join(""));
try {
  const files = { "character.sgl": join(ROOT, "examples", "character.sgl"), "run.jsonl": trace };
  await withEditor({ files, trust: false }, async (editor) => {
    const { page } = editor;
    await page.locator(".monaco-dialog-box .monaco-button", { hasText: /^No, I don't/ }).click();
    const frame = await shown(editor, "run.jsonl");
    await frame.locator(".conversation .it.token").click();
    await until(async () => (await page.locator(".statusbar").innerText()).includes("Ln 51, Col 18"));
    console.log("a recorded run goes to its program");
    await editor.at("character.sgl", "fn crew(");
    await editor.lens("run").click();
    await page.locator(".notification-toast", { hasText: "only in folders that you trust" }).waitFor();
    assert.equal(await page.locator(".tabs-container .tab", { hasText: "Run: crew" }).count(), 0);
    console.log("a run is refused");
  });
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
