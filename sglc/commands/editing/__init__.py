"""Commands for writing programs: the formatter, the language server, the debugger, the prompt."""
