"""The names of a module: its own declarations and its imports.

Declarations may stand in any order, so names come first and each type is defined when it is first needed.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from sglc import immutable
from sglc.check.core.context import Entity, ModuleContext
from sglc.check.types.resolve import BUILTIN_TYPES
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.source import Span
from sglc.syntax.tree import ast

KIND_OF: dict[type, str] = {
    ast.RecordDeclaration: "type",
    ast.EnumDeclaration: "type",
    ast.UnionDeclaration: "type",
    ast.TypeDeclaration: "type",
    ast.ErrorDeclaration: "error",
    ast.ConstDeclaration: "const",
    ast.GrammarDeclaration: "type",
    ast.FunctionDeclaration: "function",
    ast.ExternDeclaration: "function",
}


@immutable.node
class ModuleNames:
    """Enters the names of one module into its table."""

    module: ModuleContext

    def declare(self, imports: dict[int, ModuleContext]) -> None:
        """Enter every declared and imported name. `imports` maps each Use to the module it found."""
        module = self.module
        for node in module.tree.declarations:
            if isinstance(node, ast.Use):
                found = imports.get(id(node))
                if found is not None:
                    self._import(node, found)
                else:
                    for _, local in node.names:
                        self._enter(local, Entity("broken", local.text, node, module, False, local.span))
            elif isinstance(node, ast.GrammarImport):
                imported = _grammar_name(module, node)
                if imported is not None:
                    qualified = module.qualify(imported.text)
                    self._enter(imported, Entity("type", qualified, node, module, False, imported.span))
            elif not isinstance(node, ast.TestDeclaration):
                kind = KIND_OF[node.__class__]
                name = module.qualify(node.name.text)
                if node.name.text in BUILTIN_TYPES and kind == "type":
                    self.module.report(
                        "E0204",
                        f"`{node.name.text}` is a built-in type",
                        node.name.span,
                        label="cannot be declared again",
                    )
                    continue
                entity = Entity(kind, name, node, module, node.public, node.name.span)
                if not self._enter(node.name, entity):
                    continue
                if isinstance(node, ast.EnumDeclaration):
                    for member in node.members:
                        module.members.setdefault(member.name.text, []).append(name)
                elif isinstance(node, ast.UnionDeclaration):
                    for variant in node.variants:
                        module.variants.setdefault(variant.name.text, []).append(name)

    def _enter(self, name: ast.Name, entity: Entity) -> bool:
        known = self.module.names.get(name.text)
        if known is not None:
            self.module.report(
                "E0203",
                f"`{name.text}` is declared twice",
                name.span,
                label="declared again",
                secondary=(Label(known.span, "first declared here"),),
                hint="rename one of them",
            )
            return False
        self.module.names[name.text] = entity
        return True

    def _nothing_named(self, node: ast.Use, own: dict[str, Entity]) -> None:
        """`use std.math` takes nothing; what the file writes as `math.floor` is what was meant."""
        source = node.span.source
        short = re.split(r"[./]", node.path)[-1]
        used = [m for m in re.finditer(rf"(?<![\w.]){re.escape(short)}\.(\w+)", source.text) if m[1] in own]
        names = sorted({match[1] for match in used})
        line_end = source.text.find("\n", node.span.start)
        end = node.span.start + len(source.text[node.span.start : line_end].split("#")[0].rstrip())
        edits = [Edit(Span(source, end, end), f" ({', '.join(names)})")]
        edits += [Edit(Span(source, match.start(), match.end()), match[1]) for match in used]
        shared = sorted(name for name, entity in own.items() if entity.public)
        self.module.report(
            "E0222",
            f"this `use` names nothing of `{node.path}`",
            Span(source, node.span.start, end),
            label="takes nothing",
            hint=f"write `use {node.path} ({', '.join(names or shared[:3]) or 'name'})`",
            edits=tuple(edits) if names else (),
        )
        self.module.names.setdefault(
            short, Entity("broken", short, node, self.module, False, node.span, used=True)
        )

    def _import(self, node: ast.Use, found: ModuleContext) -> None:
        own = {name: e for name, e in found.names.items() if not e.imported}
        if not node.names:
            self._nothing_named(node, own)
        shared = [name for name, e in own.items() if e.public]
        for imported, local in node.names:
            entity = own.get(imported.text)
            if entity is None:
                close = self.module.nearest(imported.text, shared)
                self.module.report(
                    "E0205",
                    f"`{node.path}` has no `{imported.text}`",
                    imported.span,
                    label="not found there",
                    hint=f"did you mean `{close}`?" if close else _listing(shared),
                )
                self._enter(local, Entity("broken", local.text, node, self.module, False, local.span))
                continue
            if not entity.public:
                self.module.report(
                    "E0206",
                    f"`{imported.text}` is private to `{node.path}`",
                    imported.span,
                    label="not marked `pub`",
                    secondary=(Label(entity.span, "declared here"),),
                    hint=f"write `pub` before its declaration in {found.source.name}",
                )
            entity.used = True
            copy = Entity(
                entity.kind, entity.name, entity.declaration, entity.module, False, local.span, imported=True
            )
            if not self._enter(local, copy):
                continue
            declaration = entity.declaration
            if isinstance(declaration, ast.EnumDeclaration):
                for member in declaration.members:
                    self.module.members.setdefault(member.name.text, []).append(entity.name)
            elif isinstance(declaration, ast.UnionDeclaration):
                for variant in declaration.variants:
                    self.module.variants.setdefault(variant.name.text, []).append(entity.name)


def _listing(names: list[str]) -> str:
    if not names:
        return "that module shares nothing"
    return "it shares " + ", ".join(f"`{name}`" for name in sorted(names)[:8])


def _grammar_name(module: ModuleContext, node: ast.GrammarImport) -> ast.Name | None:
    """The name of an imported grammar: as given, else the name of its file, as types are written."""
    if node.name is not None:
        return node.name
    stem = node.path.rpartition(".")[2] if node.library else PurePosixPath(node.path).stem
    if not re.fullmatch(r"[A-Za-z]\w*", stem):
        module.report(
            "E0352",
            f"`{stem}` cannot be the name of a grammar",
            node.span,
            label="no name of a type",
            hint=f'write `import grammar "{node.path}" as Name`',
        )
        return None
    return ast.Name(stem[0].upper() + stem[1:], node.span)
