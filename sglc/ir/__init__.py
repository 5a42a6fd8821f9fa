"""The intermediate representation: operations, blocks, printer, reader, verifier."""
