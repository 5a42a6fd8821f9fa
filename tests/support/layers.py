"""The layer law: which room may import which, and which packages."""

from __future__ import annotations

LEAVES = {
    "sglc.immutable",
    "sglc.source",
    "sglc.callables",
    "sglc.diagnostics",
    "sglc.automata",
    "sglc.types",
    "sglc.values",
}


CHECK = {
    "sglc.check.core",
    "sglc.check.types",
    "sglc.check.names",
    "sglc.check.patterns",
    "sglc.check.proofs",
    "sglc.check.expressions",
    "sglc.check.declarations",
    "sglc.check.holes",
    "sglc.check.statements",
}


CHECKED = LEAVES | {"sglc.syntax", "sglc.library"}


BELOW_EXPRESSIONS = CHECKED | {"sglc.check.core", "sglc.check.types", "sglc.check.names"}


COMPILE = LEAVES | {
    "sglc.options",
    "sglc.cfg",
    "sglc.grammar",
    "sglc.stdlib",
    "sglc.lalr",
    "sglc.syntax",
    "sglc.format",
    "sglc.importers",
    "sglc.library",
    "sglc.check",
    "sglc.check.core",
    "sglc.ir",
    "sglc.lower",
    "sglc.passes",
    "sglc.advice",
    "sglc.analysis",
    "sglc.bytecode",
    "sglc.emit",
    "sglc.check.show_types",
}


RUN = LEAVES | {"sglc.bytecode", "sglc.kernels", "sglc.cache_files"}


BELOW_ENGINE = RUN | {
    "sglc.runtime.errors",
    "sglc.runtime.byte_level",
    "sglc.runtime.mask",
    "sglc.runtime.chat",
    "sglc.runtime.tokenizer",
}


BELOW_DECODING = BELOW_ENGINE | {
    "sglc.runtime.model",
    "sglc.runtime.executor",
    "sglc.runtime.kv",
    "sglc.runtime.engine",
}


BELOW_VM = BELOW_DECODING | {"sglc.runtime.decoding"}


RUNTIME = BELOW_VM | {
    "sglc.runtime.bounds",
    "sglc.runtime.vm",
    "sglc.runtime.backends.filling",
    "sglc.runtime.beginnings",
    "sglc.runtime.served_models",
    "sglc.runtime.arguments",
    "sglc.runtime.results",
    "sglc.runtime.session",
}


WHOLE = (
    COMPILE
    | RUNTIME
    | {
        "sglc.runtime.preview",
        "sglc.runtime.shrinking",
        "sglc.plan",
        "sglc.driver",
        "sglc.compiled",
        "sglc.targets",
        "sglc.targets.projection",
        "sglc.runtime.backends",
        "sglc.kernels",
        "sglc.runtime.metrics",
        "sglc.runtime.serve",
        "sglc.runtime.serve.mcp",
        "sglc.runtime.serve.openai",
        "sglc.runtime.serve.ui",
        "sglc.runtime.serve.grpc",
        "sglc.targets.proto",
        "sglc.runtime.cluster",
        "sglc.runtime.serve.queue",
        "sglc.runtime.repair",
        "sglc.viewer",
        "sglc.recorded",
        "sglc.project",
    }
)


LAW: dict[str, set[str]] = {
    "sglc.immutable": set(),
    "sglc.source": {"sglc.immutable"},
    "sglc.callables": {"sglc.immutable"},
    "sglc.options": set(),
    "sglc.cache_files": set(),
    "sglc.diagnostics": {"sglc.source"},
    "sglc.automata": {"sglc.immutable"},
    "sglc.types": {"sglc.immutable", "sglc.automata", "sglc.diagnostics", "sglc.cfg", "sglc.schema"},
    "sglc.values": {"sglc.automata", "sglc.types"},
    "sglc.schema": {"sglc.automata"},
    "sglc.cfg": {"sglc.source", "sglc.diagnostics", "sglc.automata"},
    "sglc.grammar": set(),
    "sglc.stdlib": set(),
    "sglc.lalr": {"sglc.immutable", "sglc.cache_files"},
    "sglc.syntax": {
        *("sglc.immutable", "sglc.source", "sglc.diagnostics", "sglc.cfg", "sglc.grammar", "sglc.lalr"),
    },
    "sglc.format": {"sglc.source", "sglc.diagnostics", "sglc.lalr", "sglc.syntax"},
    "sglc.highlight": {"sglc.immutable", "sglc.syntax"},
    "sglc.importers": {"sglc.automata", "sglc.types", "sglc.lalr"},
    "sglc.library": {"sglc.immutable", "sglc.source", "sglc.diagnostics", "sglc.stdlib"},
    "sglc.check.core": CHECKED,
    "sglc.check.types": CHECKED | {"sglc.check.core", "sglc.importers"},
    "sglc.check.names": CHECKED | {"sglc.check.core", "sglc.check.types"},
    "sglc.check.patterns": BELOW_EXPRESSIONS,
    "sglc.check.expressions": BELOW_EXPRESSIONS,
    "sglc.check.declarations": BELOW_EXPRESSIONS | {"sglc.check.expressions", "sglc.cfg"},
    "sglc.check.proofs": BELOW_EXPRESSIONS | {"sglc.check.expressions"},
    "sglc.check.holes": BELOW_EXPRESSIONS
    | {"sglc.check.expressions", "sglc.check.proofs", "sglc.check.declarations"},
    "sglc.check.statements": BELOW_EXPRESSIONS
    | {
        *("sglc.check.expressions", "sglc.check.holes", "sglc.check.patterns"),
        *("sglc.check.declarations", "sglc.check.proofs"),
    },
    "sglc.check": CHECKED | CHECK,
    "sglc.ir": LEAVES,
    "sglc.lower": LEAVES | {"sglc.syntax", "sglc.format", "sglc.check.core", "sglc.ir", "sglc.options"},
    "sglc.advice": LEAVES
    | {
        *("sglc.library", "sglc.syntax", "sglc.check", "sglc.check.core"),
        *("sglc.ir", "sglc.lower", "sglc.passes", "sglc.analysis"),
    },
    "sglc.analysis": LEAVES | {"sglc.ir", "sglc.bytecode", "sglc.values"},
    "sglc.passes": {"sglc.analysis", "sglc.automata", "sglc.ir", "sglc.options", "sglc.types", "sglc.values"},
    "sglc.bytecode": LEAVES,
    "sglc.emit": LEAVES | {"sglc.ir", "sglc.bytecode", "sglc.analysis"},
    "sglc.check.show_types": COMPILE,
    "sglc.targets": LEAVES
    | {
        "sglc.syntax",
        "sglc.format",
        "sglc.check.core",
        "sglc.ir",
        "sglc.cfg",
        "sglc.schema",
        "sglc.check.show_types",
    }
    | {"sglc.targets.projection"},
    "sglc.targets.projection": LEAVES | {"sglc.bytecode", "sglc.cfg", "sglc.schema"},
    "sglc.targets.proto": LEAVES | {"sglc.bytecode"},
    "sglc.driver": COMPILE | {"sglc.targets", "sglc.targets.projection"},
    "sglc.compiled": LEAVES
    | {"sglc.bytecode", "sglc.cache_files", "sglc.driver", "sglc.library", "sglc.options", "sglc.passes"},
    "sglc.kernels": {"sglc.cache_files"},
    "sglc.kernels.triton": set(),
    "sglc.runtime.errors": LEAVES | {"sglc.bytecode"},
    "sglc.runtime.byte_level": set(),
    "sglc.runtime.mask": RUN | {"sglc.schema", "sglc.cfg", "sglc.runtime.byte_level"},
    "sglc.runtime.adapters": RUN | {"sglc.kernels.triton", "sglc.runtime.mask"},
    "sglc.runtime.chat": RUN | {"sglc.runtime.errors", "sglc.runtime.chat_sandbox"},
    "sglc.runtime.chat_sandbox": set(),
    "sglc.runtime.tokenizer": RUN
    | {"sglc.runtime.errors", "sglc.runtime.byte_level", "sglc.runtime.mask", "sglc.runtime.chat"},
    "sglc.runtime.model": BELOW_ENGINE,
    "sglc.runtime.executor": BELOW_ENGINE | {"sglc.runtime.model", "sglc.runtime.kv", "sglc.kernels.triton"},
    "sglc.runtime.kv": {"sglc.cache_files"},
    "sglc.runtime.engine": BELOW_ENGINE | {"sglc.runtime.model", "sglc.runtime.executor", "sglc.runtime.kv"},
    "sglc.runtime.decoding": BELOW_DECODING,
    "sglc.runtime.bounds": BELOW_VM,
    "sglc.runtime.repair": BELOW_VM | {"sglc.schema"},
    "sglc.runtime.vm": BELOW_VM,
    "sglc.runtime.debug": BELOW_VM | {"sglc.runtime.vm"},
    "sglc.debug": RUNTIME
    | {*("sglc.runtime.debug", "sglc.driver", "sglc.options", "sglc.syntax", "sglc.check.core")},
    "sglc.runtime.backends": BELOW_VM
    | {"sglc.runtime.repair", "sglc.runtime.adapters", "sglc.targets.projection", "sglc.cfg", "sglc.project"},
    "sglc.runtime.backends.filling": BELOW_VM
    | {"sglc.runtime.backends", "sglc.runtime.repair", "sglc.targets.projection", "sglc.project"},
    "sglc.runtime.served_models": BELOW_VM
    | {"sglc.runtime.vm", "sglc.runtime.backends.filling", "sglc.targets.projection"},
    "sglc.runtime.arguments": LEAVES | {"sglc.bytecode", "sglc.runtime.errors"},
    "sglc.runtime.results": {
        *("sglc.bytecode", "sglc.types", "sglc.runtime.errors", "sglc.runtime.decoding", "sglc.runtime.vm"),
    },
    "sglc.runtime.beginnings": BELOW_VM | {"sglc.runtime.served_models"},
    "sglc.runtime.session": RUNTIME,
    "sglc.runtime.preview": RUNTIME | {"sglc.runtime.chat", "sglc.runtime.tokenizer"},
    "sglc.runtime.shrinking": RUNTIME,
    "sglc.runtime.metrics": RUNTIME,
    "sglc.runtime": set(),
    "sglc.runtime.serve": RUNTIME | {"sglc.runtime.serve.keeping"},
    "sglc.runtime.serve.keeping": set(),
    "sglc.runtime.serve.mcp": RUNTIME | {"sglc.runtime.serve"},
    "sglc.runtime.serve.ui": RUNTIME
    | {"sglc.runtime.serve", "sglc.runtime.backends", "sglc.runtime.metrics"},
    "sglc.runtime.serve.queue": RUNTIME | {"sglc.runtime.serve"},
    "sglc.runtime.serve.openai": RUNTIME | {"sglc.runtime.serve", "sglc.cfg"},
    "sglc.runtime.serve.grpc": RUNTIME
    | {"sglc.runtime.serve", "sglc.runtime.serve.keeping", "sglc.targets.proto"},
    "sglc.runtime.cluster": RUNTIME
    | {"sglc.runtime.preview", "sglc.runtime.metrics", "sglc.runtime.tokenizer", "sglc.externs"}
    | {"sglc.runtime.serve", "sglc.runtime.serve.openai"},
    "sglc.plan": LEAVES
    | {"sglc.project", "sglc.bytecode", "sglc.ir", "sglc.analysis", "sglc.values"}
    | {"sglc.runtime.bounds", "sglc.runtime.mask", "sglc.runtime.decoding", "sglc.runtime.errors"},
    "sglc.viewer": {"sglc.diagnostics"},
    "sglc.project": {"sglc.source", "sglc.diagnostics"},
    "sglc.recorded": RUNTIME | {"sglc.viewer"},
    "sglc.frontend": {
        "sglc.source",
        "sglc.diagnostics",
        "sglc.library",
        "sglc.syntax",
        "sglc.callables",
    },
    "sglc.service": COMPILE
    | CHECK
    | {
        *("sglc.plan", "sglc.project", "sglc.driver", "sglc.runtime.bounds", "sglc.runtime.mask"),
        *("sglc.runtime.decoding", "sglc.runtime.vm", "sglc.runtime.errors", "sglc.runtime.tokenizer"),
        *("sglc.runtime.model", "sglc.runtime.preview"),
    },
    "sglc.lsp": WHOLE | {"sglc.format", "sglc.service", "sglc.testing"},
    "sglc.testing": WHOLE,
    "sglc.python": LEAVES
    | {"sglc.bytecode", "sglc.driver", "sglc.schema", "sglc.frontend"}
    | {"sglc.runtime.session", "sglc.runtime.results", "sglc.runtime.vm"}
    | {"sglc.runtime.engine", "sglc.runtime.errors"}
    | {"sglc.runtime.mask", "sglc.runtime.repair", "sglc.runtime.backends", "sglc.runtime.backends.filling"}
    | {"sglc.runtime.metrics"}
    | {"sglc.project", "sglc.targets.projection", "sglc.debug"},
    "sglc.compatibility": LEAVES | {"sglc.bytecode"},
    "sglc.externs": LEAVES
    | {"sglc.bytecode", "sglc.library", "sglc.python", "sglc.runtime.errors", "sglc.runtime.vm"},
    "sglc.api": WHOLE | {"sglc.python", "sglc.externs", "sglc.debug"},
    "sglc.importer": {"sglc.api", "sglc.library", "sglc.python", "sglc.types"},
    "sglc.pytest_plugin": {
        *("sglc.bytecode", "sglc.compiled", "sglc.diagnostics", "sglc.library", "sglc.options"),
        *("sglc.recorded", "sglc.runtime.errors", "sglc.runtime.session", "sglc.testing"),
    },
    "sglc.decorators": WHOLE | {"sglc.frontend", "sglc.python", "sglc.api", "sglc.debug"},
    "sglc.repl": COMPILE
    | RUNTIME
    | {"sglc.driver", "sglc.externs", "sglc.project", "sglc.python", "sglc.runtime.backends"}
    | {"sglc.service"},
    "sglc.notebook": WHOLE | {"sglc.repl", "sglc.python", "sglc.api", "sglc.externs"},
    "sglc.commands": WHOLE
    | {"sglc.debug", "sglc.runtime.debug", "sglc.testing", "sglc.externs", "sglc.compatibility"}
    | {"sglc.lsp", "sglc.repl"},
    "sglc.cli": WHOLE | {"sglc.testing", "sglc.commands"},
    "sglc.__main__": {"sglc.cli"},
    "sglc": {"sglc.api", "sglc.python", "sglc.decorators"},
}
"""Room to the rooms it may import."""


THIRD_PARTY: dict[str, set[str]] = {
    "lark": {"sglc.lalr"},
    "textual": {"sglc.debug"},
    "llvmlite": {"sglc.kernels"},
    "torch": {
        *("sglc.runtime.model", "sglc.runtime.executor", "sglc.runtime.adapters", "sglc.kernels.triton"),
        "sglc.runtime.backends",
    },
    "transformers": {
        *("sglc.runtime.model", "sglc.runtime.executor", "sglc.runtime.adapters"),
        "sglc.runtime.backends",
    },
    "triton": {"sglc.kernels.triton"},
    "safetensors": {"sglc.runtime.model", "sglc.runtime.executor"},
    "tokenizers": {"sglc.runtime.tokenizer", "sglc.runtime.mask", "sglc.runtime.model"},
    "jinja2": {"sglc.runtime.chat", "sglc.runtime.chat_sandbox", "sglc.viewer"},
    "prometheus_client": {"sglc.runtime.metrics"},
    "opentelemetry": {"sglc.runtime.metrics"},
    "pytest": {"sglc.pytest_plugin"},
    "starlette": {
        "sglc.runtime.serve",
        "sglc.runtime.serve.grpc",
        "sglc.runtime.serve.mcp",
        "sglc.runtime.serve.openai",
        "sglc.runtime.serve.queue",
        "sglc.runtime.serve.ui",
    },
    "mcp": {"sglc.runtime.serve.mcp"},
    "anyio": {"sglc.runtime.serve.mcp"},
    "grpc": {"sglc.runtime.serve.grpc", "sglc.runtime.cluster"},
    "grpc_health": {"sglc.runtime.serve.grpc"},
    "grpc_reflection": {"sglc.runtime.serve.grpc"},
    "google": {"sglc.runtime.serve.grpc"},
    "redis": {"sglc.runtime.serve.queue"},
    "nats": {"sglc.runtime.serve.queue"},
    "uvicorn": {"sglc.runtime.serve"},
    "prompt_toolkit": {"sglc.commands"},
    "IPython": {"sglc.notebook"},
    "websockets": {"sglc.runtime.serve"},
    "click": {"sglc.cli", "sglc.commands"},
    "rich": {"sglc.cli", "sglc.commands", "sglc.viewer"},
    "litellm": {"sglc.runtime.backends"},
    "httpx2": {"sglc.runtime.backends"},
    "ray": {"sglc.runtime.cluster"},
    "pygls": {"sglc.lsp", "sglc.commands"},
    "lsprotocol": {"sglc.lsp"},
    "pygments": {"sglc.highlight", "sglc.commands"},
    "numpy": {room for room in LAW if room.startswith(("sglc.runtime", "sglc.kernels"))},
}
"""Package to the rooms that may import it. Packages that are not here may be imported by none but `OPEN`."""


OPEN = {"platformdirs", "typing_extensions", "huggingface_hub"}
