// The page of recorded runs: that of `sglc view`, whose traces come from the editor in pieces.
import { Page, type Run } from "sgl-page/page.js";

declare function acquireVsCodeApi(): { postMessage(message: unknown): void };
const editor = acquireVsCodeApi();
/** Most places of one run that the cursor is compared with. */
const MOST_PLACES = 5_000;

const runs: Run[] = [];
const page = new Page({ go: (run, span) => editor.postMessage({ kind: "go", run: runs.indexOf(run), span }) });
let reading: ReturnType<Page["begin"]> | undefined;

/** Show a run whose trace has been read, and tell where its holes are. */
function ended(cut: boolean): void {
  const run = reading?.end(cut);
  reading = undefined;
  if (run === undefined) {
    return;
  }
  runs.push(run);
  page.add(run);
  page.open("conversation");
  const spans = new Set<string>();
  for (const { span } of run.holes) {
    if (spans.size < MOST_PLACES) {
      spans.add(span);
    }
  }
  editor.postMessage({ kind: "holes", run: runs.length - 1, spans: [...spans], sources: run.sources });
}

window.addEventListener("message", ({ data }: MessageEvent) => {
  const run = runs[data.run];
  switch (data.kind) {
    case "begin":
      reading = page.begin(data.name);
      break;
    case "piece":
      reading?.push(data.text);
      editor.postMessage({ kind: "more" });
      break;
    case "end":
      ended(data.cut);
      break;
    case "told":
      page.tell(data.text);
      break;
    case "hole":
      if (run !== undefined) {
        page.mark(run, data.span);
      }
      break;
  }
});
editor.postMessage({ kind: "ready" });
