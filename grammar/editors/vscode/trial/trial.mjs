// Tries the packed extension as a user does, says what was seen and when, and takes the pictures of the README.
//
//     npm run package && CODE_SERVER=… SGLC=… node trial/trial.mjs [--pictures]
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { ROOT, until, withEditor } from "./editor.mjs";
import * as surfaces from "./surfaces.mjs";
import { compared, hostile, themed, traces } from "./traces.mjs";

const PICTURES = join(dirname(fileURLToPath(import.meta.url)), "..", "pictures");
const WANTED = process.argv.includes("--pictures");
const THEME = "a lighthouse at the end of the world";
const BROKEN = `record Order:
    item: str max 40 chars
    count: int in 1..99

## Finds an order in a text.
fn read(text: str) -> Order:
    system: | Answer with \${schema(Order)}
    user: | \${text}
    assistant: | ?{found: Order}
    return fuond

test "an order has an item":
    fuzz read(text = "two teapots") times 20:
        expect len(it.item) <= 40
`;
const TESTED = `fn guess(hint: str) -> int:
    user: | \${hint}
    assistant: | ?{number: int in 1..9}
    return number

test "the number comes back":
    mock guess.number = 7
    expect guess("a digit") == 7

test "it is another one":
    mock guess.number = 7
    expect guess("a digit") == 8
`;

const begun = Date.now();
const say = (text) => console.log(`${((Date.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${text}`);
const scratch = mkdtempSync(join(tmpdir(), "sgl-programs-"));
writeFileSync(join(scratch, "broken.sgl"), BROKEN);
writeFileSync(join(scratch, "tested.sgl"), TESTED);

/** Those of dark themes are of docs/editors.md, all others of the page of the extension. */
async function picture(editor, name) {
  if (WANTED) {
    await editor.picture(name.endsWith("-dark") ? join(ROOT, "docs", "pictures", `vscode-${name}.png`) : join(PICTURES, `${name}.png`));
    say(`picture ${name}`);
  }
}

/** Words of the text have several colours, and the same word class has one. */
async function colours(editor) {
  const found = await editor.page.evaluate(() =>
    [...document.querySelectorAll(".view-line > span > span")].map((each) => [each.textContent.trim(), getComputedStyle(each).color]),
  );
  const of = (word) => found.find(([text]) => text === word)?.[1];
  assert.ok(new Set(found.map(([, colour]) => colour)).size >= 4, "fewer than four colours");
  assert.ok(of("record") && of("record") === of("fn"), "keywords have one colour");
  say(`colours: ${new Set(found.map(([, colour]) => colour)).size}`);
}

async function diagnostics(editor) {
  const { page } = editor;
  await editor.open("broken.sgl");
  await page.locator(".squiggly-error").first().waitFor();
  await colours(editor);
  await editor.line(10, 13);
  await editor.command("Show or Focus Hover");
  const told = page.locator(".monaco-hover:visible", { hasText: "fuond" });
  await told.first().waitFor();
  say(`a mistake is underlined: ${(await told.first().innerText()).split("\n")[0]}`);
  if (WANTED) {
    await page.screenshot({ path: join(PICTURES, "diagnostics.png") });
  }
  await page.keyboard.press("Escape");
  await editor.line(9, 22);
  await editor.command("Show or Focus Hover");
  const hover = page.locator(".monaco-hover:visible", { hasText: "Order" });
  await hover.first().waitFor();
  say(`hover over a hole: ${(await hover.first().innerText()).replaceAll(/\s+/g, " ").slice(0, 120)}`);
  await page.keyboard.press("Escape");
}

async function preview(editor) {
  await editor.open("character.sgl");
  await editor.at("character.sgl", "fn crew(");
  await editor.lens("preview prompt").click();
  const frame = await editor.inside("#conversation .unknown");
  const [shared, given, hole] = await Promise.all([".shared", ".given", ".unknown"].map((each) => frame.locator(`#conversation ${each}`).allInnerTexts()));
  assert.ok(shared.join("").includes("You invent crew members") && given.includes("<theme>"));
  assert.ok(hole.some((each) => each.includes("member")));
  say(`preview: ${shared.length} shared parts, then ${given}, then ${hole}`);
  await frame.locator("#conversation .unknown").first().scrollIntoViewIfNeeded();
  await picture(editor, "preview");
  await editor.close("Prompt");
}

async function run(editor) {
  await editor.open("character.sgl");
  await editor.at("character.sgl", "fn crew(");
  await editor.lens("run").click();
  await editor.answer("theme: str", THEME);
  const frame = await editor.inside("#conversation");
  await frame.locator(".token").first().waitFor();
  say("the first coloured token");
  await frame.locator("#value .result").waitFor();
  const value = JSON.parse(await frame.locator("#value .result").innerText());
  assert.ok(value.home && value.motto);
  say(`the value: ${value.name}, ${value.post}; ${await frame.locator("#state").innerText()}`);
  const hole = await editor.at("character.sgl", "?{member");
  await editor.at("character.sgl", "fn crew(");
  await frame.locator(".token").nth(2).click();
  await until(() => frame.locator(".token.chosen").count());
  await until(async () => (await editor.page.locator(".statusbar").innerText()).includes(`Ln ${hole.line}, Col ${hole.column}`));
  assert.ok((await frame.locator("#inspector").innerText()).includes("legal tokens"));
  say(`a click on a token goes to its hole: line ${hole.line}`);
  await editor.at("character.sgl", "fn crew(");
  await until(async () => (await frame.locator(".token.chosen").count()) === 0);
  await editor.at("character.sgl", "?{member", 4);
  await until(() => frame.locator(".token.chosen").count());
  say("a hole that is chosen in the source shows its tokens");
  await frame.locator(".token").nth(4).hover();
  await picture(editor, "run");
  const hostile = await frame.evaluate(() => document.querySelectorAll("#conversation img, #conversation script").length);
  assert.equal(hostile, 0);
  await editor.close("Run: crew");
}

async function tests(editor) {
  const { page } = editor;
  await editor.open("tested.sgl");
  await editor.lens("run test", 0).click();
  await page.locator(".testing-run-glyph.codicon-testing-passed-icon, .codicon-testing-passed-icon").first().waitFor();
  say("a test passes");
  await editor.lens("run test", 1).click();
  await page.locator(".codicon-testing-failed-icon, .testing-run-glyph.codicon-testing-failed-icon").first().waitFor();
  const told = page.locator(".test-error-content-widget, .testing-peek-message, .test-message-inline-content, .monaco-diff-editor");
  await told.first().waitFor();
  say(`a test fails: ${(await told.first().innerText()).replaceAll(/\s+/g, " ").slice(0, 100)}`);
  await picture(editor, "tests");
  await page.keyboard.press("Escape");
}

async function debugged(editor) {
  const { page } = editor;
  await editor.open("character.sgl");
  await editor.at("character.sgl", "fn crew(");
  await editor.lens("run").waitFor();
  await editor.at("character.sgl", "return member");
  await until(async () => {
    await page.keyboard.press("F9");
    await new Promise((resolve) => setTimeout(resolve, 1500));
    return (await page.locator(".codicon-debug-breakpoint").count()) > 0;
  });
  await page.keyboard.press("F5");
  await editor.answer("theme: str", THEME);
  await page.locator(".debug-top-stack-frame-column, .codicon-debug-stackframe").first().waitFor();
  const variables = page.locator(".debug-viewlet .monaco-list-row, .debug-variables .monaco-list-row");
  await until(async () => (await variables.allInnerTexts()).some((each) => each.includes("member")));
  const shown = (await variables.allInnerTexts()).filter((each) => /member|theme/.test(each));
  say(`stopped at a breakpoint: ${shown.join(" | ").replaceAll(/\s+/g, " ").slice(0, 160)}`);
  await picture(editor, "debugger");
  await page.keyboard.press("F5");
  await page.locator(".debug-toolbar").waitFor({ state: "hidden" });
  say("the session has ended");
  await editor.command("View: Hide Panel");
}

/** Prompt and run in the colours of both themes. */
async function themes(editor) {
  const darkPicture = (theme, name) => (theme.includes("Dark") ? picture(editor, name) : undefined);
  await editor.open("character.sgl");
  await editor.at("character.sgl", "fn crew(");
  for (const theme of ["Dark Modern", "Light Modern"]) {
    await editor.theme(theme);
    await editor.lens("preview prompt").click();
    const prompt = await editor.inside("#conversation .unknown");
    await themed(editor, prompt);
    await prompt.locator("#conversation .unknown").first().scrollIntoViewIfNeeded();
    await darkPicture(theme, "preview-dark");
    await editor.close("Prompt");
    await editor.open("character.sgl");
    await editor.lens("run").click();
    await editor.answer("theme: str", THEME);
    const shown = await editor.inside("#value:not([hidden]) .result");
    await themed(editor, shown);
    await shown.locator(".token").nth(4).hover();
    await darkPicture(theme, "run-dark");
    await editor.close("Run: crew");
    say(`prompt and run have the colours of ${theme}`);
  }
}

const files = {
  "character.sgl": join(ROOT, "examples", "character.sgl"),
  "broken.sgl": join(scratch, "broken.sgl"),
  "tested.sgl": join(scratch, "tested.sgl"),
};
const steps = { diagnostics, run, preview, tests, debugged, themes, ...surfaces, traces, compared, hostile };
const named = process.argv.slice(2).filter((each) => !each.startsWith("--"));
let failed = 0;
try {
  await withEditor({ files }, async (editor) => {
    say("a fresh editor with the extension");
    await editor.page.keyboard.press("Control+b");
    for (const [name, step] of Object.entries(steps)) {
      if (named.length > 0 && !named.includes(name)) {
        continue;
      }
      try {
        await step(editor, say, picture);
      } catch (problem) {
        failed += 1;
        say(`FAILED ${name}: ${String(problem).slice(0, 500)}`);
        await editor.page.screenshot({ path: join(tmpdir(), `sgl-failed-${name}.png`) });
      }
    }
  });
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
