"""Commands that people use while they write programs: the formatter, the language server, the debugger, the prompt."""
