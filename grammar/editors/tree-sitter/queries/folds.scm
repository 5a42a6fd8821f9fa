; Made by `python -m sglc.highlight`; edit sglc/highlight instead.

[
  (body)
  (fields)
  (field_block)
  (enum_block)
  (union)
  (grammar)
  (role)
  (role_with_tools)
  (function)
  (pure_function)
  (part_function)
  (aside_function)
  (test)
  (if)
  (for)
  (while)
  (match)
  (try)
  (fence)
] @fold
