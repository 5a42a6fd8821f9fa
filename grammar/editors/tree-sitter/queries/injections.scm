; Made by `python -m sglc.highlight`; edit sglc/highlight instead.

((regex_pattern) @injection.content
  (#set! injection.language "regex"))

((inline_json) @injection.content
  (#set! injection.language "json"))

((fence (fence_text) @injection.content)
  (#match? @injection.content "^\\s*[{\\[]")
  (#set! injection.language "json"))

((fence (fence_text) @injection.content)
  (#match? @injection.content "^\\s*(SELECT|CREATE|INSERT|WITH|select|create|insert|with)\\s")
  (#set! injection.language "sql"))
