// A fresh editor in a browser: code-server with an empty profile and the packed extension, steered through Chromium.
//
// CODE_SERVER is a folder where `npm i code-server playwright-core` was done, CHROMIUM a browser, SGLC what the
// setting `sgl.path` names.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
export const ROOT = join(HERE, "..", "..", "..", "..");
const PATIENCE = Number(process.env.PATIENCE ?? 120_000);
const SOON = 4_000;

/**
 * Opens the editor on a folder with some files (name to path) and gives it to a function; all is ended after it.
 *
 * With `trust` false the editor asks whether the folder is trusted. `bare` leaves the profile without any setting, as that of a newcomer. `prepare` is called with the folder before the
 * extension is installed, and `told` with the words of each step that has ended. `env` is added to the environment.
 */
export async function withEditor(
  { files, theme = "Default Light Modern", zoom = 0, size = { width: 980, height: 540 }, bare = false, trust = true, prepare = () => undefined, told = () => undefined, env = {} },
  act,
) {
  const place = process.env.CODE_SERVER;
  if (!place) {
    throw new Error("CODE_SERVER names no folder with code-server and playwright-core");
  }
  const { chromium } = createRequire(join(place, "package.json"))("playwright-core");
  const folder = mkdtempSync(join(tmpdir(), "sgl-editor-"));
  const server = join(place, "node_modules", "code-server", "out", "node", "entry.js");
  const [profile, extensions, workspace] = ["profile", "extensions", "workspace"].map((name) => join(folder, name));
  mkdirSync(join(profile, "User"), { recursive: true });
  mkdirSync(workspace);
  for (const [name, path] of Object.entries(files)) {
    cpSync(path, join(workspace, name));
  }
  if (!bare) {
    writeFileSync(join(profile, "User", "settings.json"), JSON.stringify({ ...settings(theme, zoom), "security.workspace.trust.enabled": !trust }));
    // A path belongs to the machine where sglc is: of a browser that is the server's.
    mkdirSync(join(profile, "Machine"));
    writeFileSync(join(profile, "Machine", "settings.json"), JSON.stringify({ "sgl.path": process.env.SGLC ?? "sglc" }));
  }
  let running;
  let browser;
  try {
    await prepare(workspace);
    const common = [server, "--config", join(folder, "config.yaml"), "--user-data-dir", profile, "--extensions-dir", extensions];
    const installed = spawnSync(process.execPath, [...common, "--install-extension", join(HERE, "..", "sgl.vsix")], { encoding: "utf8" });
    if (installed.status !== 0) {
      throw new Error(`the extension cannot be installed: ${installed.stdout}${installed.stderr}`);
    }
    const port = await freePort();
    const more = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"];
    told("the extension is installed");
    running = spawn(process.execPath, [...common, ...more, workspace], { stdio: "ignore", detached: true, env: { ...process.env, ...env } });
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
    const page = await browser.newPage({ viewport: size });
    page.setDefaultTimeout(PATIENCE);
    const address = `http://127.0.0.1:${port}/?folder=${encodeURIComponent(workspace)}`;
    await until(() => page.goto(address).then(() => true));
    await page.waitForSelector(".monaco-workbench .explorer-folders-view");
    told("the editor is open");
    return await act(new Editor(page, workspace));
  } finally {
    await browser?.close();
    if (running !== undefined) {
      process.kill(-running.pid);
    }
    if (!process.env.KEEP) {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

function settings(theme, zoom) {
  return {
    "sgl.model": process.env.SGL_MODEL ?? "smollm2",
    "workbench.colorTheme": theme,
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": false,
    "workbench.layoutControl.enabled": false,
    "window.commandCenter": false,
    "window.zoomLevel": zoom,
    "chat.commandCenter.enabled": false,
    "editor.minimap.enabled": false,
    "editor.fontSize": 12,
    "breadcrumbs.enabled": false,
    "telemetry.telemetryLevel": "off",
    "extensions.ignoreRecommendations": true,
    "testing.automaticallyOpenPeekView": "failureInVisibleDocument",
    "debug.openDebug": "openOnDebugBreak",
    "[sgl]": { "editor.formatOnSave": true },
  };
}

/** What a user does and sees. */
export class Editor {
  constructor(page, workspace) {
    this.page = page;
    this.workspace = workspace;
  }

  /** Take a theme by the end of its name: `Dark Modern`. */
  async theme(name) {
    await this.command("Preferences: Color Theme");
    await this.page.locator(".quick-input-widget input[placeholder*='Theme']").fill(name);
    await this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: name }).waitFor();
    await this.page.keyboard.press("Enter");
    await this.page.locator(`.monaco-workbench.${name.includes("Dark") ? "vs-dark" : "vs"}`).first().waitFor();
  }

  /** What stands in a file of the folder on the disk. */
  text(name) {
    return readFileSync(join(this.workspace, name), "utf8");
  }

  /** Choose a row of the list that is open by its text. */
  async pick(text) {
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first();
    await row.waitFor();
    await row.click();
  }

  /** Open a file of the folder by its name. */
  async open(name) {
    const file = this.page.locator(".explorer-folders-view .monaco-list-row", { hasText: name }).first();
    const hidden = !(await file.isVisible());
    if (hidden) {
      await this.page.keyboard.press("Control+Shift+e");
    }
    await file.dblclick();
    await this.page.locator(".tabs-container .tab.active", { hasText: name }).first().waitFor();
    await this.page.locator(".editor-instance .view-line").first().waitFor();
    if (hidden) {
      await this.page.keyboard.press("Control+b");
    }
  }

  /** Close a page by its title. */
  async close(title) {
    const tab = this.page.locator(".tabs-container .tab", { hasText: title });
    await tab.click();
    await this.command("View: Close Editor");
    await tab.waitFor({ state: "detached" });
  }

  /**
   * Run a command of the palette by its title. The palette lists what there was when it was opened, and offers others
   * that are similar: of an extension that is still being read it must be opened again.
   */
  async command(title) {
    const box = this.page.locator(".quick-input-widget input");
    await until(async () => {
      await this.page.keyboard.press("F1");
      await box.waitFor({ state: "visible", timeout: SOON });
      await box.fill(`>${title}`, { timeout: SOON });
      const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first();
      const there = await row.click({ timeout: SOON }).then(() => true, () => false);
      if (!there) {
        await box.press("Escape", { timeout: SOON });
      }
      return there;
    });
  }

  /** Go to a line of the editor. A page beside it may take the keys while it is being drawn: then it is tried again. */
  async line(number, column = 1) {
    const box = this.page.locator(".quick-input-widget input");
    await until(async () => {
      await this.page.keyboard.press("Control+g");
      await box.waitFor({ state: "visible", timeout: SOON });
      await box.fill(`:${number}:${column}`, { timeout: SOON });
      await box.press("Enter", { timeout: SOON });
      await box.waitFor({ state: "hidden", timeout: SOON }).catch(() => this.page.keyboard.press("Escape"));
      return (await this.page.locator(".statusbar").innerText()).includes(`Ln ${number}, Col `);
    });
  }

  /** Go to where a text first stands in a file that is open, and so many letters on. Gives the line and column. */
  async at(name, text, beyond = 0) {
    const lines = this.text(name).split("\n");
    const line = lines.findIndex((each) => each.includes(text));
    const column = lines[line].indexOf(text) + 1;
    await this.page.keyboard.press("Control+1"); // the first group of editors: not a page
    await this.line(line + 1, column + beyond);
    return { line: line + 1, column };
  }

  /** Answer the box that asks for a value, when it asks for it. */
  async answer(question, text) {
    await this.page.locator(".quick-input-message", { hasText: question }).waitFor();
    const box = this.page.locator(".quick-input-widget input");
    await box.waitFor({ state: "visible" });
    await box.fill(text);
    await this.page.keyboard.press("Enter");
  }

  /** The lens with a text. */
  lens(text, number = 0) {
    return this.page.locator(".codelens-decoration a", { hasText: new RegExp(`^${text}$`) }).nth(number);
  }

  /** The document of a page of the extension, once elements of it are there. */
  async inside(...selectors) {
    let found;
    await until(async () => {
      for (const frame of this.page.frames()) {
        const there = await Promise.all(selectors.map((each) => frame.locator(each).count().catch(() => 0)));
        if (there.every((each) => each > 0)) {
          found = frame;
          return true;
        }
      }
      return false;
    });
    return found;
  }

  /** A picture in few colours. */
  async picture(path) {
    await this.page.mouse.move(5, 300);
    await this.page.screenshot({ path });
  }
}

/** Wait until something holds; a loaded machine needs patience. */
export async function until(holds, patience = PATIENCE) {
  const last = Date.now() + patience;
  for (;;) {
    try {
      if (await holds()) {
        return;
      }
    } catch (problem) {
      if (Date.now() > last) {
        throw problem;
      }
    }
    if (Date.now() > last) {
      throw new Error(`did not come: ${holds}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function freePort() {
  return new Promise((resolve) => {
    const taken = createServer().listen(0, "127.0.0.1", () => {
      const { port } = taken.address();
      taken.close(() => resolve(port));
    });
  });
}
