"""What `sglc build` makes beside the artefact: masks, keys and values, reports of passes, constraints."""
