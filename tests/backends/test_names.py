"""Names of backends, keys from the environment, and what opens them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest

from checkout import ROOT
from sglc.project.models import is_elsewhere
from sglc.runtime.backends import registry
from sglc.runtime.backends.backend_settings import BackendSettings
from sglc.runtime.backends.kinds import KINDS, Kind
from sglc.runtime.backends.names import BackendName, parse_name
from sglc.runtime.backends.registry import Opening, open_backend
from sglc.runtime.errors import ArgumentError
from sglc.targets.projection.core.capabilities import Capabilities
from supported.backends import table

CANARY = "sk-canary-0123456789abcdefXYZ"
KEYS = {"OPENAI_API_KEY": CANARY, "ANTHROPIC_API_KEY": CANARY}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("openai:gpt-5.2", BackendName("openai:gpt-5.2", "openai", "gpt-5.2")),
        ("openai:ft:gpt-4.1:me::1", BackendName("openai:ft:gpt-4.1:me::1", "openai", "ft:gpt-4.1:me::1")),
        ("vllm:http://h:8000/", BackendName("vllm:http://h:8000/", "vllm", "", "http://h:8000")),
        ("vllm:https://h/v1#m/x", BackendName("vllm:https://h/v1#m/x", "vllm", "m/x", "https://h/v1")),
        ("sglang:http://[::1]:3", BackendName("sglang:http://[::1]:3", "sglang", "", "http://[::1]:3")),
        ("llama:http://h", BackendName("llama:http://h", "llama", "", "http://h")),
        ("chat:http://h/v1#a:b", BackendName("chat:http://h/v1#a:b", "chat", "a:b", "http://h/v1")),
        ("hf:/models/x", BackendName("hf:/models/x", "hf", "/models/x")),
        ("repair:llm -m 'a b'", BackendName("repair:llm -m 'a b'", "repair", command=("llm", "-m", "a b"))),
    ],
)
def test_names_in_their_parts(text: str, name: BackendName) -> None:
    assert is_elsewhere(text)
    assert parse_name(text) == name


@pytest.mark.parametrize("text", ["smollm2", "/a/b.gguf", "C:/models/x", "./a:b", "Qwen/Qwen3-4B", ""])
def test_other_models_are_no_backends(text: str) -> None:
    assert not is_elsewhere(text)


@pytest.mark.parametrize(
    ("text", "code", "message", "hint"),
    [
        ("opnai:x", "E0731", "no kind of backend `opnai`", "did you mean `openai:`?"),
        ("zzzzzz:x", "E0731", "no kind of backend `zzzzzz`", ""),
        ("openai:", "E0731", "nothing behind it", "named `openai:NAME`"),
        ("vllm:localhost:8000", "E0731", "begins with http:// or https://", "write http://localhost:8000"),
        ("vllm:ftp://h", "E0731", "begins with http:// or https://", ""),
        ("vllm:http://", "E0731", "begins with http:// or https://", ""),
        ("vllm:http://h:99999", "E0731", "begins with http:// or https://", ""),
        ("vllm:http://a b", "E0731", "begins with http:// or https://", ""),
        ("chat:http://h", "E0731", "which model of the server", "named `chat:URL#NAME`"),
        ("llama:http://h#m", "E0731", "takes no name of a model", "named `llama:URL`"),
        ("repair:", "E0731", "no command", "named `repair:COMMAND`"),
        ("repair:a 'b", "E0731", "a quote of the command is not closed", ""),
        ("openai:a\nb", "E0731", "control characters", ""),
        (f"vllm:http://me:{CANARY}@h", "E0733", "http://h has a user, a password or a query", "environment"),
        (f"vllm:http://h/v1?key={CANARY}", "E0733", "has a user, a password or a query", ""),
        (f"openai:{CANARY}", "E0733", "looks like a key", "the key in OPENAI_API_KEY"),
        (f"chat:http://h#{CANARY}", "E0733", "looks like a key", ""),
    ],
)
def test_what_is_no_name(text: str, code: str, message: str, hint: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        parse_name(text)
    fault = caught.value
    assert fault.code == code
    assert message in fault.message
    assert hint in fault.hint
    assert CANARY not in f"{fault} {fault!r} {vars(fault)} {fault.diagnostic()}"


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_key_is_missing(kind: str) -> None:
    with pytest.raises(ArgumentError, match=f"is missing: set {KINDS[kind].key_variable}") as caught:
        open_backend(f"{kind}:x", environment={KINDS[kind].key_variable: "  "})
    assert caught.value.code == "E0732"


def test_keys_come_from_the_environment_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    with pytest.raises(ArgumentError, match="set OPENAI_API_KEY"):
        open_backend("openai:x")
    settings = BackendSettings(key_variable="MY_KEY")
    with pytest.raises(ArgumentError, match="set MY_KEY"):
        open_backend("openai:x", settings, KEYS)
    with pytest.raises(ArgumentError, match="set MY_KEY"):
        open_backend("vllm:http://localhost:1", settings, {})
    assert open_backend("openai:x", settings, {"MY_KEY": CANARY + "\n"}).name == "openai:x"


@pytest.mark.parametrize("key", ["a b", "clé", "a\r\nx: y"])
def test_a_key_is_one_word(key: str) -> None:
    with pytest.raises(ArgumentError, match="OPENAI_API_KEY holds no key") as caught:
        open_backend("openai:x", environment={"OPENAI_API_KEY": key})
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "near"),
    [
        ("http://localhost:8000", True),
        ("http://127.0.0.1", True),
        ("http://[::1]:8", True),
        ("http://10.0.0.7:8000", True),
        ("http://192.168.1.2", True),
        ("http://gpu-box:8000", True),
        ("http://vllm.models.svc:8000", True),
        ("http://8.8.8.8", False),
        ("http://models.example.com", False),
        ("https://models.example.com", True),
    ],
)
def test_keys_are_not_sent_in_the_clear(url: str, near: bool) -> None:
    environment = {"VLLM_API_KEY": CANARY}
    if near:
        assert open_backend(f"vllm:{url}", environment=environment).endpoint == url
    else:
        with pytest.raises(ArgumentError, match="without encryption") as caught:
            open_backend(f"vllm:{url}", environment=environment)
        assert caught.value.code == "E0733"
        assert open_backend(f"vllm:{url}", BackendSettings(plain_http=True), environment)
        assert open_backend(f"vllm:{url}"), "without a key there is nothing to hide"


def test_addresses_of_named_services() -> None:
    assert open_backend("openai:x", environment=KEYS).endpoint == "https://api.openai.com/v1"
    other = {**KEYS, "OPENAI_BASE_URL": "https://eu.api.openai.com/v1/"}
    assert open_backend("openai:x", environment=other).endpoint == "https://eu.api.openai.com/v1"
    settings = BackendSettings(base_url="https://proxy.example/openai/v1")
    assert open_backend("openai:x", settings, other).endpoint == "https://proxy.example/openai/v1"
    with pytest.raises(ArgumentError, match="has its address in its name"):
        open_backend("vllm:http://h", settings)
    with pytest.raises(ArgumentError, match="base_url"):
        open_backend("openai:x", BackendSettings(base_url="nowhere"), KEYS)


def test_backends_show_no_key() -> None:
    for name in ("openai:x", "anthropic:x", "chat:http://localhost:1#x"):
        backend = open_backend(name, environment={**KEYS, "CHAT_API_KEY": CANARY})
        assert CANARY not in repr(backend)


def test_settings_change_what_a_backend_can_do() -> None:
    def can(name: str, **settings: object) -> object:
        return open_backend(name, BackendSettings(**settings), KEYS).capabilities  # type: ignore[arg-type]

    plain = can("chat:http://h#x", notations=frozenset())
    assert (plain.notations, plain.dialect) == (frozenset(), None)  # type: ignore[attr-defined]
    whole = can("chat:http://h#x", dialect="whole", context_length=9)
    assert (whole.dialect, whole.context_length) == ("whole", 9)  # type: ignore[attr-defined]
    less = can("vllm:http://h", leave_out=frozenset(("temperature", "seed", "min_p")))
    assert (less.temperature, less.seed, less.samplers) == (  # type: ignore[attr-defined]
        False,
        False,
        frozenset(("top_k", "top_p")),
    )


@dataclass
class _Other:
    name: str


def open_other(opening: Opening) -> object:
    """What an entry point of another package leads to."""
    return _Other(f"{opening.name.kind} of {opening.name.model}")


def test_other_packages_bring_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint(name, f"{__name__}:open_other", registry.GROUP) for name in ("mine", "openai")]
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    assert open_backend("mine:thing").name == "mine of thing"
    assert open_backend("openai:x", environment=KEYS).name == "openai:x", "our own kinds stay ours"
    with pytest.raises(ArgumentError, match="no kind of backend `mien`") as caught:
        open_backend("mien:x")
    assert "mine" in caught.value.reason


def test_kinds_of_other_packages_say_what_they_can_do(monkeypatch: pytest.MonkeyPatch) -> None:
    able = Capabilities(notations=frozenset({"gbnf", "regex"}), seed=True)
    seen: list[Opening] = []

    def opens(opening: Opening) -> object:
        seen.append(opening)
        return _Other("told")

    monkeypatch.setattr(opens, "capabilities", able, raising=False)
    monkeypatch.setattr(sys.modules[__name__], "told", opens, raising=False)
    points = [EntryPoint(name, f"{__name__}:{name}", registry.GROUP) for name in ("told", "open_other")]
    points += [EntryPoint("broken", "no_such_module_at_all:f", registry.GROUP)]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    assert registry.capabilities_of("told:x") == able and not seen
    narrow = BackendSettings(notations=frozenset({"regex"}), leave_out=frozenset({"seed"}))
    assert registry.capabilities_of("told:x", narrow) == Capabilities(notations=frozenset({"regex"}))
    open_backend("told:x", narrow)
    assert seen[0].capabilities == Capabilities(notations=frozenset({"regex"}))
    for name, code in (("open_other:x", "E0735"), ("broken:x", "E0734"), ("tolt:x", "E0731")):
        with pytest.raises(ArgumentError) as caught:
            registry.capabilities_of(name)
        assert caught.value.code == code and caught.value.reason
    with pytest.raises(ArgumentError, match="cannot be loaded"):
        open_backend("broken:x")


def test_no_package_of_the_network_is_imported_before_a_backend_is_opened() -> None:
    code = (
        "import sys; import sglc.runtime.backends.registry as r; "
        "[r.capabilities_of(each) for each in ('openai:gpt-4.1', 'hf:m', 'litellm:x/y', 'repair:cat')]; "
        "assert not {'httpx2', 'torch', 'litellm'} & set(sys.modules); "
        "r.open_backend('vllm:http://h'); assert 'httpx2' in sys.modules; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


def test_the_table_of_the_page_is_what_the_kinds_can_do() -> None:
    page = (ROOT / "docs" / "backends.md").read_text(encoding="utf-8")
    assert table() in page, "`tests/support/supported/backends.py` writes the table"
    for kind in KINDS.values():
        assert f"| `{kind.name}:" in page
        assert kind.key_variable in page


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_capabilities_agree_with_themselves(kind: Kind) -> None:
    can = kind.capabilities
    assert ("json_schema" in can.notations) == (can.dialect is not None)
    assert kind.needs_key <= bool(kind.key_variable)
    assert bool(kind.base) == bool(kind.base_variable)


@pytest.mark.parametrize(
    ("model", "notations", "samplers"),
    [
        ("openai:gpt-4.1", {"json_schema"}, {"top_p"}),
        ("openai:gpt-5.2", {"json_schema", "lark", "regex"}, set()),
        ("chat:http://h/v1#gpt-5.2", {"json_schema"}, {"top_p"}),
    ],
)
def test_what_a_name_says_is_known_before_and_after_it_is_opened(
    model: str, notations: set[str], samplers: set[str]
) -> None:
    found = registry.capabilities_of(model)
    assert (set(found.notations), set(found.samplers)) == (notations, samplers)
    assert open_backend(model, environment=KEYS).capabilities == found
