"""Catalogue entries: the command line: files, arguments as text, results."""

from __future__ import annotations

from sglc.diagnostics.catalogue.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "E0801",
        "no such file",
        "The file that the command names does not exist, or is a folder. If a file beside it has "
        "a similar name, the message says so.",
    ),
    Entry(
        "E0802",
        "a file cannot be read",
        "The file is there, but it may not be read, is larger than any program, or is not UTF-8 "
        "text. Compiled programs end in `.sglb`; everything else is read as source.",
    ),
    Entry(
        "E0803",
        "not an argument",
        "`--arg` takes NAME=VALUE, each name once. The value is read by the type in the "
        "signature: texts, numbers and enum members as they are, records, lists and maps as JSON.",
    ),
    Entry(
        "E0804",
        "not the JSON that is wanted",
        "`--args` reads one JSON object with the arguments by name, `--data` one such object a line, "
        "`sglc show` and other commands that read a trace one event a line. NaN and Infinity are not JSON. "
        "The message names the line.",
    ),
    Entry(
        "E0805",
        "a file cannot be written",
        "The folder does not exist, may not be written to, or the disk is full. Rows that were "
        "finished before are kept, and the same command goes on with the rest.",
    ),
    Entry(
        "E0806",
        "no such code",
        "`sglc explain` without a code lists all of them.",
    ),
    Entry(
        "E0807",
        "the model cannot be had",
        "The model is not where its name says, its files are missing or damaged, or its kind "
        "cannot be run. `sglc models` lists what is at hand.",
    ),
    Entry(
        "E0808",
        "an expectation does not hold",
        "A condition behind `expect` was false, or the error that was expected did not come. The "
        "message shows both sides of the comparison, the calls in them, the variables of the test, and the "
        "seed that repeats it.",
    ),
    Entry(
        "W0222",
        "a mock that no hole asked for",
        "The test passes, and a `mock` in it answered nothing: the hole was not reached, or was "
        "answered by the mocks before.",
    ),
    Entry(
        "W0223",
        "a test that expects nothing",
        "The test ran to its end, and no `expect` was asked: it can only fail by an error.",
    ),
    Entry(
        "E0809",
        "no such test",
        "No test in the files is chosen by `-k`, `--tag` and `--not-tag`; or `sglc debug --test`, which "
        "takes one test, means none or several.",
    ),
    Entry(
        "E0810",
        "a fault of sglc in one row",
        "A row of `--data` met an error that no program may cause. It is recorded as failed with this code, "
        "the other rows go on, and the command tells the first one at its end. `--retry-errors` runs such "
        "rows again.",
    ),
    Entry(
        "E0811",
        "metrics cannot be served",
        "`--metrics [ADDRESS]:PORT` listens on that port while the command runs; without an address, on this "
        "machine only. The port is taken or may not be used.",
    ),
    Entry(
        "E0812",
        "a package is missing",
        "Metrics and spans are written by packages that sglc does not need otherwise. The extra `observe` "
        "installs them.",
    ),
    Entry(
        "E0813",
        "the results are in use",
        "One run at a time writes to the file that `--out` names: two would write the same rows twice. "
        "The message names the process that does, where the system tells. The lock ends with that process, "
        "however it ends; nothing has to be removed by hand.",
    ),
    Entry(
        "E0814",
        "no such hole",
        "`sglc explain mask` and `sglc prompt` take a hole as `function.hole`, or by its own name where only "
        "one hole has it. The message lists the holes of the program.",
    ),
    Entry(
        "E0815",
        "no mask without values of the run",
        "What the hole may be filled with is made from values of the run: the list behind `one of`, the text "
        "behind `span of`, the parameters of a grammar, the options of a `choose`. Its mask is known only in "
        "the run. `sglc build FILE --emit constraint` shows what is known before.",
    ),
    Entry(
        "E0816",
        "no such token",
        "A token is asked about by its text, or with `--token-id` by its number in the vocabulary of the "
        "model.",
    ),
    Entry(
        "E0817",
        "the target cannot say this",
        "`sglc build --emit TARGET` writes what accepts the same texts as the program, or nothing: it never "
        "approximates in silence. The message names the part of the language that the target has no words "
        "for, and where it stands. With `--allow-wider` the target accepts more there, where it can, and a "
        "warning (W0224) says what it has instead.",
    ),
    Entry(
        "E0818",
        "not a value of the hole",
        "`sglc prompt --fill` takes HOLE=VALUE. The value is read by the type of the hole as `--arg` reads "
        "arguments: texts, numbers and enum members as they are, records, lists and maps as JSON.",
    ),
    Entry(
        "E0819",
        "not a trace of this program",
        "`--trace` of `sglc prompt` and `sglc plan` reads what `sglc run … --trace` has written of the same "
        "program: one JSON object a line. The message names the line.",
    ),
    Entry(
        "E0820",
        "another version of the trace format",
        "Each line of a trace has `v`, the version of its format. A new number means that the meaning of a "
        "key has changed, so lines of other versions are left out. The sglc that wrote them can show them.",
    ),
    Entry(
        "E0821",
        "a run that goes another way than it went",
        "`golden f(x)` holds a call against what `sglc test --update-golden` has kept of it: what each hole "
        "was asked, a digest of its legal texts, what it was filled with, and the value. `replay` runs a "
        "trace again and holds every step against it. The message shows the lines that differ, `-` as it was "
        "and `+` as it is.",
    ),
    Entry(
        "E0822",
        "recorded runs that cannot be read",
        "A golden file is JSON that `sglc test --update-golden` has written; a trace is what `sglc run … "
        "--trace` has written of one whole run, with the arguments of its call.",
    ),
    Entry(
        "E0823",
        "no selection of tests",
        "`-k` takes words that a title contains, with `and`, `or`, `not` and parentheses. What contains one "
        "of these words itself stands in quotes.",
    ),
    Entry(
        "E0824",
        "masks that fight the model too much",
        "Pressure is -log of the probability that the model gave all legal tokens together, in nats a drawn "
        "token: 0.3 where it gives what is legal 74 %. `sglc test --pressure 0.3` holds each hole of the "
        "runs that tests replay against the bound. Such a prompt does not show the form of its answers, or "
        "not so that this model understands it. A bound that no replayed run was held against fails, too.",
    ),
    Entry(
        "E0825",
        "an sgl.toml that cannot be used",
        "`sgl.toml` is TOML with the tables `[project]`, `[models]`, `[models.NAME]`, `[run]` and "
        "`[engine]`. A key that it does not have, or a value that an option would not take, ends the "
        "command. No secrets are read from it: `key_variable` of a model names the environment variable "
        "that has its key.",
    ),
    Entry(
        "E0827",
        "a backend guarantees less than is required",
        "`sglc check --model BACKEND --require LEVEL` holds every hole against what the backend enforces, "
        "`sglc run --require LEVEL` those that a run may come to, `sglc.load(…, require=LEVEL)` all: "
        "`exact` the same texts, `value` the same values, `wider` more than these, `asked` nothing, "
        "`refused` that the hole cannot be filled there. The message names the hole, its level and what is "
        "lost; the hint says what the program may write in its place.",
    ),
    Entry(
        "E0828",
        "functions that cannot be served",
        "`sglc serve` answers calls of the functions that have `pub` before them, by their names: a program "
        "without one has nothing to serve, and two programs cannot both have a function of the same name. "
        "Without a program it serves a model of this machine; one elsewhere answers its clients itself.",
    ),
    Entry(
        "E0829",
        "keys that cannot be used",
        "`sglc serve --keys FILE` reads TOML with a table `[keys.NAME]` for each key: `digest`, and as far "
        "as they are wanted `tenant`, `rate` (requests a minute), `tokens_a_day` and `priority`. `sglc serve "
        "--new-key NAME` makes a key and its table. A server that other machines can reach has keys.",
    ),
    Entry(
        "E0832",
        "a queue that cannot be used",
        "`sglc serve --queue URL` takes calls from Redis, `redis://[USER:PASSWORD@]HOST[:PORT][/DB]` "
        "(`rediss` with TLS), or from NATS JetStream, `nats://[USER:PASSWORD@]HOST[:PORT]` (`tls` with TLS). "
        "Behind `?` may stand `name`, `attempts`, `idle` and `keep`. The broker is asked when the command "
        "starts.",
    ),
    Entry(
        "E0836",
        "numbers of fields that cannot be kept",
        "`sglc proto FILE` keeps the numbers of fields and members in `FILE.proto.lock`, so that clients "
        "made from an earlier `.proto` read messages as they did. A field whose type would be read as "
        "another one under its number is an error: give it another name, and the old one is reserved. Where "
        "no client has the field, delete its line in the lock. A lock that cannot be read is told of, too.",
    ),
    Entry(
        "E0840",
        "no workers for this",
        "`--workers` divides calls among processes, each with an engine of its own (see `docs/cluster.md`). "
        "They are for models of this machine: calls of models elsewhere go on side by side in one process. A "
        "worker that dies is started again; that is given up where many die before they answer anything, for "
        "which too little memory is the most frequent reason. Workers on other machines need the same "
        "version of sglc, and the model under the same name.",
    ),
    Entry(
        "E0844",
        "what cannot be typed at a prompt",
        "What is typed at `sglc repl` or in a cell that begins with `%%sgl` has no function around it, so "
        "that `return` has nothing to leave. All that is typed is one conversation: its roles go on from "
        "what was said, and tools belong to a conversation from its beginning. A `fn` can do all of it: "
        "declare one and call it.",
    ),
    Entry(
        "W0224",
        "the target accepts more here",
        "`--allow-wider` was given, and the target has no words for this part of the language. What it "
        "accepts in its place is in the message; values must be checked against the program's type.",
    ),
    Entry(
        "W0250",
        "a hole that the tokens of a model cannot write",
        "Told where a model is named: `sglc check --model NAME`, `sglc build --model NAME`. A model whose "
        "vocabulary has no token for some byte may come to a place of a legal text that no token leads on "
        "from, or has a value of a hole that no tokens write. The example is the shortest such text. Models "
        "with a token for each byte, as nearly all have, write every text.",
    ),
)
