"""What several commands use: the call itself, files, programs, progress."""
