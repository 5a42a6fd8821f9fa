"""The classes of text, what each quoted literal and each declared token of the grammar is, and their names
elsewhere.

A literal of `grammar/sgl.lark` that is not in `WORDS` or `MARKS`, or a declared token that is not in
`TOKENS`, fails a test: whoever adds a word to the language says here what it is.
"""

from __future__ import annotations

from sglc.immutable import value


@value
class TextClass:
    """A class of text and what editors call it.

    `textmate` is a scope without its last part `.sgl`; `pygments` a path below `Token`; `vim` and `emacs` the
    group and the face that a colour scheme knows; `highlightjs` a class of highlight.js; `codemirror` a tag
    of @lezer/highlight; `tree_sitter` a capture.
    """

    textmate: str
    pygments: str
    vim: str
    emacs: str
    highlightjs: str
    codemirror: str
    tree_sitter: str


def _keyword(
    textmate: str, pygments: str, vim: str, tree_sitter: str, codemirror: str = "keyword"
) -> TextClass:
    return TextClass(textmate, pygments, vim, "keyword", "keyword", codemirror, tree_sitter)


CLASSES: dict[str, TextClass] = {
    "control": _keyword("keyword.control", "Keyword", "Conditional", "keyword.control", "controlKeyword"),
    "declaration": _keyword(
        "storage.type", "Keyword.Declaration", "Structure", "keyword.type", "definitionKeyword"
    ),
    "import": _keyword(
        "keyword.control.import", "Keyword.Namespace", "Include", "keyword.import", "moduleKeyword"
    ),
    "role": _keyword("keyword.other.role", "Keyword", "Label", "keyword.directive"),
    "statement": _keyword("keyword.other.statement", "Keyword", "Statement", "keyword"),
    "type": _keyword("storage.type.built-in", "Keyword.Type", "Type", "type.builtin"),
    "refinement": _keyword(
        "keyword.other.refinement", "Keyword", "StorageClass", "keyword.modifier", "modifier"
    ),
    "option": _keyword("keyword.other.option", "Keyword", "StorageClass", "keyword.modifier", "modifier"),
    "constant": TextClass(
        "constant.language", "Keyword.Constant", "Boolean", "constant", "literal", "bool", "constant.builtin"
    ),
    "word operator": _keyword(
        "keyword.operator.word", "Operator.Word", "Operator", "keyword.operator", "operatorKeyword"
    ),
    "operator": TextClass(
        "keyword.operator", "Operator", "Operator", "operator", "operator", "operator", "operator"
    ),
    "punctuation": TextClass(
        "punctuation",
        "Punctuation",
        "Delimiter",
        "punctuation",
        "punctuation",
        "punctuation",
        "punctuation.delimiter",
    ),
    "name": TextClass("variable.other", "Name", "Identifier", "", "", "variableName", "variable"),
    "function name": TextClass(
        "entity.name.function",
        "Name.Function",
        "Function",
        "function-name",
        "title.function",
        "variableName.function.definition",
        "function",
    ),
    "type name": TextClass(
        "entity.name.type", "Name.Class", "Type", "type", "title.class", "typeName", "type"
    ),
    "number": TextClass("constant.numeric", "Number", "Number", "constant", "number", "number", "number"),
    "string": TextClass("string.quoted.double", "String", "String", "string", "string", "string", "string"),
    "escape": TextClass(
        "constant.character.escape",
        "String.Escape",
        "SpecialChar",
        "constant",
        "char.escape",
        "escape",
        "string.escape",
    ),
    "regex": TextClass(
        "string.regexp", "String.Regex", "String", "string", "regexp", "regexp", "string.regexp"
    ),
    "path": TextClass(
        "string.unquoted.path",
        "Name.Namespace",
        "String",
        "string",
        "string",
        "string",
        "string.special.path",
    ),
    "prompt": TextClass(
        "string.unquoted.prompt", "String.Heredoc", "Normal", "doc", "string", "string", "markup.raw"
    ),
    "pipe": TextClass(
        "punctuation.definition.prompt",
        "Punctuation.Marker",
        "Delimiter",
        "builtin",
        "punctuation",
        "processingInstruction",
        "punctuation.special",
    ),
    "hole": TextClass(
        "punctuation.section.hole",
        "String.Interpol",
        "Special",
        "warning",
        "template-variable",
        "brace.special",
        "punctuation.special",
    ),
    "insert": TextClass(
        "punctuation.section.embedded",
        "String.Interpol",
        "PreProc",
        "preprocessor",
        "subst",
        "brace.special",
        "punctuation.special",
    ),
    "comment": TextClass(
        "comment.line.number-sign",
        "Comment.Single",
        "Comment",
        "comment",
        "comment",
        "lineComment",
        "comment",
    ),
    "documentation": TextClass(
        "comment.line.documentation",
        "Comment.Special",
        "SpecialComment",
        "doc",
        "comment",
        "docComment",
        "comment.documentation",
    ),
    "json": TextClass("meta.embedded.json", "Other", "Normal", "", "", "meta", "none"),
}

KEYWORDS = frozenset(
    "control declaration import role statement type refinement option constant".split() + ["word operator"]
)
"""The classes of words of the language."""

_CLASSES_OF_WORDS = {
    "control": "break case continue elif else except for if limit match raise return stream try while with",
    "declaration": "const enum error extern fn grammar part aside pub pure record skip test type union "
    "let var",
    "import": "use import include py from",
    "role": "system user assistant tool",
    "statement": "adopt always as blend calls check each effects ensure expect forget fork fuzz gen golden "
    "key mock par raises replay retry tags text think timeout times tools using within without yield "
    "choose select",
    "type": "span of one json schema sql table typescript",
    "refinement": "max min chars tok matching until multiple where untrusted",
    "option": "temp top_p top_k min_p seed n distinct decode by weight at least",
    "constant": "true false null",
    "word operator": "and or not in matches contains",
}
WORDS: dict[str, str] = {word: kind for kind, words in _CLASSES_OF_WORDS.items() for word in words.split()}
"""Each word of the language with its class."""

MARKS: dict[str, str] = {
    **{mark: "punctuation" for mark in "( ) [ ] { } , : . ;".split()},
    **{mark: "operator" for mark in "= -> => | - * + ? .. ..= ..<".split()},
}
"""Each mark of the language with its class."""

TOKENS: dict[str, str] = {
    "NAME": "name",
    "NUMBER": "number",
    "STRING": "string",
    "REGEX": "regex",
    "PIPE": "prompt",
    "FENCE": "prompt",
    "PATH": "path",
    "INLINE_JSON": "json",
    "ROLE": "role",
    "BINARY": "operator",
    "AUGMENTED": "operator",
    "_NOT_CONTAINING": "refinement",
    "OR_SKIP": "statement",
    "BROKEN": "",
    "_NEWLINE": "",
    "_INDENT": "",
    "_DEDENT": "",
}
"""Each declared token with its class; those that have no text have none. A word among the infix operators
is a "word operator"."""
