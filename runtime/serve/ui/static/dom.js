// Elements, texts and numbers. Data reaches the page as text alone, never as markup.

/** An element: `class`, `text`, `on` (listeners) and `style` (properties) are set as such, all else is an attribute. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = value;
    else if (name === "text") element.textContent = value;
    else if (name === "on") for (const [kind, heard] of Object.entries(value)) element.addEventListener(kind, heard);
    else if (name === "style") for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An element of SVG with attributes. */
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG_NAMES, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
const SVG_NAMES = document.querySelector("svg").namespaceURI; // of the drawing in the head of the page

// Controls, what turns the direction of writing, and what cannot be seen. Joiners of emoji and scripts stay.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Text as it is shown: nothing in it acts on the text beside it. */
export function visible(text) {
  return text.replace(UNSEEN, (found) => {
    const code = found.codePointAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
  });
}

/** Text on one line, at most so long. */
export function brief(text, most = 80) {
  const line = visible(text.slice(0, most * 2)).replace(/\s*\n\s*/g, " ⏎ ").trim();
  return line.length > most || text.length > most * 2 ? `${line.slice(0, most - 1)}…` : line;
}

/** A finite number, null for everything else. */
export function finite(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** A text, empty for everything else. */
export function texted(value) {
  return typeof value === "string" ? value : "";
}

/** A whole number from 0 on, null for everything else. */
export function counting(value) {
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
}

const GROUPED = new Intl.NumberFormat("en");

/** A count with its thousands apart. */
export function grouped(value) {
  return value === null || value === undefined ? "–" : GROUPED.format(value);
}

/** `1 token`, `2 tokens`. */
export function plural(count, noun) {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `1 branch`, `2 branches`. */
export function branchCount(count) {
  return `${grouped(count)} ${count === 1 ? "branch" : "branches"}`;
}

/** A share of one as per cent, with the digits that matter. */
export function percent(share) {
  if (share === null) return "–";
  const whole = share * 100;
  if (whole > 0 && whole < 0.01) return "< 0.01 %";
  return `${whole.toFixed(whole >= 99.95 ? 0 : whole >= 10 ? 1 : 2)} %`;
}

/** Seconds in the unit that suits them. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds === 0) return "0 s";
  if (seconds < 0.001) return `${(seconds * 1e6).toFixed(0)} µs`;
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.1 ? 1 : 0)} ms`;
  return seconds < 120 ? `${seconds.toFixed(2)} s` : `${(seconds / 60).toFixed(1)} min`;
}

/** e^logprob, at most 1; null for none. */
export function probable(logprob) {
  const found = finite(logprob);
  return found === null ? null : Math.exp(Math.min(0, found));
}

/** Bring an element into sight. */
export function bring(element, block = "center") {
  element.scrollIntoView({ block, inline: "nearest", behavior: "auto" });
}
