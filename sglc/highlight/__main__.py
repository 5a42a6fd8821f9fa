"""`python -m sglc.highlight [--check]`: writes the grammars of editors, or says which differ from what it
would write.
"""

from __future__ import annotations

import sys

from sglc.highlight.files import ROOT, written_files


def main(arguments: list[str]) -> int:
    """Write all files; with `--check` only compare. The exit code is 1 where some differ, 2 for other
    arguments.
    """
    if arguments not in ([], ["--check"]):
        print(f"unknown arguments: {' '.join(arguments)}; there is only --check", file=sys.stderr)
        return 2
    if not (ROOT / "grammar" / "sgl.lark").is_file():
        print(
            f"{ROOT} is no checkout of sglc: the grammars are written where grammar/sgl.lark lies",
            file=sys.stderr,
        )
        return 2
    stale = []
    for name, text in written_files().items():
        path = ROOT / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not arguments:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{'differs' if arguments else 'written'}: {name}")
    return 1 if stale and arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
