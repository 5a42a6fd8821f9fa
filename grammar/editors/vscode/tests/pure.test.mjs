// The parts of the extension that need no editor.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

const pure = createRequire(import.meta.url)("../dist/pure.cjs");

test("what `sgl.path` names is the only thing tried", () => {
  const wanted = { path: " /opt/venv/bin/python3.12 ", interpreter: "/usr/bin/python", folders: ["/w"], windows: false, home: "/h" };
  assert.deepEqual(pure.candidates(wanted), [{ program: "/opt/venv/bin/python3.12", first: ["-P", "-m", "sglc"] }]);
  assert.deepEqual(pure.candidates({ ...wanted, path: "~/bin/sglc" }), [{ program: "/h/bin/sglc", first: [] }]);
  assert.equal(pure.candidates({ ...wanted, path: "${workspaceFolder}/x" })[0].program, "/w/x");
});

test("without it the interpreter, the folder's environment and the search path are tried in turn", () => {
  const wanted = { path: "", interpreter: "/e/bin/python", folders: ["/w"], windows: false, home: "/h" };
  const programs = pure.candidates(wanted).map((each) => each.program);
  assert.deepEqual(programs, ["/e/bin/python", "/w/.venv/bin/python", "/w/venv/bin/python", "sglc", "python3"]);
  const windows = pure.candidates({ ...wanted, interpreter: "", folders: ["C:\\w"], windows: true });
  assert.equal(windows[0].program, "C:\\w\\.venv\\Scripts\\python.exe");
});

test("no folder means nothing of the workspace is tried", () => {
  const wanted = { path: "", interpreter: "", folders: [], windows: false, home: "/h" };
  assert.deepEqual(pure.candidates(wanted).map((each) => each.program), ["sglc", "python3"]);
});

test("a hole is found from its inner place to its brace, past braces and texts", () => {
  const text = 'x ?{a: str where a != "}" } y ?{b: {str: int}} ?{open';
  const holes = pure.holesOf(text).map(({ start, end }) => text.slice(start, end));
  assert.deepEqual(holes, ['?{a: str where a != "}" }', "?{b: {str: int}}", "?{open"]);
});

test("columns of traces count characters, offsets UTF-16", () => {
  const text = "a\n😀 ?{n: int}\n";
  assert.equal(text.slice(pure.offsetOf(text, 2, 5)), "n: int}\n");
  assert.equal(pure.offsetOf(text, 99, 1), text.length);
  assert.equal(pure.offsetOf(text, 1, 99), 1);
});

test("tests and functions are found by their lines", () => {
  const text = 'pub fn f(a: int) -> int:\n    return a\n\ntest "it \\"works\\"" tags slow:\n    expect f(1) == 1\nfn g ():\n';
  assert.deepEqual(pure.testsOf(text), [{ title: 'it "works"', line: 3 }]);
  assert.deepEqual(pure.functionsIn(text), [{ name: "f", line: 0 }, { name: "g", line: 5 }]);
  assert.equal(pure.functionAt(text, 4), "f");
  assert.equal(pure.functionAt("\n\nfn f():", 1), undefined);
  assert.equal(pure.wordsOf("not here"), '"not here"');
  assert.equal(pure.wordsOf('a "b"'), "'a \"b\"'");
});

test("events of a trace become what is shown", () => {
  const line = '{"v": 1, "event": "token", "hole": "f.n", "text": "7", "logprob": -0.5, "mask": 9, "top": [["7", -0.5, true], ["x", -1, false]], "span": "a.sgl:2:5"}';
  const found = pure.shownOf(line);
  assert.equal(found.kind, "token");
  assert.equal(found.mask, 9);
  assert.ok(Math.abs(found.probability - Math.exp(-0.5)) < 1e-12);
  assert.deepEqual(found.top.map((each) => each.legal), [true, false]);
  for (const bad of ["", "{", "[]", "null", "1", '{"v": 2, "event": "token"}', '{"v": 1, "event": "new"}', '{"v": 1}']) {
    assert.equal(pure.shownOf(bad), undefined);
  }
  assert.equal(pure.shownOf(JSON.stringify({ v: 1, event: "text", text: "x".repeat(1e6) })).text.length, pure.MOST_TEXT);
  const damaged = pure.shownOf('{"v": 1, "event": "token", "text": 5, "logprob": "a", "top": [1, null, ["a"]], "mask": {}}');
  assert.deepEqual([damaged.text, damaged.probability, damaged.mask, damaged.top.length], ["", undefined, undefined, 3]);
});

test("shades go from sure to surprising", () => {
  assert.deepEqual([1, 0.9, 0.7, 0.4, 0.2, 0.05, 0.001, 0].map(pure.shadeOf), [0, 0, 1, 2, 3, 4, 5, 5]);
});

test("lines come whole, however their pieces are cut", () => {
  const text = '{"a": 1}\n{"b": 2}\n\n{"c"';
  for (let size = 1; size < 12; size += 1) {
    const lines = new pure.Lines();
    const found = [];
    for (let at = 0; at < text.length; at += size) {
      found.push(...lines.take(text.slice(at, at + size)));
    }
    assert.deepEqual(found, ['{"a": 1}', '{"b": 2}']);
  }
});

test("a place may have colons in its path", () => {
  assert.deepEqual(pure.placeOf("C:\\a.sgl:3:14"), { file: "C:\\a.sgl", line: 3, column: 14 });
  assert.equal(pure.placeOf("nowhere"), undefined);
});

test("arguments keep their texts, and become JSON for the debugger by their types", () => {
  const parameters = [
    { name: "s", type: "str", optional: false },
    { name: "n", type: "int in 1..5", optional: false },
    { name: "b", type: "bool", optional: true, choices: ["true", "false"] },
    { name: "e", type: "Mood", optional: false, choices: ["calm"] },
    { name: "l", type: "[int]", optional: false },
  ];
  const values = { s: "12", n: "3", b: "true", e: "calm", l: "[1, 2]" };
  assert.deepEqual(pure.jsonArguments(values, parameters), { s: "12", n: 3, b: true, e: "calm", l: [1, 2] });
  assert.deepEqual(pure.argumentOptions({ s: "a=b -- c", n: "3" }), ["--arg", "s=a=b -- c", "--arg", "n=3"]);
  assert.match(pure.problemOf("x", parameters[1]), /whole number/);
  assert.match(pure.problemOf("9", parameters[1]), /from 1 to 5/);
  assert.equal(pure.problemOf("5", parameters[1]), undefined);
  assert.equal(pure.problemOf("anything", parameters[0]), undefined);
});

test("what a server answers is taken as far as it has the form", () => {
  assert.deepEqual(pure.functionsOf(undefined), []);
  assert.deepEqual(pure.functionsOf({ functions: [3, { name: "f", parameters: [null, { name: "a", type: "str" }] }] }), [
    { name: "f", signature: "f", parameters: [{ name: "a", type: "str", optional: false }] },
  ]);
});

test("prompts are parted into what is alike in all calls and what is not", () => {
  const answer = {
    arguments: { theme: "<theme>", n: "1" },
    conversations: [
      {
        path: ["crew", "part"],
        branch: "0",
        pieces: [
          { text: "<system>\n" },
          { role: "system" },
          { text: "You invent." },
          { end: "system" },
          { role: "user" },
          { text: "Theme: <theme>!" },
          { unknown: "?{m: int}" },
          { hole: "x", text: "7" },
        ],
        stopped: { condition: "m > 3", holes: ["m"], at: "a.sgl:1:1" },
      },
    ],
  };
  const [found] = pure.conversationsOf(answer);
  assert.equal(found.title, "crew › part, branch 0");
  assert.deepEqual(found.pieces, [
    { kind: "role", text: "system" },
    { kind: "shared", text: "You invent." },
    { kind: "role", text: "user" },
    { kind: "shared", text: "Theme: " },
    { kind: "given", text: "<theme>" },
    { kind: "constant", text: "!" },
    { kind: "unknown", text: "?{m: int}" },
    { kind: "value", text: "7" },
  ]);
  assert.match(found.remarks[0], /m > 3/);
  assert.deepEqual(pure.conversationsOf(null), []);
});

test("a failed expectation tells what was wanted and what came", () => {
  assert.deepEqual(pure.comparedIn('    expect f("a") == 4  # why', 'f("a") = 3'), { expected: "4", actual: "3" });
  assert.deepEqual(pure.comparedIn("expect it < limit", "it = 5\nlimit = 4"), { expected: "< 4", actual: "5" });
  assert.deepEqual(pure.comparedIn("expect ok", "ok = false"), {});
  const report = {
    tests: [
      {
        title: "t",
        passed: false,
        seconds: 0.5,
        diagnostics: [
          { severity: "error", message: "the expectation does not hold", reason: "a = 3", hint: "", span: { start: { line: 2 } } },
          { severity: "warning", message: "never mind" },
        ],
      },
    ],
  };
  const [found] = pure.reportsOf(JSON.stringify(report), "x\nexpect a == 4\n");
  assert.deepEqual(found.failures, [
    { message: "the expectation does not hold\na = 3", line: 2, expected: "4", actual: "3" },
  ]);
  assert.equal(pure.reportsOf("error[E0201]", ""), undefined);
});

test("pages load nothing but their own script and sheets, and titles are no markup", () => {
  const made = pure.page({ title: '</title><script>"x"', source: "vscode-resource:", nonce: "abc", script: "run.js", sheets: ["a.css", "b.css"], body: "" });
  assert.ok(!made.includes("</title><script>\""));
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(made)[1];
  assert.equal(
    policy.replaceAll("&#39;", "'"),
    "default-src 'none'; style-src vscode-resource:; script-src 'nonce-abc'; base-uri 'none'; form-action 'none'; " +
      "require-trusted-types-for 'script'; trusted-types 'none'",
  );
  assert.ok(!/unsafe/.test(policy));
});

test("a program is looked for from its trace upwards, and never outside of the open folders", () => {
  const from = (name) => pure.originsOf(name, "/w/runs/today/run.jsonl", ["/w", "/v"]);
  assert.deepEqual(from("a/b.sgl"), ["/w/runs/today/a/b.sgl", "/w/runs/a/b.sgl", "/w/a/b.sgl", "/v/a/b.sgl"]);
  assert.deepEqual(from("../b.sgl"), ["/w/runs/b.sgl", "/w/b.sgl"]);
  assert.deepEqual(pure.originsOf("b.sgl", "/tmp/run.jsonl", ["/w"]), ["/w/b.sgl"]);
  const outside = ["/etc/passwd", "/etc/a.sgl", "../../../../etc/a.sgl", "C:\\a.sgl", "\\\\host\\a.sgl", "a.py", ".bashrc", "", "a\0.sgl", "<repl>"];
  for (const name of outside) {
    assert.deepEqual(from(name), [], name);
  }
  assert.ok(pure.isInside("/w", "/w") && pure.isInside("/w", "/w/..a") && !pure.isInside("/w", "/wx") && !pure.isInside("/w", "/"));
});

test("a text has the digest of a run whatever the ends of its lines", () => {
  const digest = "703351d5a0aaeeec809404a1d7b53e8af09f9a8b5e5d26c30f1359efb1c99e32";
  const text = "fn f(a: int) -> int:\n    user: | ${a}\n    assistant: | ?{n: int in 1..9}\n    return n\n";
  assert.equal(pure.digestOf(text), digest);
  assert.equal(pure.digestOf("\ufeff" + text.replaceAll("\n", "\r\n")), digest);
  assert.notEqual(pure.digestOf(text + " "), digest);
});

test("of the beginning of a trace the program and its digests are taken as far as they have the form", () => {
  const digest = "0".repeat(64);
  const start = JSON.stringify({ v: 1, event: "start", program: "a.sgl", sources: { "a.sgl": digest, b: 3, c: "x" } });
  assert.deepEqual(pure.startOf(`{broken\nnull\n[]\n${start}\n`), { program: "a.sgl", sources: { "a.sgl": digest } });
  for (const bad of ["", "{", '{"event": "start"}', '{"event": "start", "program": 7}', "\n".repeat(1e5) + start]) {
    assert.deepEqual(pure.startOf(bad), { program: "", sources: {} });
  }
  for (const bad of [undefined, null, 7, "a", []]) {
    assert.deepEqual(pure.sourcesOf(bad), {});
  }
});
