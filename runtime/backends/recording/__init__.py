"""Traffic with backends on file, recorded and replayed, and answers that are kept to be given again."""
