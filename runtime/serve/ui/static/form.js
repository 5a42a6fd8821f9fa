// A form from a JSON Schema, as /openapi.json has them: records, enums, unions, lists, tuples, maps, numbers with
// bounds. A field is {element, read(faults), write(value)}. Numbers stay text, so that no digit is lost.

import { brief, make, visible } from "./dom.js";

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const INTEGER = /^-?(0|[1-9]\d*)$/;
const LONG_TEXT = 60; // a text that may be longer gets several lines
const REFERENCE = "#/components/schemas/";

/** JSON text that stands for itself. */
export class Raw {
  constructor(text) {
    this.text = text;
  }
}

/** A value as JSON text: a Map is an object, a Raw its own text. */
export function jsonText(value) {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`;
  if (value instanceof Map) return `{${[...value].map(([name, each]) => `${JSON.stringify(name)}:${jsonText(each)}`).join(",")}}`;
  return JSON.stringify(value);
}

let numbered = 0;
const fresh = () => `field-${(numbered += 1)}`;

/** Makes fields of the schemas of a document. */
export class FormMaker {
  constructor(document) {
    this.schemas = document.components?.schemas ?? {};
  }

  resolve(schema) {
    let found = schema && typeof schema === "object" ? schema : {};
    for (let left = 32; typeof found.$ref === "string" && left; left -= 1) {
      const name = found.$ref.startsWith(REFERENCE) ? found.$ref.slice(REFERENCE.length) : "";
      const { $ref, ...beside } = found;
      found = { "x-name": name, ...(Object.hasOwn(this.schemas, name) ? this.schemas[name] : {}), ...beside };
    }
    return found;
  }

  field(given, label) {
    const schema = this.resolve(given);
    const name = { label, help: texts(schema.description) };
    if (Object.hasOwn(schema, "const")) return constant(schema.const, name);
    if (Array.isArray(schema.enum)) return choice(schema.enum, name);
    const arms = schema.anyOf ?? schema.oneOf ?? (Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : null);
    if (Array.isArray(arms)) return this.union(arms, name);
    if (schema.type === "object" && schema.properties) return this.record(schema, name);
    if (schema.type === "object" && isSchema(schema.additionalProperties)) return this.map(schema, name);
    if (schema.type === "array" && (schema.prefixItems || isSchema(schema.items))) return this.list(schema, name);
    if (schema.type === "string") return text(schema, name);
    if (schema.type === "integer" || schema.type === "number") return number(schema, name);
    if (schema.type === "boolean") return boolean(name);
    if (schema.type === "null") return constant(null, name);
    return anything(name);
  }

  record(schema, { label, help }) {
    const needed = new Set(schema.required ?? []);
    const parts = Object.entries(schema.properties).map(([name, each]) => {
      const field = this.field(each, name);
      return [name, needed.has(name) ? field : omitted(field, this.resolve(each), name)];
    });
    const element = make("fieldset", {}, label ? make("legend", { text: visible(label) }) : null, help ? make("p", { class: "hint", text: help }) : null, ...parts.map(([, field]) => field.element));
    return {
      element,
      read(faults) {
        const found = new Map();
        for (const [name, field] of parts) {
          const value = field.read(faults);
          if (value !== undefined) found.set(name, value);
        }
        return found;
      },
      write(value) {
        if (value === null || typeof value !== "object") return;
        for (const [name, field] of parts) if (Object.hasOwn(value, name)) field.write(value[name]);
      },
    };
  }

  union(arms, { label, help }) {
    const schemas = arms.map((each) => this.resolve(each));
    const id = fresh();
    const pick = make("select", { id }, ...schemas.map((schema, at) => make("option", { value: String(at), text: armName(schema) })));
    const place = make("div", { class: "arm" });
    const made = new Map();
    const now = () => made.get(pick.value);
    const change = () => {
      if (!made.has(pick.value)) made.set(pick.value, this.field(schemas[Number(pick.value)], ""));
      place.replaceChildren(now().element);
    };
    pick.addEventListener("change", change);
    change();
    return {
      element: make("fieldset", { class: "union" }, make("legend", {}, make("label", { for: id, text: visible(label || "one of") })), help ? make("p", { class: "hint", text: help }) : null, pick, place),
      read: (faults) => now().read(faults),
      write: (value) => {
        pick.value = String(Math.max(0, schemas.findIndex((schema) => this.fits(schema, value))));
        change();
        now().write(value);
      },
    };
  }

  /** Whether a value looks like one of a schema: enough to choose the arm of a union. */
  fits(given, value) {
    const schema = this.resolve(given);
    if (Object.hasOwn(schema, "const")) return schema.const === value;
    if (Array.isArray(schema.enum)) return schema.enum.includes(value);
    if (schema.anyOf ?? schema.oneOf) return (schema.anyOf ?? schema.oneOf).some((each) => this.fits(each, value));
    if (schema.type === undefined) return true;
    const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
    if (schema.type === "integer" || schema.type === "number") return kind === "number";
    if (schema.type !== kind) return false;
    if (kind !== "object" || !schema.properties) return true;
    return Object.entries(schema.properties).every(([name, each]) => !Object.hasOwn(this.resolve(each), "const") || this.fits(each, value[name]));
  }

  list(schema, { label, help }) {
    const fixed = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
    const growing = isSchema(schema.items) && (schema.maxItems === undefined || schema.maxItems > fixed.length);
    const least = Math.max(schema.minItems ?? 0, fixed.length);
    return this.rows({ label, help, least, most: schema.maxItems ?? Infinity, growing, word: "item" }, (at) => {
      const field = this.field(fixed[at] ?? schema.items, "");
      return { ...field, name: `${label || "item"} ${at + 1}` };
    }, {
      read: (rows, faults) => rows.map((row) => row.read(faults)),
      split: (value) => (Array.isArray(value) ? value : []),
    });
  }

  map(schema, { label, help }) {
    const settings = { label, help, least: schema.minProperties ?? 0, most: schema.maxProperties ?? Infinity, growing: true, word: "entry" };
    const row = (at) => {
      const key = text(this.resolve(schema.propertyNames), { label: "key", help: "" });
      const value = this.field(schema.additionalProperties, "value");
      return {
        element: make("div", { class: "pair" }, key.element, value.element),
        read: (faults) => [key.read(faults), value.read(faults), key],
        write: ([name, each]) => (key.write(name), value.write(each)),
        name: `${label} ${at + 1}`,
      };
    };
    return this.rows(settings, row, {
      read: (rows, faults) => {
        const found = new Map();
        for (const [name, value, key] of rows.map((each) => each.read(faults))) {
          if (found.has(name)) faults.push(key.fault("this key stands twice"));
          found.set(name, value);
        }
        return found;
      },
      split: (value) => (value !== null && typeof value === "object" ? Object.entries(value) : []),
    });
  }

  /** Fields that can be added and removed. */
  rows({ label, help, least, most, growing, word }, one, { read, split }) {
    const list = make("div", { class: "items" });
    const rows = [];
    const add = make("button", { type: "button", class: "quiet", text: `Add an ${word}` });
    const paint = () => {
      add.hidden = !growing;
      add.disabled = rows.length >= most;
      rows.forEach((row) => (row.remove.hidden = rows.length <= least));
    };
    const push = () => {
      const field = one(rows.length);
      const row = { field, remove: make("button", { type: "button", class: "quiet remove", text: "Remove", "aria-label": `Remove ${field.name}` }) };
      row.element = make("div", { class: "item", role: "group", "aria-label": field.name }, field.element, row.remove);
      row.remove.addEventListener("click", () => {
        rows.splice(rows.indexOf(row), 1);
        row.element.remove();
        paint();
        add.focus();
      });
      rows.push(row);
      list.append(row.element);
      paint();
      return row;
    };
    for (let at = 0; at < least && at < 64; at += 1) push();
    add.addEventListener("click", () => push().element.querySelector("input, textarea, select")?.focus());
    paint();
    return {
      element: make("fieldset", { class: "list" }, make("legend", { text: visible(label) || "items" }), help ? make("p", { class: "hint", text: help }) : null, list, add),
      read: (faults) => read(rows.map((row) => row.field), faults),
      write: (value) => {
        for (const row of rows.splice(0)) row.element.remove();
        for (const each of split(value)) push().field.write(each);
        while (rows.length < least) push();
        paint();
      },
    };
  }
}

function isSchema(value) {
  return value !== null && typeof value === "object";
}

function texts(value) {
  return typeof value === "string" ? visible(value) : "";
}

function armName(schema) {
  const tag = Object.values(schema.properties ?? {}).find((each) => each && Object.hasOwn(each, "const"));
  if (tag) return String(tag.const);
  if (Object.hasOwn(schema, "const")) return JSON.stringify(schema.const);
  if (schema["x-name"]) return schema["x-name"];
  if (schema.type === "null") return "nothing";
  if (Array.isArray(schema.enum)) return brief(schema.enum.map(String).join(", "), 40);
  return { string: "text", integer: "whole number", number: "number", boolean: "yes or no", array: "list", object: "record" }[schema.type] ?? "JSON";
}

/** One input with its label, help and place for what is wrong. */
function entry(input, { label, help }, read, write) {
  const id = fresh();
  input.id = id;
  const wrong = make("p", { class: "wrong", id: `${id}-wrong` });
  wrong.hidden = true;
  const hint = help ? make("p", { class: "hint", id: `${id}-hint`, text: help }) : null;
  input.setAttribute("aria-describedby", `${hint ? `${id}-hint ` : ""}${id}-wrong`);
  if (!label) input.setAttribute("aria-label", "value");
  const fault = (message) => {
    wrong.textContent = message;
    wrong.hidden = false;
    input.setAttribute("aria-invalid", "true");
    return input;
  };
  input.addEventListener("input", () => {
    wrong.hidden = true;
    input.removeAttribute("aria-invalid");
  });
  return {
    element: make("div", { class: "field" }, label ? make("label", { for: id, text: visible(label) }) : null, input, hint, wrong),
    read: (faults) => read(input, (message) => faults.push(fault(message))),
    write: (value) => write(input, value),
    fault,
  };
}

function constant(value, { label }) {
  const element = make("p", { class: "constant" }, label ? make("span", { text: `${label}: ` }) : null, make("code", { text: value === null ? "nothing" : String(value) }));
  return { element, read: () => value, write: () => {} };
}

function choice(values, name) {
  const options = values.map((value, at) => make("option", { value: String(at), text: typeof value === "string" ? visible(value) || "(empty)" : JSON.stringify(value) }));
  const write = (input, value) => (input.value = String(Math.max(0, values.findIndex((each) => each === value))));
  return entry(make("select", {}, ...options), name, (input) => values[Number(input.value)], write);
}

function boolean(name) {
  const write = (input, value) => (input.checked = value === true);
  const field = entry(make("input", { type: "checkbox" }), name, (input) => input.checked, write);
  field.element.classList.add("check");
  return field;
}

function text(schema, { label, help }) {
  const most = schema.maxLength ?? Infinity;
  const least = schema.minLength ?? 0;
  const bounds = [least ? `at least ${least}` : "", most < Infinity ? `at most ${most}` : ""].filter(Boolean).join(", ");
  const told = [help, bounds ? `${bounds} characters` : "", schema.pattern ? `matching ${brief(schema.pattern, 80)}` : "", schema.format ?? ""].filter(Boolean).join("; ");
  const input = most <= LONG_TEXT ? make("input", { type: "text", autocomplete: "off" }) : make("textarea", { rows: "2" });
  const read = (given, wrong) => {
    const length = Array.from(given.value).length;
    if (length < least) wrong(`It has ${length} characters; ${least} are the least.`);
    if (length > most) wrong(`It has ${length} characters; ${most} are the most.`);
    return given.value;
  };
  return entry(input, { label, help: told }, read, (given, value) => (given.value = typeof value === "string" ? value : ""));
}

function number(schema, { label, help }) {
  const whole = schema.type === "integer";
  const least = schema.minimum ?? schema.exclusiveMinimum;
  const most = schema.maximum ?? schema.exclusiveMaximum;
  const bounds = [least === undefined ? "" : `${schema.minimum === undefined ? "above" : "from"} ${least}`, most === undefined ? "" : `${schema.maximum === undefined ? "below" : "to"} ${most}`].filter(Boolean).join(" ");
  const told = [help, whole ? `whole number ${bounds}`.trim() : `number ${bounds}`.trim(), schema.multipleOf ? `multiple of ${schema.multipleOf}` : ""].filter(Boolean).join("; ");
  const read = (input, wrong) => {
    const given = input.value.trim();
    const value = Number(given);
    if (!(whole ? INTEGER : NUMBER).test(given)) wrong(whole ? "A whole number is wanted, such as 42." : "A number is wanted, such as 3.5.");
    else if (value < schema.minimum || value > schema.maximum || value <= schema.exclusiveMinimum || value >= schema.exclusiveMaximum) wrong(`It is out of its bounds: ${bounds}.`);
    return new Raw(given);
  };
  return entry(make("input", { type: "text", inputmode: whole ? "numeric" : "decimal", autocomplete: "off" }), { label, help: told }, read, (input, value) => (input.value = value === null || value === undefined ? "" : String(value)));
}

function anything(name) {
  const read = (input, wrong) => {
    try {
      JSON.parse(input.value);
    } catch {
      wrong("JSON is wanted, such as {\"a\": 1} or \"text\".");
    }
    return new Raw(input.value);
  };
  return entry(make("textarea", { rows: "2", spellcheck: "false" }), { ...name, help: name.help || "JSON" }, read, (input, value) => (input.value = JSON.stringify(value)));
}

/** A field that need not be given. */
function omitted(field, schema, name) {
  const id = fresh();
  const given = make("input", { type: "checkbox", id });
  const told = Object.hasOwn(schema, "default") ? `give ${name} (default: ${brief(JSON.stringify(schema.default), 40)})` : `give ${name}`;
  const paint = () => (field.element.hidden = !given.checked);
  given.addEventListener("change", paint);
  if (Object.hasOwn(schema, "default")) field.write(schema.default);
  paint();
  return {
    element: make("div", { class: "omitted" }, make("label", { for: id }, given, ` ${told}`), field.element),
    read: (faults) => (given.checked ? field.read(faults) : undefined),
    write: (value) => {
      given.checked = true;
      paint();
      field.write(value);
    },
  };
}
