"""Colours of SGL for Pygments. Made by `python -m sglc.highlight`; edit the table of classes instead.

It imports nothing but Pygments, so that it can be copied elsewhere.
"""
# ruff: noqa
# fmt: off

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import ClassVar

from pygments.lexer import RegexLexer, include
from pygments.token import Token

__all__ = ["SglLexer"]

Found = Iterator[tuple[int, object, str]]


def _by(plain: object, *kinds: object) -> Callable[[object, re.Match[str], object], Found]:
    """The kinds of the groups of a match; what stands between them is `plain`."""

    def found(lexer: object, match: re.Match[str], context: object = None) -> Found:
        place = match.start()
        for number, kind in enumerate(kinds, 1):
            start, end = match.span(number)
            if start >= 0:
                if place < start:
                    yield place, plain, match.string[place:start]
                yield start, kind, match[number]
                place = end
        if place < match.end():
            yield place, plain, match.string[place : match.end()]

    return found


class SglLexer(RegexLexer):  # type: ignore[misc]
    """Cuts programs of SGL into tokens with the classes of Pygments."""

    name = "SGL"
    aliases: ClassVar[list[str]] = ["sgl"]
    filenames: ClassVar[list[str]] = ["*.sgl"]
    mimetypes: ClassVar[list[str]] = ["text/x-sgl"]

    tokens: ClassVar[dict[str, list[object]]] = {
        'root': [
            ('^(?:(pub)([ \\t]+))?(grammar)(?=[ ])(?:([ \\t]+)([^\\W\\d]\\w*))?', _by(Token.Text, Token.Keyword.Declaration, Token.Text, Token.Keyword.Declaration, Token.Text, Token.Name.Class), 'in grammar'),
            include('comments'),
            ('(?:^[ ]*|(?<=:)[ \\t]*)(\\|)', _by(Token.Text, Token.Punctuation.Marker), 'in prompt'),
            ('(?:^[ \\t]*|(?<=:)[ \\t]*)(text)([ \\t]*)(""")(?=[ \\t]*\\r?$)', _by(Token.Text, Token.Keyword, Token.Text, Token.Punctuation.Marker), 'in fence'),
            ('^[ ]*(use)([ \\t]+)([^\\s("]+)', _by(Token.Text, Token.Keyword.Namespace, Token.Text, Token.Name.Namespace)),
            ('(?<=\\bfn)[ \\t]+([^\\W\\d]\\w*)(?=[ \\t]*[(\\[:=])', _by(Token.Text, Token.Name.Function)),
            ('(?<=\\bpart)[ \\t]+([^\\W\\d]\\w*)(?=[ \\t]*[(\\[:=])', _by(Token.Text, Token.Name.Function)),
            ('(?<=\\baside)[ \\t]+([^\\W\\d]\\w*)(?=[ \\t]*[(\\[:=])', _by(Token.Text, Token.Name.Function)),
            ('(?<=\\brecord)[ \\t]+([^\\W\\d]\\w*)(?=[ \\t]*[(\\[:=])', _by(Token.Text, Token.Name.Class)),
            ('(?<=\\benum)[ \\t]+([^\\W\\d]\\w*)(?=[ \\t]*[(\\[:=])', _by(Token.Text, Token.Name.Class)),
            ('(?<=\\bunion)[ \\t]+([^\\W\\d]\\w*)(?=[ \\t]*[(\\[:=])', _by(Token.Text, Token.Name.Class)),
            ('(?<=\\btype)[ \\t]+([^\\W\\d]\\w*)(?=[ \\t]*[(\\[:=])', _by(Token.Text, Token.Name.Class)),
            ('(?<=\\berror)[ \\t]+([^\\W\\d]\\w*)(?=[ \\t]*[(\\[:=])', _by(Token.Text, Token.Name.Class)),
            ('(?<=\\bgrammar)[ \\t]+([^\\W\\d]\\w*)(?=[ \\t]*[(\\[:=])', _by(Token.Text, Token.Name.Class)),
            ('\\b(json)([ \\t]+)(schema)([ \\t]*)(\\{)', _by(Token.Text, Token.Keyword.Type, Token.Text, Token.Keyword.Type, Token.Text, Token.Punctuation), 'in json'),
            include('phrases'),
            include('string start'),
            include('regex'),
            include('words'),
            ('[ \\t]*(\\()', _by(Token.Text, Token.Punctuation), 'in parens bracket'),
            ('[ \\t]*(\\[)', _by(Token.Text, Token.Punctuation), 'in list bracket'),
            ('[ \\t]*(\\{)', _by(Token.Text, Token.Punctuation), 'in map bracket'),
            include('leaves'),
            (r'\n', Token.Text.Whitespace),
            (r'[ \t\r]+', Token.Text.Whitespace),
            (r'.', Token.Text),
        ],
        'bracket': [
            include('comments'),
            include('in brackets'),
            ('[ \\t]*(\\()', _by(Token.Text, Token.Punctuation), 'in parens bracket'),
            ('[ \\t]*(\\[)', _by(Token.Text, Token.Punctuation), 'in list bracket'),
            ('[ \\t]*(\\{)', _by(Token.Text, Token.Punctuation), 'in map bracket'),
            include('leaves'),
            (r'\n', Token.Text.Whitespace),
            (r'[ \t\r]+', Token.Text.Whitespace),
            (r'.', Token.Text),
        ],
        'insert': [
            include('in brackets'),
            ('[ \\t]*(\\()', _by(Token.Text, Token.Punctuation), 'in parens insert'),
            ('[ \\t]*(\\[)', _by(Token.Text, Token.Punctuation), 'in list insert'),
            ('[ \\t]*(\\{)', _by(Token.Text, Token.Punctuation), 'in map insert'),
            include('leaves'),
            (r'\n', Token.Text.Whitespace),
            (r'[ \t\r]+', Token.Text.Whitespace),
            (r'.', Token.Text),
        ],
        'hole': [
            ('(?<=\\?\\{)[ \\t]*([^\\W\\d]\\w*)(?=[ \\t]*:)', _by(Token.Text, Token.Name)),
            include('insert'),
            (r'\n', Token.Text.Whitespace),
            (r'[ \t\r]+', Token.Text.Whitespace),
            (r'.', Token.Text),
        ],
        'grammar': [
            include('comments'),
            include('string start'),
            include('slashed'),
            include('words of grammars'),
            ('(?<=\\w)(\\()', _by(Token.Text, Token.Punctuation), 'in parameters'),
            ('[ \\t]*(\\()', _by(Token.Text, Token.Punctuation), 'in parens group'),
            ('[ \\t]*(\\[)', _by(Token.Text, Token.Punctuation), 'in list group'),
            ('[ \\t]*(\\{)', _by(Token.Text, Token.Punctuation), 'in map group'),
            include('leaves'),
            (r'\n', Token.Text.Whitespace),
            (r'[ \t\r]+', Token.Text.Whitespace),
            (r'.', Token.Text),
        ],
        'group': [
            include('comments'),
            include('string start'),
            include('slashed'),
            include('words of grammars'),
            ('[ \\t]*(\\()', _by(Token.Text, Token.Punctuation), 'in parens group'),
            ('[ \\t]*(\\[)', _by(Token.Text, Token.Punctuation), 'in list group'),
            ('[ \\t]*(\\{)', _by(Token.Text, Token.Punctuation), 'in map group'),
            include('leaves'),
            (r'\n', Token.Text.Whitespace),
            (r'[ \t\r]+', Token.Text.Whitespace),
            (r'.', Token.Text),
        ],
        'in brackets': [
            ('\\b(json)([ \\t]+)(schema)([ \\t]*)(\\{)', _by(Token.Text, Token.Keyword.Type, Token.Text, Token.Keyword.Type, Token.Text, Token.Punctuation), 'in json'),
            include('phrases'),
            include('string start'),
            include('regex'),
            include('words in brackets'),
        ],
        'comments': [
            ('([ \\t]*##.*)', _by(Token.Text, Token.Comment.Special)),
            ('([ \\t]*#.*)', _by(Token.Text, Token.Comment.Single)),
        ],
        'phrases': [
            ('(?:(?<=[)\\]}\\"/?.])|(?<!\\band)(?<!\\bbreak)(?<!\\bcase)(?<!\\bcontinue)(?<!\\belif)(?<!\\belse)(?<!\\bexcept)(?<!\\bfn)(?<!\\bfor)(?<!\\bif)(?<!\\bin)(?<!\\blet)(?<!\\bnot)(?<!\\bor)(?<!\\braise)(?<!\\breturn)(?<!\\btry)(?<!\\bvar)(?<!\\bwhile)(?<=\\w))[ \\t]*\\b(not)([ \\t]+)(containing)\\b', _by(Token.Text, Token.Keyword, Token.Text, Token.Keyword)),
            ('[ \\t]*\\b(not)([ \\t]+)(in)\\b', _by(Token.Text, Token.Operator.Word, Token.Text, Token.Operator.Word)),
            ('[ \\t]*\\b(or)([ \\t]+)(skip)(?=[ \\t]*:)', _by(Token.Text, Token.Keyword, Token.Text, Token.Keyword)),
        ],
        'words': [
            ('(?:^|(?:(?<=[:])))[ \\t]*\\b(?:(ensure|expect|golden|adopt|check|yield)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)(?![-/]=)[\\w"\\[({/-])|(include)\\b(?=[ \\t]*")|(mock)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)[^\\W\\d])|(replay)\\b(?=[ \\t]*")|(think)\\b(?=[ \\t]+(?:max|temp|top_p|top_k|min_p|seed|until|using)\\b|[ \\t]*(?:#.*)?\\r?$))', _by(Token.Text, Token.Keyword, Token.Keyword.Namespace, Token.Keyword, Token.Keyword, Token.Keyword)),
            ('(?:(?<=["\\)/\\?\\]\\}])|(?<=\\.\\.)|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgen)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\bthink)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buntrusted)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w))[ \\t]*\\b(?:(always)\\b(?=[ \\t]*(?:#.*)?\\r?$)|(effects)\\b(?=[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)[^\\W\\d])|(limit)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w)|(timeout)\\b(?=[ \\t]+\\d)|(where)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]*-(?![=>])|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w)|(within)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w))', _by(Token.Text, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword)),
            ('(?<!\\.)[ \\t]*\\b(?:(and|in|or)\\b(?![ \\t]*\\??:))', _by(Token.Text, Token.Operator.Word)),
            ('(?:(?<=["\\),/\\?\\]\\}])|(?<=\\.\\.)|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgen)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buntrusted)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w))[ \\t]*\\b(?:(as)\\b(?=[ \\t]*=(?![=>])|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)[^\\W\\d]))', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=[:=])|(?<=\\bpub)))[ \\t]*\\b(?:(aside|part)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)[^\\W\\d]))', _by(Token.Text, Token.Keyword.Declaration)),
            ('^[ \\t]*\\b(?:(assistant|system|tool|user)\\b(?=[ \\t]*:|[ \\t]+with\\b)|(forget|par)\\b(?=[ \\t]*:)|(fuzz)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)(?![-/]=)[\\w"\\[({/-])|(import)\\b(?=[ \\t]+(?:grammar)\\b)|(match)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)(?![-/]=)[\\w"\\[({/-])|(pub)\\b(?=[ \\t]+(?:aside|const|enum|error|extern|fn|grammar|part|pure|record|type|union)\\b)|(retry)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w)|(skip)\\b(?=[ \\t]*/)|(test)\\b(?=[ \\t]*["])|(use)\\b(?=[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)[^\\W\\d]))', _by(Token.Text, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword.Namespace, Token.Keyword, Token.Keyword.Declaration, Token.Keyword, Token.Keyword.Declaration, Token.Keyword.Declaration, Token.Keyword.Namespace)),
            ('(?:(?<=["\\)/\\?\\]\\}])|(?<=\\.\\.)|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgen)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buntrusted)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w))[ \\t]*\\b(?:(at)\\b(?=[ \\t]+least\\b)|(by)\\b(?=[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)[^\\W\\d])|(decode|weight|min_p|top_k|top_p|seed|temp|n)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w)|(distinct)\\b(?![ \\t]*[(=.])|(matching)\\b(?=[ \\t]*[/])|(until|max|min)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w)|(multiple)\\b(?=[ \\t]+of\\b))', _by(Token.Text, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword)),
            ('(?:(?<=\\busing))[ \\t]*\\b(?:(blend)\\b(?=[ \\t]*\\())', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?<!\\.))[ \\t]*\\b(?:(continue|return|break|raise|while|case|elif|for|if)\\b(?![ \\t]*\\??:)|(except|else|try)\\b|(false|null|true)\\b|(let|var|fn)\\b(?![ \\t]*\\??:)|(not)\\b(?![ \\t]*\\??:))', _by(Token.Text, Token.Keyword, Token.Keyword, Token.Keyword.Constant, Token.Keyword.Declaration, Token.Operator.Word)),
            ('(?:(?<=["\\)/\\]\\}])|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgen)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\bthink)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buntrusted)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w))[ \\t]*\\b(?:(calls)\\b(?=[ \\t]*[:])|(chars|tok)\\b(?![ \\t]*[(=.])|(contains|matches)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]*-(?![=>])|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w)|(times)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w))', _by(Token.Text, Token.Keyword, Token.Keyword, Token.Operator.Word, Token.Keyword)),
            ('(?:^|(?:(?<=[\\(,:=>\\[\\{])|(?<=\\badopt)|(?<=\\bcheck)|(?<=\\belif)|(?<=\\belse)|(?<=\\bensure)|(?<=\\bexpect)|(?<=\\bif)|(?<=\\bin)|(?<=\\bmatch)|(?<=\\breturn)|(?<=\\bwhile)|(?<=\\byield)))[ \\t]*\\b(?:(choose|select|gen)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)[\\w"\\[({]))', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=\\bpub)))[ \\t]*\\b(?:(record|const|error|union|enum|type)\\b(?=[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)[^\\W\\d])|(extern)\\b(?=[ \\t]+(?:py)\\b)|(pure)\\b(?=[ \\t]+(?:fn)\\b))', _by(Token.Text, Token.Keyword.Declaration, Token.Keyword.Declaration, Token.Keyword.Declaration)),
            ('(?:(?<=\\bcheck)|(?<=\\bensure))[ \\t]*\\b(?:(each)\\b(?=[ \\t]+[^\\W\\d]\\w*[ \\t]+in\\b))', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=[=])|(?<=\\breturn)))[ \\t]*\\b(?:(fork)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)[\\w"\\[({]))', _by(Token.Text, Token.Keyword)),
            ('(?:(?<=["])|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgen)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\bthink)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buntrusted)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w))[ \\t]*\\b(?:(from)\\b(?=[ \\t]*\\"))', _by(Token.Text, Token.Keyword.Namespace)),
            ('(?:^|(?:(?<=\\bimport)|(?<=\\bpub)))[ \\t]*\\b(?:(grammar)\\b(?=[ \\t]*["]|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)[^\\W\\d]))', _by(Token.Text, Token.Keyword.Declaration)),
            ('(?:(?<=[\\(,:=>\\[\\{\\|])|(?<=\\bgen)|(?<=\\buntrusted))[ \\t]*\\b(?:(json)\\b(?=[ \\t]+schema\\b)|(span)\\b(?=[ \\t]+of\\b)|(sql)\\b(?=[ \\t]+table[ \\t]+[\\"\\w])|(typescript)\\b(?=[ \\t]*\\"|[ \\t]+\\w+[ \\t]+from[ \\t]*\\"))', _by(Token.Text, Token.Keyword.Type, Token.Keyword.Type, Token.Keyword.Type, Token.Keyword.Type)),
            ('(?:(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgen)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\bthink)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buntrusted)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w))[ \\t]*\\b(?:(key)\\b(?=[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)[^\\W\\d])|(without)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)(?![-/]=)[\\w"\\[({/-]))', _by(Token.Text, Token.Keyword, Token.Keyword)),
            ('(?:(?<=\\bat))[ \\t]*\\b(?:(least)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w))', _by(Token.Text, Token.Keyword)),
            ('(?:(?<=\\bmultiple)|(?<=\\bone)|(?<=\\bspan))[ \\t]*\\b(?:(of)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]*-(?![=>])|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w))', _by(Token.Text, Token.Keyword.Type)),
            ('(?:(?<=["\\(\\)\\*\\+,/:=>\\?\\[\\{\\|\\}])|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\bthink)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w))[ \\t]*\\b(?:(one)\\b(?=[ \\t]+of\\b))', _by(Token.Text, Token.Keyword.Type)),
            ('(?:(?<=\\bextern))[ \\t]*\\b(?:(py)\\b(?=[ \\t]*["]))', _by(Token.Text, Token.Keyword.Namespace)),
            ('(?:(?<=["\\)/\\?\\]\\}])|(?<=\\.\\.)|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgen)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\bthink)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buntrusted)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w))[ \\t]*\\b(?:(raises)\\b(?=[ \\t]+[^\\W\\d]))', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=[%\\(\\*\\+,\\-/:<=>\\[\\{\\|])|(?<=\\badopt)|(?<=\\band)|(?<=\\baside)|(?<=\\bcheck)|(?<=\\bchoose)|(?<=\\bcontains)|(?<=\\bdecode)|(?<=\\belif)|(?<=\\belse)|(?<=\\bensure)|(?<=\\bexpect)|(?<=\\bfuzz)|(?<=\\bgolden)|(?<=\\bif)|(?<=\\bin)|(?<=\\bjson)|(?<=\\bleast)|(?<=\\blimit)|(?<=\\bmatch)|(?<=\\bmatches)|(?<=\\bmax)|(?<=\\bmin)|(?<=\\bmin_p)|(?<=\\bn)|(?<=\\bnot)|(?<=\\bof)|(?<=\\bor)|(?<=\\bpart)|(?<=\\bretry)|(?<=\\breturn)|(?<=\\bseed)|(?<=\\bselect)|(?<=\\bstream)|(?<=\\btemp)|(?<=\\btimes)|(?<=\\btop_k)|(?<=\\btop_p)|(?<=\\buntil)|(?<=\\bweight)|(?<=\\bwhere)|(?<=\\bwhile)|(?<=\\bwithin)|(?<=\\bwithout)|(?<=\\byield)))[ \\t]*\\b(?:(schema)\\b(?=\\(|[ \\t]*[\\"{]))', _by(Token.Text, Token.Keyword.Type)),
            ('(?:(?<=\\bin))[ \\t]*\\b(?:(stream)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)[^\\W\\d]))', _by(Token.Text, Token.Keyword)),
            ('(?:(?<=\\bsql))[ \\t]*\\b(?:(table)\\b(?=[ \\t]+[\\"\\w]))', _by(Token.Text, Token.Keyword.Type)),
            ('(?:(?<=["\\[]))[ \\t]*\\b(?:(tags)\\b(?=[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)[^\\W\\d]))', _by(Token.Text, Token.Keyword)),
            ('(?:(?<=\\bwith))[ \\t]*\\b(?:(tools)\\b(?=[ \\t]*[\\[]))', _by(Token.Text, Token.Keyword)),
            ('(?:(?<=[:]))[ \\t]*\\b(?:(untrusted)\\b(?=[ \\t]+[^\\W\\d]|[ \\t]*[\\[({\\"]))', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=["\\)/\\?\\]\\}])|(?<=\\.\\.)|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgen)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buntrusted)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w)))[ \\t]*\\b(?:(using)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)[^\\W\\d]))', _by(Token.Text, Token.Keyword)),
            ('(?:(?<=\\bassistant)|(?<=\\bsystem)|(?<=\\btool)|(?<=\\buser))[ \\t]*\\b(?:(with)\\b(?=[ \\t]+(?:tools)\\b))', _by(Token.Text, Token.Keyword)),
        ],
        'words in brackets': [
            ('(?:^|(?:(?<=["\\)/\\?\\]\\}])|(?<=\\.\\.)|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgen)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\bthink)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buntrusted)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w)))[ \\t]*\\b(?:(always)\\b(?=[ \\t]*(?:#.*)?\\r?$)|(effects)\\b(?=[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)[^\\W\\d])|(limit)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w)|(timeout)\\b(?=[ \\t]+\\d)|(where)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]*-(?![=>])|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w)|(within)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w))', _by(Token.Text, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword)),
            ('(?:^|(?<!\\.))[ \\t]*\\b(?:(and|in|or)\\b(?![ \\t]*\\??:)|(continue|return|break|raise|while|case|elif|for|if)\\b(?![ \\t]*\\??:)|(except|else|try)\\b|(false|null|true)\\b|(let|var|fn)\\b(?![ \\t]*\\??:)|(not)\\b(?![ \\t]*\\??:))', _by(Token.Text, Token.Operator.Word, Token.Keyword, Token.Keyword, Token.Keyword.Constant, Token.Keyword.Declaration, Token.Operator.Word)),
            ('(?:^|(?:(?<=["\\),/\\?\\]\\}])|(?<=\\.\\.)|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgen)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buntrusted)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w)))[ \\t]*\\b(?:(as)\\b(?=[ \\t]*=(?![=>])|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)[^\\W\\d]))', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=[:=])|(?<=\\bpub)))[ \\t]*\\b(?:(aside|part)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)[^\\W\\d]))', _by(Token.Text, Token.Keyword.Declaration)),
            ('(?:^|(?:(?<=["\\)/\\?\\]\\}])|(?<=\\.\\.)|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgen)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buntrusted)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w)))[ \\t]*\\b(?:(at)\\b(?=[ \\t]+least\\b)|(by)\\b(?=[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)[^\\W\\d])|(decode|weight|min_p|top_k|top_p|seed|temp|n)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w)|(distinct)\\b(?![ \\t]*[(=.])|(matching)\\b(?=[ \\t]*[/])|(until|max|min)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w)|(multiple)\\b(?=[ \\t]+of\\b)|(using)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)[^\\W\\d]))', _by(Token.Text, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword, Token.Keyword)),
            ('(?:^|(?:(?<=\\busing)))[ \\t]*\\b(?:(blend)\\b(?=[ \\t]*\\())', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=["\\)/\\]\\}])|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgen)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\bthink)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buntrusted)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w)))[ \\t]*\\b(?:(calls)\\b(?=[ \\t]*[:])|(chars|tok)\\b(?![ \\t]*[(=.])|(contains|matches)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]*-(?![=>])|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w)|(times)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w))', _by(Token.Text, Token.Keyword, Token.Keyword, Token.Operator.Word, Token.Keyword)),
            ('(?:^|(?:(?<=[\\(,:=>\\[\\{])|(?<=\\badopt)|(?<=\\bcheck)|(?<=\\belif)|(?<=\\belse)|(?<=\\bensure)|(?<=\\bexpect)|(?<=\\bif)|(?<=\\bin)|(?<=\\bmatch)|(?<=\\breturn)|(?<=\\bwhile)|(?<=\\byield)))[ \\t]*\\b(?:(choose|select|gen)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)[\\w"\\[({]))', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=\\bcheck)|(?<=\\bensure)))[ \\t]*\\b(?:(each)\\b(?=[ \\t]+[^\\W\\d]\\w*[ \\t]+in\\b))', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=[=])|(?<=\\breturn)))[ \\t]*\\b(?:(fork)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)[\\w"\\[({]))', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=["])|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgen)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\bthink)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buntrusted)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w)))[ \\t]*\\b(?:(from)\\b(?=[ \\t]*\\"))', _by(Token.Text, Token.Keyword.Namespace)),
            ('(?:^|(?:(?<=\\bimport)|(?<=\\bpub)))[ \\t]*\\b(?:(grammar)\\b(?=[ \\t]*["]|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)[^\\W\\d]))', _by(Token.Text, Token.Keyword.Declaration)),
            ('(?:^|(?:(?<=[\\(,:=>\\[\\{\\|])|(?<=\\bgen)|(?<=\\buntrusted)))[ \\t]*\\b(?:(json)\\b(?=[ \\t]+schema\\b)|(span)\\b(?=[ \\t]+of\\b)|(sql)\\b(?=[ \\t]+table[ \\t]+[\\"\\w])|(typescript)\\b(?=[ \\t]*\\"|[ \\t]+\\w+[ \\t]+from[ \\t]*\\"))', _by(Token.Text, Token.Keyword.Type, Token.Keyword.Type, Token.Keyword.Type, Token.Keyword.Type)),
            ('(?:^|(?:(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgen)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\bthink)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buntrusted)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w)))[ \\t]*\\b(?:(key)\\b(?=[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)[^\\W\\d])|(without)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)(?![-/]=)[\\w"\\[({/-]))', _by(Token.Text, Token.Keyword, Token.Keyword)),
            ('(?:^|(?:(?<=\\bat)))[ \\t]*\\b(?:(least)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w))', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=\\bmultiple)|(?<=\\bone)|(?<=\\bspan)))[ \\t]*\\b(?:(of)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]*-(?![=>])|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w))', _by(Token.Text, Token.Keyword.Type)),
            ('(?:^|(?:(?<=["\\(\\)\\*\\+,/:=>\\?\\[\\{\\|\\}])|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\bthink)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w)))[ \\t]*\\b(?:(one)\\b(?=[ \\t]+of\\b))', _by(Token.Text, Token.Keyword.Type)),
            ('(?:^|(?:(?<=\\bextern)))[ \\t]*\\b(?:(py)\\b(?=[ \\t]*["]))', _by(Token.Text, Token.Keyword.Namespace)),
            ('(?:^|(?:(?<=["\\)/\\?\\]\\}])|(?<=\\.\\.)|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgen)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\bthink)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buntrusted)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w)))[ \\t]*\\b(?:(raises)\\b(?=[ \\t]+[^\\W\\d]))', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=[%\\(\\*\\+,\\-/:<=>\\[\\{\\|])|(?<=\\badopt)|(?<=\\band)|(?<=\\baside)|(?<=\\bcheck)|(?<=\\bchoose)|(?<=\\bcontains)|(?<=\\bdecode)|(?<=\\belif)|(?<=\\belse)|(?<=\\bensure)|(?<=\\bexpect)|(?<=\\bfuzz)|(?<=\\bgolden)|(?<=\\bif)|(?<=\\bin)|(?<=\\bjson)|(?<=\\bleast)|(?<=\\blimit)|(?<=\\bmatch)|(?<=\\bmatches)|(?<=\\bmax)|(?<=\\bmin)|(?<=\\bmin_p)|(?<=\\bn)|(?<=\\bnot)|(?<=\\bof)|(?<=\\bor)|(?<=\\bpart)|(?<=\\bretry)|(?<=\\breturn)|(?<=\\bseed)|(?<=\\bselect)|(?<=\\bstream)|(?<=\\btemp)|(?<=\\btimes)|(?<=\\btop_k)|(?<=\\btop_p)|(?<=\\buntil)|(?<=\\bweight)|(?<=\\bwhere)|(?<=\\bwhile)|(?<=\\bwithin)|(?<=\\bwithout)|(?<=\\byield)))[ \\t]*\\b(?:(schema)\\b(?=\\(|[ \\t]*[\\"{]))', _by(Token.Text, Token.Keyword.Type)),
            ('(?:^|(?:(?<=\\bin)))[ \\t]*\\b(?:(stream)\\b(?=[ \\t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\\b|not[ \\t]+in\\b)[^\\W\\d]))', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=\\bsql)))[ \\t]*\\b(?:(table)\\b(?=[ \\t]+[\\"\\w]))', _by(Token.Text, Token.Keyword.Type)),
            ('(?:^|(?:(?<=["\\[])))[ \\t]*\\b(?:(tags)\\b(?=[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)[^\\W\\d]))', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=\\bwith)))[ \\t]*\\b(?:(tools)\\b(?=[ \\t]*[\\[]))', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=[:])))[ \\t]*\\b(?:(untrusted)\\b(?=[ \\t]+[^\\W\\d]|[ \\t]*[\\[({\\"]))', _by(Token.Text, Token.Keyword)),
            ('(?:^|(?:(?<=\\bassistant)|(?<=\\bsystem)|(?<=\\btool)|(?<=\\buser)))[ \\t]*\\b(?:(with)\\b(?=[ \\t]+(?:tools)\\b))', _by(Token.Text, Token.Keyword)),
        ],
        'words of grammars': [
            ('(?:(?<=\\bmultiple)|(?<=\\bone)|(?<=\\bspan))[ \\t]*\\b(?:(of)\\b(?=[ \\t]*[\\(\\[\\{"/]|[ \\t]*-(?![=>])|[ \\t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\\b)\\w))', _by(Token.Text, Token.Keyword.Type)),
            ('(?:(?<=["\\(\\)\\*\\+,/:=>\\?\\[\\{\\|\\}])|(?<!\\badopt)(?<!\\band)(?<!\\bas)(?<!\\baside)(?<!\\bassistant)(?<!\\bat)(?<!\\bblend)(?<!\\bbreak)(?<!\\bby)(?<!\\bcase)(?<!\\bcheck)(?<!\\bchoose)(?<!\\bconst)(?<!\\bcontains)(?<!\\bcontinue)(?<!\\bdecode)(?<!\\beach)(?<!\\beffects)(?<!\\belif)(?<!\\belse)(?<!\\bensure)(?<!\\benum)(?<!\\bexcept)(?<!\\bexpect)(?<!\\bfn)(?<!\\bfor)(?<!\\bforget)(?<!\\bfork)(?<!\\bfrom)(?<!\\bfuzz)(?<!\\bgolden)(?<!\\bgrammar)(?<!\\bif)(?<!\\bin)(?<!\\binclude)(?<!\\bjson)(?<!\\bleast)(?<!\\blet)(?<!\\bmatch)(?<!\\bmatches)(?<!\\bmax)(?<!\\bmin)(?<!\\bmin_p)(?<!\\bmock)(?<!\\bmultiple)(?<!\\bnot)(?<!\\bof)(?<!\\bone)(?<!\\bor)(?<!\\bpar)(?<!\\bpart)(?<!\\bpy)(?<!\\braise)(?<!\\braises)(?<!\\brecord)(?<!\\breplay)(?<!\\bretry)(?<!\\breturn)(?<!\\bschema)(?<!\\bselect)(?<!\\bskip)(?<!\\bspan)(?<!\\bsql)(?<!\\bstream)(?<!\\bsystem)(?<!\\btable)(?<!\\btags)(?<!\\bthink)(?<!\\btool)(?<!\\btop_k)(?<!\\btop_p)(?<!\\btry)(?<!\\btype)(?<!\\btypescript)(?<!\\bunion)(?<!\\buntil)(?<!\\buser)(?<!\\busing)(?<!\\bvar)(?<!\\bwhere)(?<!\\bwhile)(?<!\\bwithin)(?<!\\bwithout)(?<!\\byield)(?<=\\w))[ \\t]*\\b(?:(one)\\b(?=[ \\t]+of\\b))', _by(Token.Text, Token.Keyword.Type)),
            ('^[ \\t]*\\b(?:(skip)\\b(?=[ \\t]*/))', _by(Token.Text, Token.Keyword.Declaration)),
        ],
        'string start': [
            ('[ \\t]*(")', _by(Token.Text, Token.String), 'in string'),
        ],
        'string': [
            ('(\\\\(?:u\\{[0-9a-fA-F]{1,6}\\}|u[0-9a-fA-F]{4}|.))', _by(Token.String, Token.String.Escape)),
            ('(\\$\\{)', _by(Token.String, Token.String.Interpol), 'in insert'),
            (r'\n', Token.Text.Whitespace),
            (r'[ \t\r]+', Token.String),
            (r'.', Token.String),
        ],
        'regex': [
            ('(?:^|(?<=[^\\w)\\]}"/\\s])|(?<=\\bmatching)|(?<=\\bmatches)|(?<=\\bskip)|(?<=\\breturn)|(?<=\\bin)|(?<=\\band)|(?<=\\bor)|(?<=\\bnot)|(?<=\\bif)|(?<=\\belif)|(?<=\\belse))[ \\t]*(/(?:(?:\\\\.|\\[(?:\\\\.|[^\\]\\\\])*\\]|[^/\\\\\\[])+/|(?:\\\\.|[^/\\\\])+/))', _by(Token.Text, Token.String.Regex)),
        ],
        'slashed': [
            ('[ \\t]*(/(?:(?:\\\\.|\\[(?:\\\\.|[^\\]\\\\])*\\]|[^/\\\\\\[])+/|(?:\\\\.|[^/\\\\])+/))', _by(Token.Text, Token.String.Regex)),
        ],
        'text': [
            ('(\\\\)(?=[$?]\\{)[$?]\\{', _by(Token.String.Heredoc, Token.String.Escape)),
            ('(\\$\\{)', _by(Token.String.Heredoc, Token.String.Interpol), 'in insert'),
            ('(\\?\\{)', _by(Token.String.Heredoc, Token.String.Interpol), 'in hole'),
            ('[^\\\\$?\\r\\n]+', Token.String.Heredoc),
            (r'\n', Token.Text.Whitespace),
            (r'[ \t\r]+', Token.String.Heredoc),
            (r'.', Token.String.Heredoc),
        ],
        'json': [
            ('(")', _by(Token.Other, Token.String), 'in json string'),
            ('(\\{)', _by(Token.Other, Token.Punctuation), 'in json object'),
            ('(\\[)', _by(Token.Other, Token.Punctuation), 'in json array'),
            ('(\\d[\\d_]*(?:\\.\\d[\\d_]*)?(?:[eE][-+]?\\d+)?)', _by(Token.Other, Token.Number)),
            ('\\b(true|false|null)\\b', _by(Token.Other, Token.Keyword.Constant)),
            (r'\n', Token.Text.Whitespace),
            (r'[ \t\r]+', Token.Other),
            (r'.', Token.Other),
        ],
        'string of json': [
            ('(\\\\(?:u[0-9a-fA-F]{4}|.))', _by(Token.String, Token.String.Escape)),
            (r'\n', Token.Text.Whitespace),
            (r'[ \t\r]+', Token.String),
            (r'.', Token.String),
        ],
        'leaves': [
            ('[ \\t]*(?<!\\w)(\\d[\\d_]*(?:\\.\\d[\\d_]*)?(?:[eE][-+]?\\d+)?)', _by(Token.Text, Token.Number)),
            ('[ \\t]*(?<!\\w)([^\\W\\d]\\w*)', _by(Token.Text, Token.Name)),
            ('[ \\t]*(\\.\\.[=<]?|==|!=|<=|>=|->|=>|\\*\\*|//|[-+*/]=|[-+*/%<>=|?])', _by(Token.Text, Token.Operator)),
            ('[ \\t]*([.,:;])', _by(Token.Text, Token.Punctuation)),
        ],
        'in fence': [
            ('^[ \\t]*(""")(?=[ \\t]*\\r?$)', _by(Token.String.Heredoc, Token.Punctuation.Marker), '#pop'),
            include('text'),
        ],
        'in grammar': [
            ('^(?=[^\\s#])', Token.Text, '#pop'),
            include('grammar'),
        ],
        'in hole': [
            ('(\\})|(?=\\r?$)', _by(Token.Text, Token.String.Interpol), '#pop'),
            include('hole'),
        ],
        'in insert': [
            ('(\\})|(?=\\r?$)', _by(Token.Text, Token.String.Interpol), '#pop'),
            include('insert'),
        ],
        'in json': [
            ('(\\})', _by(Token.Other, Token.Punctuation), '#pop'),
            include('json'),
        ],
        'in json array': [
            ('(\\])', _by(Token.Other, Token.Punctuation), '#pop'),
            include('json'),
        ],
        'in json object': [
            ('(\\})', _by(Token.Other, Token.Punctuation), '#pop'),
            include('json'),
        ],
        'in json string': [
            ('(")|(?=\\r?$)', _by(Token.String, Token.String), '#pop'),
            include('string of json'),
        ],
        'in list bracket': [
            ('(\\])|^(?=(?:const|enum|extern|fn|grammar|import|pub|record|test|union|use)\\b(?![ \\t]*[:,=.]))', _by(Token.Text, Token.Punctuation), '#pop'),
            include('bracket'),
        ],
        'in list group': [
            ('(\\])|^(?=(?:const|enum|extern|fn|grammar|import|pub|record|test|union|use)\\b(?![ \\t]*[:,=.]))', _by(Token.Text, Token.Punctuation), '#pop'),
            include('group'),
        ],
        'in list insert': [
            ('(\\])|(?=\\r?$)', _by(Token.Text, Token.Punctuation), '#pop'),
            include('insert'),
        ],
        'in map bracket': [
            ('(\\})|^(?=(?:const|enum|extern|fn|grammar|import|pub|record|test|union|use)\\b(?![ \\t]*[:,=.]))', _by(Token.Text, Token.Punctuation), '#pop'),
            include('bracket'),
        ],
        'in map group': [
            ('(\\})|^(?=(?:const|enum|extern|fn|grammar|import|pub|record|test|union|use)\\b(?![ \\t]*[:,=.]))', _by(Token.Text, Token.Punctuation), '#pop'),
            include('group'),
        ],
        'in map insert': [
            ('(\\})|(?=\\r?$)', _by(Token.Text, Token.Punctuation), '#pop'),
            include('insert'),
        ],
        'in parameters': [
            ('(\\))|^(?=(?:const|enum|extern|fn|grammar|import|pub|record|test|union|use)\\b(?![ \\t]*[:,=.]))', _by(Token.Text, Token.Punctuation), '#pop'),
            include('bracket'),
        ],
        'in parens bracket': [
            ('(\\))|^(?=(?:const|enum|extern|fn|grammar|import|pub|record|test|union|use)\\b(?![ \\t]*[:,=.]))', _by(Token.Text, Token.Punctuation), '#pop'),
            include('bracket'),
        ],
        'in parens group': [
            ('(\\))|^(?=(?:const|enum|extern|fn|grammar|import|pub|record|test|union|use)\\b(?![ \\t]*[:,=.]))', _by(Token.Text, Token.Punctuation), '#pop'),
            include('group'),
        ],
        'in parens insert': [
            ('(\\))|(?=\\r?$)', _by(Token.Text, Token.Punctuation), '#pop'),
            include('insert'),
        ],
        'in prompt': [
            ('(?=\\r?$)', Token.String.Heredoc, '#pop'),
            include('text'),
        ],
        'in string': [
            ('(")|(?=\\r?$)', _by(Token.String, Token.String), '#pop'),
            include('string'),
        ],
    }
