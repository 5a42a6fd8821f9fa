// The page of a run: text as it comes, tokens shaded by their probability. Texts are put in as text only.
import type { Shown } from "../pure/events";
import { shadeOf } from "../pure/events";

declare function acquireVsCodeApi(): { postMessage(message: unknown): void };
const editor = acquireVsCodeApi();

const at = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;
const [conversation, inspector, state, value] = [at("conversation"), at("inspector"), at("state"), at("value")];
const events = new WeakMap<Element, Shown>();
let message: HTMLElement | undefined;
let branch = "";
let figures = "";

function element(name: string, kind: string, text = ""): HTMLElement {
  const made = document.createElement(name);
  made.className = kind;
  made.textContent = text;
  return made;
}

function open(role: string): HTMLElement {
  const box = element("section", `message ${/^(system|user|assistant|tool)$/.test(role) ? role : "other"}`);
  box.append(element("h2", "role", role));
  const body = element("div", "text");
  box.append(body);
  conversation.append(box);
  return body;
}

function begin(title: string): void {
  conversation.replaceChildren();
  inspector.textContent = "Point at a token, or choose one to go to its hole.";
  at("title").textContent = title;
  state.textContent = "starts …";
  value.hidden = true;
  message = undefined;
  branch = "";
  figures = "";
  at("stop").hidden = false;
  at("again").hidden = true;
}

function show(event: Shown): void {
  if (event.branch !== branch) {
    branch = event.branch;
    conversation.append(element("p", "note", branch === "" ? "behind the branches" : `branch ${branch}`));
    message = undefined;
  }
  switch (event.kind) {
    case "role":
      message = open(event.text);
      return;
    case "call":
      conversation.append(element("p", "note", `calls ${event.text}`));
      message = undefined;
      return;
    case "begin":
      state.textContent = `fills ${event.hole} …`;
      return;
    case "void":
      voided(event);
      return;
    case "note":
      conversation.append(element("p", "note", event.text));
      message = undefined;
      return;
    case "finish":
      figures = event.text;
      return;
    case "end":
      return;
    default:
      message ??= open("text");
      message.append(piece(event));
  }
}

function piece(event: Shown): HTMLElement {
  const made = element("span", event.kind, event.text);
  if (event.kind === "token" || event.kind === "forced") {
    made.dataset["span"] = event.span;
    made.dataset["hole"] = event.hole;
    made.tabIndex = -1;
    if (event.kind === "token") {
      made.classList.add(`p${shadeOf(event.probability)}`);
    }
    events.set(made, event);
  }
  return made;
}

/** What was written of a hole does not count any more. */
function voided(event: Shown): void {
  const pieces = [...conversation.querySelectorAll<HTMLElement>("[data-hole]:not(.void)")];
  pieces.filter((each) => each.dataset["hole"] === event.hole).forEach((each) => each.classList.add("void"));
  message?.append(element("span", "note", ` ${event.text} `));
}

function inspect(target: Element): void {
  const event = events.get(target);
  if (event === undefined) {
    return;
  }
  const lines: HTMLElement[] = [element("strong", "hole", event.hole), element("code", "taken", JSON.stringify(event.text))];
  if (event.kind === "forced") {
    lines.push(element("span", "", "forced: nothing else could stand here"));
  } else {
    const sure = event.probability === undefined ? "" : `${percent(event.probability)} of the model`;
    const legal = event.mask === undefined ? "" : `${event.mask} legal tokens`;
    lines.push(element("span", "", [sure, legal].filter((each) => each !== "").join(", ")));
  }
  const list = element("ol", "candidates");
  for (const each of event.top ?? []) {
    const row = element("li", each.legal ? "legal" : "illegal");
    row.append(element(each.legal ? "code" : "del", "", JSON.stringify(each.text)), ` ${percent(each.probability)}`);
    list.append(row);
  }
  inspector.replaceChildren(...lines, list);
}

const percent = (part: number): string => `${(100 * part).toFixed(part < 0.01 ? 2 : 1)} %`;

function mark(span: string): void {
  const found = [...conversation.querySelectorAll<HTMLElement>("[data-span]")];
  found.forEach((each) => each.classList.toggle("chosen", each.dataset["span"] === span));
  found.find((each) => each.dataset["span"] === span)?.scrollIntoView({ block: "nearest" });
}

function ended(text: string, problem: string): void {
  at("stop").hidden = true;
  at("again").hidden = false;
  state.textContent = problem === "" ? figures || "done" : "has failed";
  value.hidden = false;
  value.replaceChildren(
    element("h2", "role", problem === "" ? "value" : "problem"),
    element("pre", problem === "" ? "result" : "problem", problem === "" ? text : problem),
  );
}

function nearEnd(): boolean {
  const page = document.documentElement;
  return page.scrollHeight - page.scrollTop - page.clientHeight < 120;
}

window.addEventListener("message", ({ data }: MessageEvent) => {
  const follows = nearEnd();
  switch (data.kind) {
    case "begin":
      begin(data.title);
      break;
    case "events":
      (data.events as Shown[]).forEach(show);
      break;
    case "progress":
      if (conversation.childElementCount === 0) {
        state.textContent = String(data.text).trim().split("\n").at(-1) ?? "";
      }
      break;
    case "hole":
      mark(data.span);
      return;
    case "ended":
      ended(data.value, data.problem);
      break;
  }
  if (follows) {
    window.scrollTo(0, document.documentElement.scrollHeight);
  }
});

conversation.addEventListener("click", ({ target }) => {
  const span = target instanceof HTMLElement ? target.dataset["span"] : undefined;
  if (span !== undefined) {
    inspect(target as Element);
    editor.postMessage({ kind: "go", span });
  }
});
conversation.addEventListener("mouseover", ({ target }) => target instanceof Element && inspect(target));
conversation.addEventListener("keydown", (event) => {
  const pieces = [...conversation.querySelectorAll<HTMLElement>("[data-span]")];
  const here = pieces.indexOf(document.activeElement as HTMLElement);
  const next = { ArrowRight: here + 1, ArrowLeft: here - 1 }[event.key];
  if (event.key === "Enter") {
    pieces[here]?.click();
  } else if (next !== undefined && pieces[next] !== undefined) {
    event.preventDefault();
    pieces[next].focus();
    inspect(pieces[next]);
  }
});
conversation.tabIndex = 0;
at("stop").addEventListener("click", () => editor.postMessage({ kind: "stop" }));
at("again").addEventListener("click", () => editor.postMessage({ kind: "again" }));
editor.postMessage({ kind: "ready" });
