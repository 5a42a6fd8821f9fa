"""Types of SGL and their four artefacts: language, schema text, decoder, printer."""
