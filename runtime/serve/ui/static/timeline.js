// Holes over time: what of each was waiting, reading the conversation, and writing tokens. Rows are made as they
// come into view.

import { brief, counting, duration, finite, grouped, make, plural } from "./dom.js";

const ROW_HEIGHT = 30;
const OVER = 8; // rows that are made above and below what is seen

/** When a hole began, when its first token was there and when it ended, in seconds of the run. */
function phases(hole, before) {
  const seconds = finite(hole.end?.seconds) ?? 0;
  const began = hole.began ?? before;
  const ended = hole.ended ?? Math.max(began + seconds, hole.first ?? began);
  const waited = Math.min(Math.max(finite(hole.end?.queue) ?? 0, 0), ended - began);
  const first = Math.min(Math.max(hole.first ?? began + waited, began), ended);
  const queue = Math.min(waited, first - began);
  return { began, queue, first, ended };
}

export class TimelineView {
  constructor(chosen) {
    this.chosen = chosen; // called with the hole that is to be shown, whether it is to be gone to, whether it was clicked
    this.rows = [];
    this.at = 0;
    this.told = make("p", { class: "hint" });
    this.axis = make("div", { class: "axis", "aria-hidden": "true" });
    this.inner = make("div", { class: "lanes" });
    this.list = make("div", { class: "timeline", tabindex: "0", role: "listbox", "aria-label": "Holes. Up and down choose one, Enter goes to its text." }, this.inner);
    this.element = make("div", {}, this.told, key(), this.axis, this.list);
    this.list.addEventListener("scroll", () => this.draw());
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("click", (event) => this.click(event, event.detail > 1));
    new ResizeObserver(() => this.draw()).observe(this.list);
  }

  show(run) {
    let before = 0;
    this.rows = run.holes.map((hole) => {
      const row = { hole, ...phases(hole, before) };
      before = Math.max(before, row.ended);
      return row;
    });
    this.until = this.rows.reduce((most, row) => Math.max(most, row.ended), run.timed ? run.until : 0) || 1;
    this.at = Math.min(this.at, Math.max(0, this.rows.length - 1));
    const sums = this.rows.reduce((sum, row) => [sum[0] + row.queue, sum[1] + row.first - row.began - row.queue, sum[2] + row.ended - row.first], [0, 0, 0]);
    const parts = `${plural(this.rows.length, "hole")}: ${duration(sums[0])} in the queue, ${duration(sums[1])} until the first token, ${duration(sums[2])} for tokens.`;
    const untimed = run.timed || !this.rows.length ? "" : " This trace has no times of events, so holes stand one behind the other.";
    this.told.textContent = this.rows.length ? parts + untimed : "This run has no holes.";
    this.inner.style.height = `${this.rows.length * ROW_HEIGHT}px`;
    this.axis.replaceChildren(...[0, 0.25, 0.5, 0.75, 1].map((share) => make("span", { style: { left: `${share * 100}%` }, text: duration(share * this.until) })));
    if (this.rows.length) this.chosen(this.rows[this.at].hole, false);
    this.axis.hidden = this.list.hidden = !this.rows.length;
    this.draw();
  }

  draw() {
    const from = Math.max(0, Math.floor(this.list.scrollTop / ROW_HEIGHT) - OVER);
    const to = Math.min(this.rows.length, from + Math.ceil((this.list.clientHeight || 600) / ROW_HEIGHT) + 2 * OVER);
    const made = [];
    for (let at = from; at < to; at += 1) made.push(this.lane(this.rows[at], at));
    this.inner.replaceChildren(...made);
    if (this.rows.length) this.list.setAttribute("aria-activedescendant", `lane-${this.at}`);
  }

  lane(row, at) {
    const { hole } = row;
    const share = (seconds) => `${((seconds / this.until) * 100).toFixed(3)}%`;
    const part = (kind, from, to) => (to > from ? make("i", { class: kind, style: { left: share(from), width: share(to - from) } }) : null);
    const tokens = counting(hole.end?.tokens) ?? hole.tokens;
    const state = hole.rejected ? "rejected" : hole.failed ? "failed" : "";
    const read = row.began + row.queue;
    return make(
      "div",
      {
        class: `lane ${state}${at === this.at ? " chosen" : ""}`,
        id: `lane-${at}`,
        role: "option",
        "aria-selected": at === this.at ? "true" : "false",
        style: { top: `${at * ROW_HEIGHT}px` },
        "data-at": at,
      },
      make("span", { class: "name", text: `${hole.path ? `${brief(hole.path, 8)} · ` : ""}${brief(hole.name, 40)}` }),
      make("span", { class: "figure" }, grouped(tokens), hidden(` ${state} tokens, `)),
      make("span", { class: "figure" }, duration(row.ended - row.began), hidden(`: ${duration(row.queue)} queue, ${duration(row.first - read)} until the first token`)),
      make("span", { class: "bars" }, part("queue", row.began, read), part("prompt", read, row.first), part("tokens", row.first, row.ended)),
    );
  }

  choose(at, going, clicked = false) {
    if (!this.rows.length) return;
    this.at = Math.max(0, Math.min(this.rows.length - 1, at));
    const top = this.at * ROW_HEIGHT;
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    else if (top + ROW_HEIGHT > this.list.scrollTop + this.list.clientHeight) this.list.scrollTop = top + ROW_HEIGHT - this.list.clientHeight;
    this.draw();
    this.chosen(this.rows[this.at].hole, going, clicked);
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.list.clientHeight / ROW_HEIGHT) - 1);
    const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page, PageUp: this.at - page, Home: 0, End: this.rows.length - 1, Enter: this.at, " ": this.at }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.choose(to, event.key === "Enter");
  }

  click(event, going) {
    const lane = event.target.closest(".lane");
    if (lane) this.choose(Number(lane.dataset.at), going, true);
  }
}

/** Text for those who do not see the bars. */
function hidden(text) {
  return make("span", { class: "unseen", text });
}

function key() {
  const part = (kind, text) => make("li", {}, make("i", { class: kind }), ` ${text}`);
  return make("ul", { class: "legend key", "aria-label": "Colours" }, part("queue", "queue"), part("prompt", "until the first token: the conversation is read"), part("tokens", "tokens"));
}
