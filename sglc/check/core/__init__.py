"""What all parts of the checker share: its tables, its findings, and the files it takes in."""
