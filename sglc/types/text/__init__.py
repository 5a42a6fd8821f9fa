"""Values to and from text: reader, decoder, printer, plain JSON."""
