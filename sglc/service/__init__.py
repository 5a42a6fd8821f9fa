"""What an editor asks of programs that are being written: pure answers from a snapshot and an offset."""
