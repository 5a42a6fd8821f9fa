"""The page of runs: its files, as one file with traces in it, and as a face of a server."""
