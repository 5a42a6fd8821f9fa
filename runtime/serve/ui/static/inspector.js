// The panel that tells what is known of the piece of text under the pointer or the keyboard.

import { brief, counting, duration, finite, grouped, make, percent, plural, probable, visible } from "./dom.js";
import { factsOf } from "./rows.js";

const MOST_CANDIDATES = 50;

export class Inspector {
  constructor(element, again) {
    this.element = element;
    this.again = again; // what offers to run a call again from a hole
    this.item = null;
    this.clear();
  }

  clear() {
    this.item = null;
    this.element.replaceChildren(
      make("h2", { text: "Token" }),
      make("p", { class: "hint", text: "Point at a piece of text, or press Tab to the conversation and use the arrow keys." }),
      legend(),
    );
  }

  show(item) {
    if (item === this.item) return;
    this.item = item;
    const event = item.event ?? {};
    const parts = [make("h2", {}, make("code", { text: quoted(item.text) })), factList(factsOf(item)), ...(item.hole ? this.offer(item.hole) : [])];
    const top = Array.isArray(event.top) ? event.top.slice(0, MOST_CANDIDATES) : [];
    if (top.length) parts.push(make("h3", { text: "Most probable" }), candidates(top, item.text));
    if (item.hole) parts.push(make("h3", { text: "Hole" }), factList(holeFacts(item.hole)));
    this.element.replaceChildren(...parts);
  }

  /** A button for a hole that a call may go on from. */
  offer(hole) {
    if (!hole.end || !this.again.can(hole.run)) return [];
    return [make("button", { type: "button", class: "quiet", text: "Run again from here", on: { click: () => this.again.edit(hole.run, hole) } })];
  }
}

/** Facts of a hole, by name. */
export function holeFacts(hole) {
  const end = hole.end ?? {};
  const facts = [
    ["hole", visible(hole.name)],
    ["tokens", `${grouped(counting(end.tokens) ?? hole.tokens)}${counting(end.forced) === null ? "" : `, ${grouped(end.forced)} forced`}`],
  ];
  if (counting(end.prompt) !== null) facts.push(["before it", plural(end.prompt, "token")]);
  if (counting(end.reused) !== null) facts.push(["found in memory", plural(end.reused, "token")]);
  const seconds = finite(end.seconds) ?? (hole.ended === null || hole.began === null ? null : hole.ended - hole.began);
  if (seconds !== null) facts.push(["time", duration(seconds)]);
  if (finite(end.queue) !== null) facts.push(["queue", duration(end.queue)]);
  if (finite(end.pressure) !== null) facts.push(["pressure", `${end.pressure.toFixed(2)} nats`]);
  facts.push(["ended", hole.rejected ? "rejected" : hole.failed ? "failed" : visible(String(end.ended ?? "not yet"))]);
  if (hole.path) facts.push(["branch", visible(hole.path)]);
  if (hole.model) facts.push(["model", visible(hole.model)]);
  if (hole.span) facts.push(["at", visible(hole.span)]);
  return facts;
}

/** Names and values as a list. */
export function factList(facts) {
  return make("dl", {}, ...facts.map(([name, value]) => make("div", {}, make("dt", { text: name }), make("dd", { text: value }))));
}

function candidates(top, text) {
  const rows = top.filter(Array.isArray).map(([word, logprob, legal]) => {
    const share = probable(logprob);
    const shown = make(legal === false ? "del" : "code", { text: quoted(String(word)) });
    const bar = make("i", { class: "bar", style: { width: `${((share ?? 0) * 100).toFixed(1)}%` } });
    const said = legal === false ? make("span", { class: "unseen", text: " illegal" }) : null;
    return make("li", { class: word === text ? "taken" : "" }, shown, make("b", { text: percent(share) }), said, make("span", { class: "track", "aria-hidden": "true" }, bar));
  });
  return make("ol", { class: "top" }, ...rows);
}

function quoted(text) {
  return text === "" ? "end" : `“${brief(text.replaceAll(" ", "␣"), 60) || "⏎"}”`;
}

function legend() {
  const rows = [
    ["p0", "90 % or more"],
    ["p1", "50 %"],
    ["p2", "20 %"],
    ["p3", "5 %"],
    ["p4", "1 %"],
    ["p5", "less"],
  ].map(([name, text]) => make("li", {}, make("span", { class: `it token ${name}`, text: "text" }), ` ${text}`));
  rows.push(
    make("li", {}, make("span", { class: "it forced", text: "text" }), " forced"),
    make("li", {}, make("span", { class: "it token drafted", text: "text" }), " drafted"),
    make("li", {}, make("span", { class: "it inserted", text: "text" }), " inserted"),
    make("li", {}, make("span", { class: "it gone", text: "text" }), " taken out"),
  );
  return make("ul", { class: "legend", "aria-label": "Colours" }, ...rows);
}
