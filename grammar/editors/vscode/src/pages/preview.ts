// The page of a previewed prompt. Texts are put in as text only.
import type { Conversation } from "../pure/pieces";

declare function acquireVsCodeApi(): { postMessage(message: unknown): void };
const editor = acquireVsCodeApi();
const at = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;

function element(name: string, kind: string, text = ""): HTMLElement {
  const made = document.createElement(name);
  made.className = kind;
  made.textContent = text;
  return made;
}

function drawn(conversation: Conversation): HTMLElement {
  const box = element("article", "conversation");
  box.append(element("h2", "note", conversation.title));
  let text: HTMLElement | undefined;
  const open = (role: string): HTMLElement => {
    const message = element("section", `message ${/^(system|user|assistant|tool)$/.test(role) ? role : "other"}`);
    const body = element("div", "text");
    message.append(element("h2", "role", role), body);
    box.append(message);
    return body;
  };
  for (const piece of conversation.pieces) {
    if (piece.kind === "role") {
      text = open(piece.text);
    } else {
      text ??= open("text");
      text.append(element("span", piece.kind, piece.text));
    }
  }
  conversation.remarks.forEach((each) => box.append(element("p", "note", each)));
  return box;
}

window.addEventListener("message", ({ data }: MessageEvent) => {
  if (data.kind !== "preview") {
    return;
  }
  at("title").textContent = data.title;
  at("state").textContent = data.state;
  at("next").hidden = data.drawn !== true;
  if (data.conversations !== undefined) {
    at("conversation").replaceChildren(...(data.conversations as Conversation[]).map(drawn));
  }
});
at("fuzz").addEventListener("click", () => editor.postMessage({ kind: "fuzz" }));
at("next").addEventListener("click", () => editor.postMessage({ kind: "next" }));
editor.postMessage({ kind: "ready" });
