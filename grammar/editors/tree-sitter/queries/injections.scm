; Made by `python -m sglc.highlight`; edit sglc/highlight instead.

((regex_pattern) @injection.content
  (#set! injection.language "regex"))

((inline_json) @injection.content
  (#set! injection.language "json"))

((fence (fence_text) @injection.content)
  (#match? @injection.content "^\\s*[{\\[]")
  (#set! injection.language "json"))

((fence (fence_text) @injection.content)
  (#match? @injection.content "^\\s*([Ss][Ee][Ll][Ee][Cc][Tt]|[Cc][Rr][Ee][Aa][Tt][Ee]|[Ii][Nn][Ss][Ee][Rr][Tt]|[Ww][Ii][Tt][Hh])\\s")
  (#set! injection.language "sql"))
