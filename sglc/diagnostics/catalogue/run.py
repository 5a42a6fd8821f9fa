"""Catalogue entries: errors of running programs, and arguments that do not fit."""

from __future__ import annotations

from sglc.diagnostics.catalogue.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "E0701",
        "Truncated: a value did not fit into its token budget",
        "A hole with `max n tok`, or one that runs under `within` or `--max-tokens`, closes out along the "
        "shortest way to a complete value while there is room for it. This error says that even the "
        "shortest complete value needs more tokens than were left. What had been generated is carried as "
        "the partial text; a broken value is never returned. Raise the budget, or bound the parts of the "
        "type (`max 20 chars`, `2..4`).",
    ),
    Entry(
        "E0702",
        "Rejected: a condition did not hold",
        "An `ensure` came out false, and its retries, if it has any, were spent. The message is the text "
        "after `else`. Give the policy more attempts, tell the model about the condition, or catch it: "
        "`except Rejected`.",
    ),
    Entry(
        "E0703",
        "Refused: the model would not answer",
        "A program raises this error where it recognises a refusal: `raise Refused(reason)`.",
    ),
    Entry(
        "E0704",
        "Unsatisfiable: no value is left",
        "Every value of a hole was excluded, most often because `retry … resample` had rejected each of a "
        "few possible values, or because a choice was given an empty list at run time.",
    ),
    Entry(
        "E0705",
        "Unsupported: the model cannot do this",
        "The model has no chat template but the function has roles, its template refuses the order of the "
        "roles, or its tokenizer has no tokens for some bytes of the text. Programs raise it too: `raise "
        "Unsupported(question)`.",
    ),
    Entry(
        "E0706",
        "Timeout: the run took too long",
        "The time given by `--timeout` or `timeout_=` was over. It ends the whole run and passes every "
        "`except`. The text of the message that was being written is shown as the partial result.",
    ),
    Entry(
        "E0707",
        "Backend: the model failed",
        "The engine could not give usable logits: its queue was full, or the model gave no legal token "
        "any probability.",
    ),
    Entry(
        "E0708",
        "Budget: a bound was reached",
        "A `while` went beyond its `limit`, the program took more steps than allowed, or the conversation "
        "no longer fits into the model's context window. Shorten what is inserted, split the work over "
        "several functions (each `fn` starts a fresh conversation), or use a model with a larger window.",
    ),
    Entry(
        "E0709",
        "Cancelled: the run was interrupted",
        "Somebody pressed Ctrl-C, or the program that started the run cancelled it. Nothing is returned; "
        "the text so far is shown.",
    ),
    Entry(
        "E0710",
        "Failure: a fault in the program's own computing",
        "A division by zero, an index outside of a list, a text that is no number, calls nested too "
        "deeply, a value outside of the type of its variable, a hole without a mock in a test. It can be "
        "caught: `except Failure as fault`.",
    ),
    Entry(
        "E0723",
        "Foreign: a function of Python failed",
        "A function of an `extern py` raised an exception, or gave what is no value of its declared "
        "type. The message names module, function and reason; `sglc --traceback run` shows where in "
        "Python. It can be caught: `except Foreign as fault`. An exception with the name of an error "
        "under `raises` becomes that error.",
    ),
    Entry(
        "E0724",
        "Python that nobody has allowed",
        "A program may import modules of Python that lie in its own project if it is run from source. "
        "All others, and all of a compiled program, must be named: `--allow-py tools`, in Python "
        "`sglc.load(…, allow_py=('tools',))`. Importing a module runs its code with all rights of the "
        "user, so look at it first.",
    ),
    Entry(
        "E0711",
        "an error was raised and not caught",
        "A function raised an error that the program declares, and nothing caught it. The message shows "
        "the values of its fields. Catch it with `except`, or handle it where the function is called "
        "from.",
    ),
    Entry(
        "E0712",
        "no such function or test",
        "The program's main module has no function of that name that can be run. Parts are not run on "
        "their own: they write into the message of the function that calls them.",
    ),
    Entry(
        "E0717",
        "several functions, and none named",
        "A program is run by the name of one of its functions. The name may be left out where one is "
        "meant: the only public function, else the only one with holes, else the only one at all.",
    ),
    Entry(
        "E0713",
        "a missing argument",
        "The function has a parameter without a default, and no value was given for it.",
    ),
    Entry(
        "E0714",
        "an argument that no parameter takes",
        "The function has no parameter of that name. The nearest name is shown, or all of them.",
    ),
    Entry(
        "E0715",
        "an argument outside of its type",
        "The value is not a member of the parameter's type. The reason names the place inside the value, "
        "what was found there and what is allowed.",
    ),
    Entry(
        "E0721",
        "a model that the program names and nobody gives",
        "`using big` names a model. `--model big=MODEL`, or `models={'big': …}` in Python, says which one "
        "that is. `main` is always the run's own model. On the command line a name that the program does not "
        "use is refused too: it is a slip, or a model that would be loaded for nothing.",
    ),
    Entry(
        "E0722",
        "two models that cannot be blended",
        "`using blend(base, teacher)` draws one token from both models. So they need the same vocabulary, "
        "and both must give logits. Scripted models give texts.",
    ),
    Entry(
        "E0731",
        "not the name of a backend",
        "`--model` takes models elsewhere by a kind and what is behind a colon: `openai:NAME`, "
        "`anthropic:NAME`, `vllm:URL`, `sglang:URL`, `llama:URL`, `chat:URL#NAME`, `litellm:NAME`, "
        "`hf:NAME`, `repair:COMMAND`. An address begins with http:// or https://. `#NAME` "
        "says which model of a server is meant, where it has several.",
    ),
    Entry(
        "E0732",
        "the key of a backend is missing",
        "Keys are read from the environment only: OPENAI_API_KEY, ANTHROPIC_API_KEY, VLLM_API_KEY and so on. "
        "`key_variable` of a model in sgl.toml names another variable.",
    ),
    Entry(
        "E0733",
        "a key where others can read it",
        "Names and addresses are shown in messages, traces and recordings, so they may not have a key, a "
        "user or a query in them. And a key is not sent without encryption, unless the host is on this "
        "machine or in a private network. `plain_http = true` of a model in sgl.toml allows it elsewhere.",
    ),
    Entry(
        "E0734",
        "the package of a backend is not installed",
        "Some kinds of backends need a package that is not installed with sglc. The hint says how to get it.",
    ),
    Entry(
        "E0735",
        "a kind of backends that does not say what it can do",
        "Kinds of other packages are functions behind an entry point of the group `sglc.backends`. What such "
        "backends enforce is the function's attribute `capabilities`. Without it nothing is known of them "
        "before one is opened: `sglc check --model` needs the attribute, `sglc run` does not.",
    ),
    Entry(
        "E0736",
        "a recording that cannot be written or replayed",
        "`--record` writes a new file: one that is there already is left as it is. `--replay` reads a file "
        "that `--record` has written, of this version of the format. The reason says what is wrong with it.",
    ),
    Entry(
        "E0737",
        "options of answers that do not fit",
        "`--record`, `--replay` and `--cache-answers` are about models elsewhere that are asked over HTTP, "
        "and exclude each other: a replay sends nothing, and an answer that was kept is in no recording. The "
        "answers of models that litellm, transformers or a command asks can only be kept.",
    ),
)
