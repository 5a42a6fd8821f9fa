"""The subcommands of the sglc program."""
