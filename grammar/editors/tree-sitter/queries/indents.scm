; Made by `python -m sglc.highlight`; edit sglc/highlight instead.

[
  (body)
  (fields)
  (field_block)
  (enum_block)
  (union)
  (grammar)
] @indent.begin @indent

[")" "]" "}"] @indent.end @outdent

(fence) @indent.ignore
