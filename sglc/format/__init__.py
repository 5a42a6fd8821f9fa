"""The formatter: a program in its one layout, with every token, comment and prompt text kept."""
