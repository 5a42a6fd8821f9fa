// What the extension offers beside runs, previews, tests and the debugger: each is tried once in a real editor.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "./editor.mjs";

const MESSY = `record Order:
  item:   str max 40 chars

fn read( text: str )->Order:
    user: | \${text}
    assistant: | ?{found: Order}
    return found
`;
const TIDY = `record Order:
    item: str max 40 chars

fn read(text: str) -> Order:
    user: | \${text}
    assistant: | ?{found: Order}
    return found
`;

/** The lines of the editor that is active, as they are drawn. */
async function drawn(editor) {
  const lines = await editor.page.locator(".editor-group-container.active .view-line").allInnerTexts();
  return lines.join("\n").replaceAll("\u00a0", " ");
}

/** A new file of the folder, open. */
async function written(editor, name, text) {
  writeFileSync(join(editor.workspace, name), text);
  await editor.open(name);
}

/** Help: Welcome leads to the steps; their buttons work although no program has the focus then. */
export async function walkthrough(editor, say) {
  const { page } = editor;
  await editor.command("Welcome: Open Walkthrough...");
  await editor.pick("Start with SGL");
  const steps = page.locator(".getting-started-step");
  await steps.first().waitFor();
  assert.equal(await steps.count(), 5);
  const press = async (title, button) => {
    await page.locator(".tabs-container .tab", { hasText: "Walkthrough" }).first().click();
    await page.locator(".getting-started-step", { hasText: title }).click();
    await page.locator(".getting-started-step.expanded .monaco-button", { hasText: button }).click();
  };
  await press("Make a first program", "Make first.sgl");
  await page.locator(".tabs-container .tab.active", { hasText: "first.sgl" }).waitFor();
  assert.ok(existsSync(join(editor.workspace, "first.sgl")));
  await editor.lens("run").first().waitFor();
  await press("See what the model will see", "Preview the prompt");
  await editor.inside("#conversation .unknown");
  await editor.close("Prompt");
  await press("Run it", "Run");
  await page.locator(".quick-input-message", { hasText: "mail: str" }).waitFor();
  await page.keyboard.press("Escape");
  say("the walkthrough: five steps; its buttons make a program, preview it, run it");
  await editor.close("Walkthrough");
  await editor.close("first.sgl");
}

/** Lenses stand above functions and tests, and each does something. */
export async function lenses(editor, say) {
  const { page } = editor;
  await editor.open("character.sgl");
  await editor.at("character.sgl", "fn crew(");
  await editor.lens("plan").first().waitFor();
  const there = await page.locator(".codelens-decoration").allInnerTexts();
  say(`lenses: ${[...new Set(there.map((each) => each.replaceAll(/\s+/g, " ")))].join("; ")}`);
  await editor.lens("plan").first().click();
  await page.locator(".tabs-container .tab", { hasText: "(plan)" }).waitFor();
  await until(async () => /shared by every call/.test((await page.locator(".editor-instance .view-lines").allInnerTexts()).join("\n").replaceAll("\u00a0", " ")));
  say("the plan of a function stands beside it");
  await editor.close("(plan)");
  await editor.lens("fuzz").first().click();
  const frame = await editor.inside("#conversation .value");
  const first = await frame.locator("#conversation .value").first().innerText();
  await frame.locator("#next").click();
  await until(async () => (await frame.locator("#conversation .value").first().innerText()) !== first);
  say(`fuzz puts legal values into holes: ${first.slice(0, 60)}`);
  await editor.close("Prompt");
  await editor.at("character.sgl", "test \"any legal");
  await until(async () => {
    await editor.lens("fuzz", 1).click(); // in vain where the lines move just then
    return page.locator(".codicon-testing-passed-icon").first().waitFor({ timeout: 30_000 }).then(() => true, () => false);
  });
  say("fuzz of a test runs it");
}

/** The same by the palette, where the cursor says which function is meant. */
export async function palette(editor, say) {
  const { page } = editor;
  await editor.open("character.sgl");
  await editor.at("character.sgl", "fn crew(");
  for (const [title, wanted] of [["SGL: Preview the prompt", ".unknown"], ["SGL: Fuzz: the prompt with random legal values", ".value"]]) {
    await editor.command(title);
    await editor.inside(`#conversation ${wanted}`);
  }
  await editor.close("Prompt");
  await editor.open("character.sgl");
  await editor.command("SGL: Plan: what a function costs");
  await page.locator(".tabs-container .tab", { hasText: "(plan)" }).waitFor();
  await editor.close("(plan)");
  await editor.open("tested.sgl");
  await editor.command("SGL: Run the tests of this program");
  await page.locator(".codicon-testing-failed-icon").first().waitFor();
  await page.keyboard.press("Escape");
  await editor.open("character.sgl");
  await editor.command("SGL: Choose the model of runs");
  await editor.pick("smollm2");
  await until(() => page.locator(".statusbar", { hasText: "smollm2" }).count());
  await editor.command("SGL: Show the log");
  await until(async () => /sglc/.test((await page.locator(".output-view-with-log, .output-view").allInnerTexts()).join("")));
  await editor.command("View: Hide Panel");
  await editor.command("SGL: Restart the language server");
  await editor.open("character.sgl");
  await editor.lens("run").first().waitFor();
  say("the commands of the palette: preview, fuzz, plan, tests, model, log, restart");
}

/** The task checks the whole folder; its findings are among the problems, also of files that are not open. */
export async function tasks(editor, say) {
  const { page } = editor;
  await editor.close("broken.sgl").catch(() => undefined);
  await editor.command("Tasks: Run Task");
  await editor.pick("sgl");
  await editor.pick("check all programs");
  const rows = page.locator(".markers-panel .monaco-list-row");
  await until(async () => {
    await editor.command("Problems: Focus on Problems View"); // the output of the task comes before it once
    return (await rows.allInnerTexts()).some((each) => /broken\.sgl/.test(each));
  });
  const found = (await rows.allInnerTexts()).map((each) => each.replaceAll(/\s+/g, " "));
  assert.ok(found.some((each) => /fuond/.test(each) && /\[?Ln 10/.test(each)), found.join(" | "));
  say(`a task checks the folder: ${found.find((each) => /fuond/.test(each)).slice(0, 100)}`);
  await editor.command("View: Hide Panel");
}

/** Snippets write what compiles; saving makes it tidy; a new name is taken everywhere. */
export async function writing(editor, say) {
  const { page } = editor;
  await written(editor, "messy.sgl", MESSY);
  await editor.lens("run").first().waitFor();
  await editor.line(2, 1);
  await page.keyboard.type(" ");
  await page.keyboard.press("Control+s");
  await until(() => editor.text("messy.sgl") === TIDY);
  say("saving lays a program out");
  await editor.line(6, 20);
  await page.keyboard.press("F2");
  const box = page.locator(".rename-input");
  await box.waitFor();
  await box.fill("order");
  await page.keyboard.press("Enter");
  await until(async () => /return order/.test(await drawn(editor)));
  await page.keyboard.press("Control+s");
  await until(() => editor.text("messy.sgl") === TIDY.replaceAll("found", "order"));
  say("a hole is renamed where it is made and used");
  await written(editor, "short.sgl", "\n");
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("classify");
  await page.keyboard.press("Control+Space");
  const offered = page.locator(".suggest-widget .monaco-list-row", { hasText: "classify" }).first();
  await offered.waitFor();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await until(async () => /fn /.test(await drawn(editor)));
  await page.keyboard.press("Control+s");
  await until(() => /fn /.test(editor.text("short.sgl")));
  await editor.lens("run").first().waitFor();
  assert.equal(await page.locator(".squiggly-error").count(), 0);
  say("a snippet becomes a program without a mistake");
}
