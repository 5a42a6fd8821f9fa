"""The language server: the answers of `sglc.service` over the Language Server Protocol. Needs pygls."""
