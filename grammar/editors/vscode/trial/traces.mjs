// Recorded runs in the editor: the page beside the source, the way to holes and back, both themes, and traces that mean harm.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "./editor.mjs";

const PASSWORDS = "/etc/passwd.sgl";
const MARKUP = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", '<iframe src="https://example.invalid">', "\u202eright to left", "]]><!--", "{{ 7 * 7 }}"];
const HUGE = 100_000;
/** Milliseconds after which a menu that has opened takes clicks. */
const MENU_REST = 500;

/** A trace of a real run of the example, in the folder of the editor. */
function recorded(editor, name = "run.jsonl", seed = 0) {
  const program = process.env.SGLC ?? "sglc";
  const first = /python[\d.]*$/.test(program) ? ["-P", "-m", "sglc"] : [];
  const model = process.env.SGL_MODEL ?? "smollm2";
  const more = ["run", "character.sgl", "crew", "--arg", "theme=a lighthouse at the end of the world", "--model", model, "--seed", String(seed)];
  const done = spawnSync(program, [...first, ...more, "--trace", name, "--trace-top", "5"], { cwd: editor.workspace, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
}

const lines = (...rows) => rows.map((each) => (typeof each === "string" ? each : JSON.stringify({ v: 1, ...each })) + "\n").join("");

/** Open a trace as a user does, from its menu in the explorer, perhaps with another one; gives the page. */
export async function shown(editor, name, other = "") {
  const { page } = editor;
  await page.keyboard.press("Control+Shift+e");
  const row = (text) => page.locator(".explorer-folders-view .monaco-list-row", { hasText: text }).first();
  if (other !== "") {
    await row(name).click();
    await row(other).click({ modifiers: ["Control"] });
  }
  const entry = page.locator(".monaco-menu .action-label", { hasText: "View a recorded run" }).first();
  await until(async () => {
    await row(name).click({ button: "right" });
    await new Promise((resolve) => setTimeout(resolve, MENU_REST));
    const there = await entry.click({ timeout: 2 * MENU_REST }).then(() => true, () => false);
    return there || page.keyboard.press("Escape").then(() => false);
  });
  await page.locator(".tabs-container .tab", { hasText: other === "" ? `Trace: ${name}` : "2 traces" }).first().waitFor();
  const frame = await editor.inside("#panel-conversation:not([hidden]) .conversation .line", `#runs option:has-text("${name}")`);
  await page.keyboard.press("Control+b");
  return frame;
}

/** The page beside the source: tokens go to holes, holes to tokens, in the colours of the theme. */
export async function traces(editor, say, picture) {
  const { page } = editor;
  recorded(editor);
  const frame = await shown(editor, "run.jsonl");
  await page.locator(".tabs-container .tab", { hasText: "character.sgl" }).first().waitFor();
  const hole = await editor.at("character.sgl", "?{member");
  await editor.at("character.sgl", "fn crew(");
  await frame.locator(".it.token").nth(2).click();
  await until(async () => (await page.locator(".statusbar").innerText()).includes(`Ln ${hole.line}, Col ${hole.column}`));
  await frame.locator(".it.token.of-place").first().waitFor();
  assert.match(await frame.locator("#told").innerText(), new RegExp(`character.sgl, line ${hole.line}`));
  say(`a click on a token of a trace goes to its hole: line ${hole.line}`);
  await editor.at("character.sgl", "fn crew(");
  await until(async () => (await frame.locator(".of-place").count()) === 0);
  await editor.at("character.sgl", "?{member", 4);
  await frame.locator(".it.token.of-place").first().waitFor();
  say("a hole that is chosen in the source shows its tokens in the trace");
  await frame.locator("#tab-holes").click();
  await editor.at("character.sgl", "fn crew(");
  await frame.locator(".lane").first().click();
  await until(async () => (await page.locator(".statusbar").innerText()).includes(`Ln ${hole.line}, Col ${hole.column}`));
  await frame.locator(".lane").first().dblclick();
  await frame.locator("#panel-conversation:not([hidden])").waitFor();
  say("a click on a hole of the list goes there, too; two go to its text");
  for (const theme of ["Dark Modern", "Light Modern"]) {
    await editor.theme(theme);
    await themed(editor, frame);
    await frame.locator(".it.token").nth(3).hover();
    await picture(editor, theme.includes("Dark") ? "trace-dark" : "trace");
  }
  say("the trace has the colours of both themes");
  appendFileSync(join(editor.workspace, "character.sgl"), "# later\n");
  await until(async () => {
    await frame.locator(".it.token").nth(2).click();
    return /has changed since this run/.test(await frame.locator("#told").innerText());
  });
  say(`a program that has changed: ${await frame.locator("#told").innerText()}`);
  await page.locator(".notification-toast .codicon-notifications-clear").first().click({ timeout: 2 * MENU_REST }).catch(() => undefined);
  await editor.close("Trace: run.jsonl");
}

/** Traces that are chosen together come in one page; each goes to the source. The palette asks for a file. */
export async function compared(editor, say) {
  const { page } = editor;
  recorded(editor);
  recorded(editor, "other.jsonl", 1);
  const frame = await shown(editor, "run.jsonl", "other.jsonl");
  await frame.locator("#tab-compare").click();
  await until(async () => /first difference/i.test(await frame.locator(".verdict").innerText()));
  await editor.at("character.sgl", "fn crew(");
  await frame.locator(".side").nth(1).locator(".it.token").first().click();
  const hole = editor.text("character.sgl").split("\n").findIndex((each) => each.includes("?{member")) + 1;
  await until(async () => (await page.locator(".statusbar").innerText()).includes(`Ln ${hole},`));
  say(`two runs side by side: ${await frame.locator(".verdict").innerText()}`);
  await editor.close("2 traces");
  await editor.command("SGL: View a recorded run");
  const box = page.locator(".quick-input-widget input");
  await until(async () => /\//.test(await box.inputValue()));
  await box.fill(join(editor.workspace, "run.jsonl"));
  await box.press("Enter");
  await page.locator(".tabs-container .tab", { hasText: "Trace: run.jsonl" }).first().waitFor();
  say("the command of the palette asks for a trace");
  await editor.close("Trace: run.jsonl");
}

/** The page's ground and ink are those of the editor. */
export async function themed(editor, frame) {
  await until(async () => {
    const [ground, ink, wanted, dark] = await frame.evaluate(() => {
      const of = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      const probe = document.createElement("i");
      document.body.append(probe);
      const colour = (text) => ((probe.style.color = text), getComputedStyle(probe).color);
      const found = [colour(of("--vscode-editor-background")), colour(of("--vscode-editor-foreground"))];
      probe.remove();
      const body = getComputedStyle(document.body);
      return [body.backgroundColor, body.color, found, document.body.dataset.vscodeThemeKind];
    });
    const here = (await editor.page.locator(".monaco-workbench.vs-dark").count()) > 0;
    return ground === wanted[0] && ink === wanted[1] && dark === (here ? "vscode-dark" : "vscode-light");
  });
}

/** What a trace says is text, whatever it is; nothing outside of the folder is opened, and nothing is asked of a network. */
export async function hostile(editor, say) {
  const { page } = editor;
  const asked = [];
  const alerts = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("dialog", (dialog) => (alerts.push(dialog.message()), dialog.dismiss()));
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  mkdirSync(join(editor.workspace, "in"), { recursive: true });
  symlinkSync("/etc/hostname", join(editor.workspace, "in", "link.sgl"));
  const spans = ["/etc/passwd:1:1", `${PASSWORDS}:1:1`, "../../../../../etc/hostname.sgl:1:1", "in/link.sgl:1:1", "nowhere.sgl:1:1", "messy.sgl:999999999:1", "a:b"];
  const rows = [
    { event: "start", function: MARKUP[0], program: "../../../etc/passwd", sources: { "messy.sgl": "x", [MARKUP[1]]: [] } },
    "{broken",
    "null",
    '{"v": 9, "event": "token"}',
    ...MARKUP.flatMap((text, at) => [
      { event: "role", role: text },
      { event: "text", text },
      { event: "hole_start", hole: text, mode: "gen", span: spans[at] ?? text },
      { event: "token", hole: text, text, logprob: -1, mask: 3, span: spans[at] ?? text, top: [[text, -1, true], [text, "x", false], null] },
      { event: "hole_end", hole: text, text, ended: text, span: spans[at] ?? text },
      { event: "error", name: text, message: text, span: spans.at(-1) },
    ]),
    '{"v": 1, "event": "token", "hole": "cut',
  ];
  writeFileSync(join(editor.workspace, "bad.jsonl"), lines(...rows).trimEnd());
  const frame = await shown(editor, "bad.jsonl");
  asked.length = 0;
  const tabs = async () => (await page.locator(".tabs-container .tab").allInnerTexts()).map((each) => each.trim());
  const before = await tabs();
  const tokens = frame.locator(".it.token");
  for (let at = 0; at < (await tokens.count()); at += 1) {
    await tokens.nth(at).click();
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  await until(async () => (await frame.locator("#told").innerText()) !== "");
  const opened = (await tabs()).filter((each) => !before.includes(each));
  assert.ok(opened.every((each) => /messy\.sgl/.test(each)), opened.join());
  const markup = await frame.evaluate(() => document.querySelectorAll("img, iframe, object, embed, #panels script").length);
  assert.equal(markup, 0);
  assert.deepEqual(alerts, []);
  assert.ok((await frame.locator(".damage").innerText()).includes("Line 2 was left out"));
  const elsewhere = asked.filter((each) => !/^(http:\/\/127\.0\.0\.1:|data:|blob:|https:\/\/[\w-]+\.vscode-cdn\.net|vscode-)/.test(each) || /invalid/.test(each));
  assert.deepEqual(elsewhere, []);
  const policy = complaints.filter((each) => /Content Security Policy|TrustedHTML|Trusted Type/.test(each));
  assert.deepEqual(policy, []);
  const blocked = await frame.evaluate(async () => {
    const refused = new Set();
    document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => refused.add(effectiveDirective));
    const asks = await fetch("https://example.invalid/").then(() => "answered", () => "refused");
    for (const name of ["img", "iframe"]) {
      const made = document.createElement(name);
      made.src = "https://example.invalid/a";
      document.body.append(made);
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
    let markup = "taken";
    try {
      document.createElement("div").innerHTML = "<b>x</b>";
    } catch {
      markup = "refused";
    }
    return { asks, markup, refused: [...refused].sort() };
  });
  assert.deepEqual(blocked, { asks: "refused", markup: "refused", refused: ["connect-src", "frame-src", "img-src"] });
  say("a hostile trace is text: no markup, no request, nothing outside of the folder is opened");
  await editor.close("Trace: bad.jsonl");
  const many = [{ event: "start", function: "huge", program: "huge.sgl" }, { event: "hole_start", hole: "huge.x", mode: "gen", span: "huge.sgl:1:1" }];
  const token = JSON.stringify({ v: 1, event: "token", hole: "huge.x", text: " word", logprob: -0.5, mask: 49152, span: "huge.sgl:1:1", top: [[" word", -0.5, true], [" other", -2, true]] });
  writeFileSync(join(editor.workspace, "huge.jsonl"), lines(...many) + `${token}\n`.repeat(HUGE));
  const begun = Date.now();
  const huge = await shown(editor, "huge.jsonl");
  await until(async () => /100,000 tokens/.test(await huge.locator("#panel-conversation .facts").innerText()));
  say(`a trace of ${HUGE} tokens is there after ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  assert.ok((await huge.evaluate(() => document.querySelectorAll("*").length)) < 20_000);
  await huge.locator(".it.token").first().click();
  await until(async () => /in none of the open folders/.test(await huge.locator("#told").innerText()));
  say(`a program that is not there: ${await huge.locator("#told").innerText()}`);
  await editor.close("Trace: huge.jsonl");
}
