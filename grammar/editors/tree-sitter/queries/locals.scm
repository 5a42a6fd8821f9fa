; Made by `python -m sglc.highlight`; edit sglc/highlight instead.

[
  (function)
  (pure_function)
  (part_function)
  (aside_function)
  (test)
  (grammar)
] @local.scope

(parameter (name) @local.definition)
(untrusted_parameter (name) @local.definition)
(let (name) @local.definition)
(var (name) @local.definition)
(reference (name) @local.reference)
