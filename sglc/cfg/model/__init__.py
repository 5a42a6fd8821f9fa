"""A grammar as data: rules, graph, parameters, errors, serialised form."""
