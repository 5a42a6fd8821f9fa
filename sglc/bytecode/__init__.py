"""The instruction set, its containers, verifier, disassembler and file format."""
