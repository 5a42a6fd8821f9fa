"""What each name of a program stands for: definitions, references, renaming."""
