"""Pictures of a run: its trace read as data, and shown on a terminal or as one page of HTML."""
