// Made by `python -m sglc.highlight`; edit sglc/highlight instead.

const LISTS = {
  "root": [
    { regex: /^(?:(pub)([ \t]+))?(grammar)(?=[ ])(?:([ \t]+)([\p{L}_][\p{L}\p{N}_]*))?/dyu, kinds: ["declaration", "", "declaration", "", "type name"], region: "grammar" },
    "comments",
    { regex: /(?:^[ ]*|(?<=:)[ \t]*)(\|)/dyu, kinds: ["pipe"], region: "prompt" },
    { regex: /(?:^[ \t]*|(?<=:)[ \t]*)(text)([ \t]*)(""")(?=[ \t]*\r?$)/dyu, kinds: ["statement", "", "pipe"], region: "fence" },
    { regex: /^[ ]*(use)([ \t]+)([^\s("]+)/dyu, kinds: ["import", "", "path"] },
    { regex: /(?:(?<=^fn)|(?<=\b(?:pub|ure) fn)|(?<=" fn))[ \t]+([\p{L}_][\p{L}\p{N}_]*)(?=[ \t]*[(\[:=])/dyu, kinds: ["function name"] },
    { regex: /(?:(?<=^part)|(?<=\b(?:pub|ure) part)|(?<=" part))[ \t]+([\p{L}_][\p{L}\p{N}_]*)(?=[ \t]*[(\[:=])/dyu, kinds: ["function name"] },
    { regex: /(?:(?<=^aside)|(?<=\b(?:pub|ure) aside)|(?<=" aside))[ \t]+([\p{L}_][\p{L}\p{N}_]*)(?=[ \t]*[(\[:=])/dyu, kinds: ["function name"] },
    { regex: /(?:(?<=^record)|(?<=\b(?:pub|ure) record)|(?<=" record))[ \t]+([\p{L}_][\p{L}\p{N}_]*)(?=[ \t]*[(\[:=])/dyu, kinds: ["type name"] },
    { regex: /(?:(?<=^enum)|(?<=\b(?:pub|ure) enum)|(?<=" enum))[ \t]+([\p{L}_][\p{L}\p{N}_]*)(?=[ \t]*[(\[:=])/dyu, kinds: ["type name"] },
    { regex: /(?:(?<=^union)|(?<=\b(?:pub|ure) union)|(?<=" union))[ \t]+([\p{L}_][\p{L}\p{N}_]*)(?=[ \t]*[(\[:=])/dyu, kinds: ["type name"] },
    { regex: /(?:(?<=^type)|(?<=\b(?:pub|ure) type)|(?<=" type))[ \t]+([\p{L}_][\p{L}\p{N}_]*)(?=[ \t]*[(\[:=])/dyu, kinds: ["type name"] },
    { regex: /(?:(?<=^error)|(?<=\b(?:pub|ure) error)|(?<=" error))[ \t]+([\p{L}_][\p{L}\p{N}_]*)(?=[ \t]*[(\[:=])/dyu, kinds: ["type name"] },
    { regex: /(?:(?<=^grammar)|(?<=\b(?:pub|ure) grammar)|(?<=" grammar))[ \t]+([\p{L}_][\p{L}\p{N}_]*)(?=[ \t]*[(\[:=])/dyu, kinds: ["type name"] },
    { regex: /\b(json)([ \t]+)(schema)([ \t]*)(\{)/dyu, kinds: ["type", "", "type", "", "punctuation"], region: "json" },
    "phrases",
    "string start",
    "regex",
    "words",
    { regex: /[ \t]*(\()/dyu, kinds: ["punctuation"], region: "parens bracket" },
    { regex: /[ \t]*(\[)/dyu, kinds: ["punctuation"], region: "list bracket" },
    { regex: /[ \t]*(\{)/dyu, kinds: ["punctuation"], region: "map bracket" },
    "leaves",
  ],
  "bracket": [
    "comments",
    "in brackets",
    { regex: /[ \t]*(\()/dyu, kinds: ["punctuation"], region: "parens bracket" },
    { regex: /[ \t]*(\[)/dyu, kinds: ["punctuation"], region: "list bracket" },
    { regex: /[ \t]*(\{)/dyu, kinds: ["punctuation"], region: "map bracket" },
    "leaves",
  ],
  "insert": [
    "in brackets",
    { regex: /[ \t]*(\()/dyu, kinds: ["punctuation"], region: "parens insert" },
    { regex: /[ \t]*(\[)/dyu, kinds: ["punctuation"], region: "list insert" },
    { regex: /[ \t]*(\{)/dyu, kinds: ["punctuation"], region: "map insert" },
    "leaves",
  ],
  "hole": [
    { regex: /(?<=\?\{)[ \t]*([\p{L}_][\p{L}\p{N}_]*)(?=[ \t]*:)/dyu, kinds: ["name"] },
    "insert",
  ],
  "grammar": [
    "comments",
    "string start",
    "slashed",
    "words of grammars",
    { regex: /(?<=[\p{L}\p{N}_])(\()/dyu, kinds: ["punctuation"], region: "parameters" },
    { regex: /[ \t]*(\()/dyu, kinds: ["punctuation"], region: "parens group" },
    { regex: /[ \t]*(\[)/dyu, kinds: ["punctuation"], region: "list group" },
    { regex: /[ \t]*(\{)/dyu, kinds: ["punctuation"], region: "map group" },
    "leaves",
  ],
  "group": [
    "comments",
    "string start",
    "slashed",
    "words of grammars",
    { regex: /[ \t]*(\()/dyu, kinds: ["punctuation"], region: "parens group" },
    { regex: /[ \t]*(\[)/dyu, kinds: ["punctuation"], region: "list group" },
    { regex: /[ \t]*(\{)/dyu, kinds: ["punctuation"], region: "map group" },
    "leaves",
  ],
  "in brackets": [
    { regex: /\b(json)([ \t]+)(schema)([ \t]*)(\{)/dyu, kinds: ["type", "", "type", "", "punctuation"], region: "json" },
    "phrases",
    "string start",
    "regex",
    "words in brackets",
  ],
  "comments": [
    { regex: /([ \t]*##[^\n]*)/dyu, kinds: ["documentation"] },
    { regex: /([ \t]*#[^\n]*)/dyu, kinds: ["comment"] },
  ],
  "phrases": [
    { regex: /(?:(?<=[)\]}"\/?.])|(?<!\band)(?<!\bbreak)(?<!\bcase)(?<!\bcontinue)(?<!\belif)(?<!\belse)(?<!\bexcept)(?<!\bfn)(?<!\bfor)(?<!\bif)(?<!\bin)(?<!\blet)(?<!\bnot)(?<!\bor)(?<!\braise)(?<!\breturn)(?<!\btry)(?<!\bvar)(?<!\bwhile)(?<=[\p{L}\p{N}_]))[ \t]*\b(not)([ \t]+)(containing)\b/dyu, kinds: ["refinement", "", "refinement"] },
    { regex: /[ \t]*\b(not)([ \t]+)(in)\b/dyu, kinds: ["word operator", "", "word operator"] },
    { regex: /[ \t]*\b(or)([ \t]+)(skip)(?=[ \t]*:)/dyu, kinds: ["statement", "", "statement"] },
  ],
  "words": [
    { regex: /(?:^|(?:(?<=[:])))[ \t]*\b(?:(ensure|expect|golden|adopt|check|yield)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)(?![-\/]=)[\p{L}\p{N}_"\[({\/-])|(include)\b(?=[ \t]*")|(mock)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)[\p{L}_])|(replay)\b(?=[ \t]*")|(think)\b(?=[ \t]+(?:max|temp|top_p|top_k|min_p|seed|until|using)\b|[ \t]*(?:#[^\n]*)?\r?$))/dyu, kinds: ["statement", "import", "statement", "statement", "statement"] },
    { regex: /(?:(?<=["\)\/\?\]\}])|(?<=\.\.)|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<!\bwhile)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_]))[ \t]*\b(?:(always)\b(?=[ \t]*(?:#[^\n]*)?\r?$)|(at)\b(?=[ \t]+least\b)|(by)\b(?=[ \t]+(?!(?:and|break|case|continue|elif|else|except|false|fn|for|if|in|let|not|null|or|raise|return|true|try|var|while)\b)[\p{L}_])|(distinct)\b(?![ \t]*[(=.])|(limit)\b(?=[ \t]*[\(\[\{"\/]|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}\p{N}_])|(matching)\b(?=[ \t]*[\/])|(until|max|min)\b(?=[ \t]*[\(\[\{"\/]|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}\p{N}_])|(multiple)\b(?=[ \t]+of\b)|(where)\b(?=[ \t]*[\(\[\{"\/]|[ \t]*-(?![=>])|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}\p{N}_])|(within)\b(?=[ \t]*[\(\[\{"\/]|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}\p{N}_]))/dyu, kinds: ["statement", "option", "option", "option", "control", "refinement", "refinement", "refinement", "refinement", "statement"] },
    { regex: /(?<!\.)[ \t]*\b(?:(and|in|or)\b(?![ \t]*\??:))/dyu, kinds: ["word operator"] },
    { regex: /(?:(?<=["\),\/\?\]\}])|(?<=\.\.)|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<!\bwhile)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_]))[ \t]*\b(?:(as)\b(?=[ \t]*=(?![=>])|[ \t]+(?!(?:and|break|case|continue|elif|else|except|false|fn|for|if|in|let|not|null|or|raise|return|true|try|var|while)\b)[\p{L}_]))/dyu, kinds: ["statement"] },
    { regex: /(?:^|(?:(?<=[:=])|(?<=\bpub)))[ \t]*\b(?:(aside|part)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)[\p{L}_]))/dyu, kinds: ["declaration"] },
    { regex: /^[ \t]*\b(?:(assistant|system|tool|user)\b(?=[ \t]*:[ \t]*(?:\||#|\r?$|text[ \t]*"|(?:adopt|aside|break|check|continue|ensure|expect|golden|include|let|mock|part|raise|replay|return|think|var|yield)\b)|[ \t]+with\b)|(forget|par)\b(?=[ \t]*:[ \t]*(?:\||#|\r?$|text[ \t]*"|(?:adopt|aside|break|check|continue|ensure|expect|golden|include|let|mock|part|raise|replay|return|think|var|yield)\b))|(fuzz)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)(?![-\/]=)[\p{L}\p{N}_"\[({\/-])|(import)\b(?=[ \t]+(?:grammar)\b)|(match)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)(?![-\/]=)[\p{L}\p{N}_"\[({\/-])|(pub)\b(?=[ \t]+(?:aside|const|enum|error|extern|fn|grammar|part|pure|record|type|union)\b)|(retry)\b(?=[ \t]*[\(\[\{"\/]|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}\p{N}_])|(skip)\b(?=[ \t]*\/)|(test)\b(?=[ \t]*["])|(use)\b(?=[ \t]+(?!(?:and|break|case|continue|elif|else|except|false|fn|for|if|in|let|not|null|or|raise|return|true|try|var|while)\b)[\p{L}_]))/dyu, kinds: ["role", "statement", "statement", "import", "control", "declaration", "statement", "declaration", "declaration", "import"] },
    { regex: /(?:(?<=\busing))[ \t]*\b(?:(blend)\b(?=[ \t]*\())/dyu, kinds: ["statement"] },
    { regex: /(?:^|(?<!\.))[ \t]*\b(?:(continue|return|break|raise|while|case|elif|for|if)\b(?![ \t]*\??:)|(except|else|try)\b|(false|null|true)\b|(let|var|fn)\b(?![ \t]*\??:)|(not)\b(?![ \t]*\??:))/dyu, kinds: ["control", "control", "constant", "declaration", "word operator"] },
    { regex: /(?:(?<=["\)\/\]\}])|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<!\bwhile)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_]))[ \t]*\b(?:(calls)\b(?=[ \t]*[:])|(chars|tok)\b(?![ \t]*[(=.])|(times)\b(?=[ \t]*[\(\[\{"\/]|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}\p{N}_]))/dyu, kinds: ["statement", "refinement", "statement"] },
    { regex: /(?:^|(?:(?<=[\(,:=>\[\{])|(?<=\badopt)|(?<=\bcheck)|(?<=\belif)|(?<=\belse)|(?<=\bensure)|(?<=\bexpect)|(?<=\bif)|(?<=\bin)|(?<=\bmatch)|(?<=\breturn)|(?<=\bwhile)|(?<=\byield)))[ \t]*\b(?:(choose|select|gen)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)[\p{L}\p{N}_"\[({]))/dyu, kinds: ["statement"] },
    { regex: /(?:^|(?:(?<=\bpub)))[ \t]*\b(?:(record|const|error|union|enum|type)\b(?=[ \t]+(?!(?:and|break|case|continue|elif|else|except|false|fn|for|if|in|let|not|null|or|raise|return|true|try|var|while)\b)[\p{L}_])|(extern)\b(?=[ \t]+(?:py)\b)|(pure)\b(?=[ \t]+(?:fn)\b))/dyu, kinds: ["declaration", "declaration", "declaration"] },
    { regex: /(?:(?<=["\)\/\]\}])|(?<!\band)(?<!\bbreak)(?<!\bcase)(?<!\bcontinue)(?<!\belif)(?<!\belse)(?<!\bexcept)(?<!\bfn)(?<!\bfor)(?<!\bif)(?<!\bin)(?<!\blet)(?<!\bnot)(?<!\bor)(?<!\braise)(?<!\breturn)(?<!\btry)(?<!\bvar)(?<!\bwhile)(?<=[\p{L}\p{N}_]))[ \t]*\b(?:(contains|matches)\b(?=[ \t]*[\(\[\{"\/]|[ \t]*-(?![=>])|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}\p{N}_]))/dyu, kinds: ["word operator"] },
    { regex: /(?:(?<=["\)\/\?\]\}])|(?<=\.\.)|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<![^:=\(\[\|,\{>] contains)(?<!^contains)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] decode)(?<!^decode)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<![^:=\(\[\|,\{>] grammar)(?<!^grammar)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^:=\(\[\|,\{>] matches)(?<!^matches)(?<![^:=\(\[\|,\{>] max)(?<!^max)(?<![^:=\(\[\|,\{>] min)(?<!^min)(?<![^:=\(\[\|,\{>] min_p)(?<!^min_p)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<![^:=\(\[\|,\{>] retry)(?<!^retry)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<![^:=\(\[\|,\{>] top_k)(?<!^top_k)(?<![^:=\(\[\|,\{>] top_p)(?<!^top_p)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^:=\(\[\|,\{>] until)(?<!^until)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<![^:=\(\[\|,\{>] where)(?<!^where)(?<!\bwhile)(?<![^:=\(\[\|,\{>] within)(?<!^within)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_]))[ \t]*\b(?:(decode|weight|min_p|top_k|top_p|seed|temp|n)\b(?=[ \t]*[\(\[\{"\/]|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}\p{N}_])|(effects)\b(?=[ \t]+(?!(?:and|break|case|continue|elif|else|except|false|fn|for|if|in|let|not|null|or|raise|return|true|try|var|while)\b)[\p{L}_])|(timeout)\b(?=[ \t]+\d))/dyu, kinds: ["option", "statement", "statement"] },
    { regex: /(?:(?<=\bcheck)|(?<=\bensure))[ \t]*\b(?:(each)\b(?=[ \t]+[\p{L}_][\p{L}\p{N}_]*[ \t]+in\b))/dyu, kinds: ["statement"] },
    { regex: /(?:^|(?:(?<=[=])|(?<=\breturn)))[ \t]*\b(?:(fork)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)[\p{L}\p{N}_"\[({]))/dyu, kinds: ["statement"] },
    { regex: /(?:(?<=["])|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<![^:=\(\[\|,\{>] contains)(?<!^contains)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] decode)(?<!^decode)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<![^:=\(\[\|,\{>] grammar)(?<!^grammar)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^:=\(\[\|,\{>] matches)(?<!^matches)(?<![^:=\(\[\|,\{>] max)(?<!^max)(?<![^:=\(\[\|,\{>] min)(?<!^min)(?<![^:=\(\[\|,\{>] min_p)(?<!^min_p)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<![^:=\(\[\|,\{>] retry)(?<!^retry)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<![^:=\(\[\|,\{>] top_k)(?<!^top_k)(?<![^:=\(\[\|,\{>] top_p)(?<!^top_p)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^:=\(\[\|,\{>] until)(?<!^until)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<![^:=\(\[\|,\{>] where)(?<!^where)(?<!\bwhile)(?<![^:=\(\[\|,\{>] within)(?<!^within)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_]))[ \t]*\b(?:(from)\b(?=[ \t]*"))/dyu, kinds: ["import"] },
    { regex: /(?:^|(?:(?<=\bimport)|(?<=\bpub)))[ \t]*\b(?:(grammar)\b(?=[ \t]*["]|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}_]))/dyu, kinds: ["declaration"] },
    { regex: /(?:(?<=[\(,:=>\[\{\|])|(?<=\bgen)|(?<=\buntrusted))[ \t]*\b(?:(json)\b(?=[ \t]+schema\b)|(span)\b(?=[ \t]+of\b)|(sql)\b(?=[ \t]+table[ \t]+["\p{L}\p{N}_])|(typescript)\b(?=[ \t]*"|[ \t]+[\p{L}\p{N}_]+[ \t]+from[ \t]*"))/dyu, kinds: ["type", "type", "type", "type"] },
    { regex: /(?:(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<![^:=\(\[\|,\{>] contains)(?<!^contains)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] decode)(?<!^decode)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<![^:=\(\[\|,\{>] grammar)(?<!^grammar)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^:=\(\[\|,\{>] matches)(?<!^matches)(?<![^:=\(\[\|,\{>] max)(?<!^max)(?<![^:=\(\[\|,\{>] min)(?<!^min)(?<![^:=\(\[\|,\{>] min_p)(?<!^min_p)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<![^:=\(\[\|,\{>] retry)(?<!^retry)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<![^:=\(\[\|,\{>] top_k)(?<!^top_k)(?<![^:=\(\[\|,\{>] top_p)(?<!^top_p)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^:=\(\[\|,\{>] until)(?<!^until)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<![^:=\(\[\|,\{>] where)(?<!^where)(?<!\bwhile)(?<![^:=\(\[\|,\{>] within)(?<!^within)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_]))[ \t]*\b(?:(key)\b(?=[ \t]+(?!(?:and|break|case|continue|elif|else|except|false|fn|for|if|in|let|not|null|or|raise|return|true|try|var|while)\b)[\p{L}_]))/dyu, kinds: ["statement"] },
    { regex: /(?:(?<=\bat))[ \t]*\b(?:(least)\b(?=[ \t]*[\(\[\{"\/]|[ \t]+(?!(?:and|break|case|continue|elif|else|except|fn|for|if|in|let|not|or|raise|return|try|var|while)\b)[\p{L}\p{N}_]))/dyu, kinds: ["option"] },
    { regex: /(?:(?<=\bmultiple)|(?<=\bone)|(?<=\bspan))[ \t]*\b(?:(of)\b(?=[ \t]*[\(\[\{"\/]|[ \t]*-(?![=>])|[ \t]+(?!(?:and|break|case|continue|elif|else|except|fn|for|if|in|let|not|or|raise|return|try|var|while)\b)[\p{L}\p{N}_]))/dyu, kinds: ["type"] },
    { regex: /(?:(?<=["\(\)\*\+,\/:=>\?\[\{\|\}])|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<![^:=\(\[\|,\{>] contains)(?<!^contains)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] decode)(?<!^decode)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<![^:=\(\[\|,\{>] grammar)(?<!^grammar)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^:=\(\[\|,\{>] matches)(?<!^matches)(?<![^:=\(\[\|,\{>] max)(?<!^max)(?<![^:=\(\[\|,\{>] min)(?<!^min)(?<![^:=\(\[\|,\{>] min_p)(?<!^min_p)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<![^:=\(\[\|,\{>] retry)(?<!^retry)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<![^:=\(\[\|,\{>] top_k)(?<!^top_k)(?<![^:=\(\[\|,\{>] top_p)(?<!^top_p)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^:=\(\[\|,\{>] until)(?<!^until)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<![^:=\(\[\|,\{>] where)(?<!^where)(?<!\bwhile)(?<![^:=\(\[\|,\{>] within)(?<!^within)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_]))[ \t]*\b(?:(one)\b(?=[ \t]+of\b))/dyu, kinds: ["type"] },
    { regex: /(?:(?<=\bextern))[ \t]*\b(?:(py)\b(?=[ \t]*["]))/dyu, kinds: ["import"] },
    { regex: /(?:(?<=["\)\/\?\]\}])|(?<=\.\.)|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<!\bwhile)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_]))[ \t]*\b(?:(raises)\b(?=[ \t]+[\p{L}_]))/dyu, kinds: ["statement"] },
    { regex: /(?:^|(?:(?<=[%\(\*\+,\-\/:<=>\[\{\|])|(?<=\badopt)|(?<=\band)|(?<=\baside)|(?<=\bcheck)|(?<=\bchoose)|(?<=\bcontains)|(?<=\bdecode)|(?<=\belif)|(?<=\belse)|(?<=\bensure)|(?<=\bexpect)|(?<=\bfuzz)|(?<=\bgolden)|(?<=\bif)|(?<=\bin)|(?<=\bjson)|(?<=\bleast)|(?<=\blimit)|(?<=\bmatch)|(?<=\bmatches)|(?<=\bmax)|(?<=\bmin)|(?<=\bmin_p)|(?<=\bn)|(?<=\bnot)|(?<=\bof)|(?<=\bor)|(?<=\bpart)|(?<=\bretry)|(?<=\breturn)|(?<=\bseed)|(?<=\bselect)|(?<=\bstream)|(?<=\btemp)|(?<=\btimes)|(?<=\btop_k)|(?<=\btop_p)|(?<=\buntil)|(?<=\bweight)|(?<=\bwhere)|(?<=\bwhile)|(?<=\bwithin)|(?<=\bwithout)|(?<=\byield)))[ \t]*\b(?:(schema)\b(?=\(|[ \t]*["{]))/dyu, kinds: ["type"] },
    { regex: /(?:(?<=\bin))[ \t]*\b(?:(stream)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)[\p{L}_]))/dyu, kinds: ["control"] },
    { regex: /(?:(?<=\bsql))[ \t]*\b(?:(table)\b(?=[ \t]+["\p{L}\p{N}_]))/dyu, kinds: ["type"] },
    { regex: /(?:(?<=["\[]))[ \t]*\b(?:(tags)\b(?=[ \t]+(?!(?:and|break|case|continue|elif|else|except|false|fn|for|if|in|let|not|null|or|raise|return|true|try|var|while)\b)[\p{L}_]))/dyu, kinds: ["statement"] },
    { regex: /(?:(?<=\bwith))[ \t]*\b(?:(tools)\b(?=[ \t]*[\[]))/dyu, kinds: ["statement"] },
    { regex: /(?:(?<=[:]))[ \t]*\b(?:(untrusted)\b(?=[ \t]+[\p{L}_]|[ \t]*[\[({"]))/dyu, kinds: ["refinement"] },
    { regex: /(?:^|(?:(?<=["\)\/\?\]\}])|(?<=\.\.)|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<!\bwhile)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_])))[ \t]*\b(?:(using)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)[\p{L}_]))/dyu, kinds: ["statement"] },
    { regex: /(?:(?<=\bassistant)|(?<=\bsystem)|(?<=\btool)|(?<=\buser))[ \t]*\b(?:(with)\b(?=[ \t]+(?:tools)\b))/dyu, kinds: ["control"] },
    { regex: /(?:(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<!\bwhile)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_]))[ \t]*\b(?:(without)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)(?![-\/]=)[\p{L}\p{N}_"\[({\/-]))/dyu, kinds: ["statement"] },
  ],
  "words in brackets": [
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=["\)\/\?\]\}])|(?<=\.\.)|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<!\bwhile)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_])))[ \t]*\b(?:(always)\b(?=[ \t]*(?:#[^\n]*)?\r?$)|(at)\b(?=[ \t]+least\b)|(by)\b(?=[ \t]+(?!(?:and|break|case|continue|elif|else|except|false|fn|for|if|in|let|not|null|or|raise|return|true|try|var|while)\b)[\p{L}_])|(distinct)\b(?![ \t]*[(=.])|(limit)\b(?=[ \t]*[\(\[\{"\/]|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}\p{N}_])|(matching)\b(?=[ \t]*[\/])|(until|max|min)\b(?=[ \t]*[\(\[\{"\/]|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}\p{N}_])|(multiple)\b(?=[ \t]+of\b)|(using)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)[\p{L}_])|(where)\b(?=[ \t]*[\(\[\{"\/]|[ \t]*-(?![=>])|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}\p{N}_])|(within)\b(?=[ \t]*[\(\[\{"\/]|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}\p{N}_]))/dyu, kinds: ["statement", "option", "option", "option", "control", "refinement", "refinement", "refinement", "statement", "refinement", "statement"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?<!\.))[ \t]*\b(?:(and|in|or)\b(?![ \t]*\??:)|(continue|return|break|raise|while|case|elif|for|if)\b(?![ \t]*\??:)|(except|else|try)\b|(false|null|true)\b|(let|var|fn)\b(?![ \t]*\??:)|(not)\b(?![ \t]*\??:))/dyu, kinds: ["word operator", "control", "control", "constant", "declaration", "word operator"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=["\),\/\?\]\}])|(?<=\.\.)|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<!\bwhile)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_])))[ \t]*\b(?:(as)\b(?=[ \t]*=(?![=>])|[ \t]+(?!(?:and|break|case|continue|elif|else|except|false|fn|for|if|in|let|not|null|or|raise|return|true|try|var|while)\b)[\p{L}_]))/dyu, kinds: ["statement"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=[:=])|(?<=\bpub)))[ \t]*\b(?:(aside|part)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)[\p{L}_]))/dyu, kinds: ["declaration"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=\busing)))[ \t]*\b(?:(blend)\b(?=[ \t]*\())/dyu, kinds: ["statement"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=["\)\/\]\}])|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<!\bwhile)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_])))[ \t]*\b(?:(calls)\b(?=[ \t]*[:])|(chars|tok)\b(?![ \t]*[(=.])|(times)\b(?=[ \t]*[\(\[\{"\/]|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}\p{N}_]))/dyu, kinds: ["statement", "refinement", "statement"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=[\(,:=>\[\{])|(?<=\badopt)|(?<=\bcheck)|(?<=\belif)|(?<=\belse)|(?<=\bensure)|(?<=\bexpect)|(?<=\bif)|(?<=\bin)|(?<=\bmatch)|(?<=\breturn)|(?<=\bwhile)|(?<=\byield)))[ \t]*\b(?:(choose|select|gen)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)[\p{L}\p{N}_"\[({]))/dyu, kinds: ["statement"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=["\)\/\]\}])|(?<!\band)(?<!\bbreak)(?<!\bcase)(?<!\bcontinue)(?<!\belif)(?<!\belse)(?<!\bexcept)(?<!\bfn)(?<!\bfor)(?<!\bif)(?<!\bin)(?<!\blet)(?<!\bnot)(?<!\bor)(?<!\braise)(?<!\breturn)(?<!\btry)(?<!\bvar)(?<!\bwhile)(?<=[\p{L}\p{N}_])))[ \t]*\b(?:(contains|matches)\b(?=[ \t]*[\(\[\{"\/]|[ \t]*-(?![=>])|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}\p{N}_]))/dyu, kinds: ["word operator"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=["\)\/\?\]\}])|(?<=\.\.)|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<![^:=\(\[\|,\{>] contains)(?<!^contains)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] decode)(?<!^decode)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<![^:=\(\[\|,\{>] grammar)(?<!^grammar)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^:=\(\[\|,\{>] matches)(?<!^matches)(?<![^:=\(\[\|,\{>] max)(?<!^max)(?<![^:=\(\[\|,\{>] min)(?<!^min)(?<![^:=\(\[\|,\{>] min_p)(?<!^min_p)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<![^:=\(\[\|,\{>] retry)(?<!^retry)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<![^:=\(\[\|,\{>] top_k)(?<!^top_k)(?<![^:=\(\[\|,\{>] top_p)(?<!^top_p)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^:=\(\[\|,\{>] until)(?<!^until)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<![^:=\(\[\|,\{>] where)(?<!^where)(?<!\bwhile)(?<![^:=\(\[\|,\{>] within)(?<!^within)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_])))[ \t]*\b(?:(decode|weight|min_p|top_k|top_p|seed|temp|n)\b(?=[ \t]*[\(\[\{"\/]|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}\p{N}_])|(effects)\b(?=[ \t]+(?!(?:and|break|case|continue|elif|else|except|false|fn|for|if|in|let|not|null|or|raise|return|true|try|var|while)\b)[\p{L}_])|(timeout)\b(?=[ \t]+\d))/dyu, kinds: ["option", "statement", "statement"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=\bcheck)|(?<=\bensure)))[ \t]*\b(?:(each)\b(?=[ \t]+[\p{L}_][\p{L}\p{N}_]*[ \t]+in\b))/dyu, kinds: ["statement"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=[=])|(?<=\breturn)))[ \t]*\b(?:(fork)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)[\p{L}\p{N}_"\[({]))/dyu, kinds: ["statement"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=["])|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<![^:=\(\[\|,\{>] contains)(?<!^contains)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] decode)(?<!^decode)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<![^:=\(\[\|,\{>] grammar)(?<!^grammar)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^:=\(\[\|,\{>] matches)(?<!^matches)(?<![^:=\(\[\|,\{>] max)(?<!^max)(?<![^:=\(\[\|,\{>] min)(?<!^min)(?<![^:=\(\[\|,\{>] min_p)(?<!^min_p)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<![^:=\(\[\|,\{>] retry)(?<!^retry)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<![^:=\(\[\|,\{>] top_k)(?<!^top_k)(?<![^:=\(\[\|,\{>] top_p)(?<!^top_p)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^:=\(\[\|,\{>] until)(?<!^until)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<![^:=\(\[\|,\{>] where)(?<!^where)(?<!\bwhile)(?<![^:=\(\[\|,\{>] within)(?<!^within)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_])))[ \t]*\b(?:(from)\b(?=[ \t]*"))/dyu, kinds: ["import"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=\bimport)|(?<=\bpub)))[ \t]*\b(?:(grammar)\b(?=[ \t]*["]|[ \t]+(?!(?:always|and|as|at|by|calls|chars|contains|distinct|else|for|if|in|limit|matches|matching|max|min|multiple|or|raises|times|tok|until|using|where|within|without)\b)[\p{L}_]))/dyu, kinds: ["declaration"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=[\(,:=>\[\{\|])|(?<=\bgen)|(?<=\buntrusted)))[ \t]*\b(?:(json)\b(?=[ \t]+schema\b)|(span)\b(?=[ \t]+of\b)|(sql)\b(?=[ \t]+table[ \t]+["\p{L}\p{N}_])|(typescript)\b(?=[ \t]*"|[ \t]+[\p{L}\p{N}_]+[ \t]+from[ \t]*"))/dyu, kinds: ["type", "type", "type", "type"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<![^:=\(\[\|,\{>] contains)(?<!^contains)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] decode)(?<!^decode)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<![^:=\(\[\|,\{>] grammar)(?<!^grammar)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^:=\(\[\|,\{>] matches)(?<!^matches)(?<![^:=\(\[\|,\{>] max)(?<!^max)(?<![^:=\(\[\|,\{>] min)(?<!^min)(?<![^:=\(\[\|,\{>] min_p)(?<!^min_p)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<![^:=\(\[\|,\{>] retry)(?<!^retry)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<![^:=\(\[\|,\{>] top_k)(?<!^top_k)(?<![^:=\(\[\|,\{>] top_p)(?<!^top_p)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^:=\(\[\|,\{>] until)(?<!^until)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<![^:=\(\[\|,\{>] where)(?<!^where)(?<!\bwhile)(?<![^:=\(\[\|,\{>] within)(?<!^within)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_])))[ \t]*\b(?:(key)\b(?=[ \t]+(?!(?:and|break|case|continue|elif|else|except|false|fn|for|if|in|let|not|null|or|raise|return|true|try|var|while)\b)[\p{L}_]))/dyu, kinds: ["statement"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=\bat)))[ \t]*\b(?:(least)\b(?=[ \t]*[\(\[\{"\/]|[ \t]+(?!(?:and|break|case|continue|elif|else|except|fn|for|if|in|let|not|or|raise|return|try|var|while)\b)[\p{L}\p{N}_]))/dyu, kinds: ["option"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=\bmultiple)|(?<=\bone)|(?<=\bspan)))[ \t]*\b(?:(of)\b(?=[ \t]*[\(\[\{"\/]|[ \t]*-(?![=>])|[ \t]+(?!(?:and|break|case|continue|elif|else|except|fn|for|if|in|let|not|or|raise|return|try|var|while)\b)[\p{L}\p{N}_]))/dyu, kinds: ["type"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=["\(\)\*\+,\/:=>\?\[\{\|\}])|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<![^:=\(\[\|,\{>] contains)(?<!^contains)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] decode)(?<!^decode)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<![^:=\(\[\|,\{>] grammar)(?<!^grammar)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^:=\(\[\|,\{>] matches)(?<!^matches)(?<![^:=\(\[\|,\{>] max)(?<!^max)(?<![^:=\(\[\|,\{>] min)(?<!^min)(?<![^:=\(\[\|,\{>] min_p)(?<!^min_p)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<![^:=\(\[\|,\{>] retry)(?<!^retry)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<![^:=\(\[\|,\{>] top_k)(?<!^top_k)(?<![^:=\(\[\|,\{>] top_p)(?<!^top_p)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^:=\(\[\|,\{>] until)(?<!^until)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<![^:=\(\[\|,\{>] where)(?<!^where)(?<!\bwhile)(?<![^:=\(\[\|,\{>] within)(?<!^within)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_])))[ \t]*\b(?:(one)\b(?=[ \t]+of\b))/dyu, kinds: ["type"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=\bextern)))[ \t]*\b(?:(py)\b(?=[ \t]*["]))/dyu, kinds: ["import"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=["\)\/\?\]\}])|(?<=\.\.)|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<!\bwhile)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_])))[ \t]*\b(?:(raises)\b(?=[ \t]+[\p{L}_]))/dyu, kinds: ["statement"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=[%\(\*\+,\-\/:<=>\[\{\|])|(?<=\badopt)|(?<=\band)|(?<=\baside)|(?<=\bcheck)|(?<=\bchoose)|(?<=\bcontains)|(?<=\bdecode)|(?<=\belif)|(?<=\belse)|(?<=\bensure)|(?<=\bexpect)|(?<=\bfuzz)|(?<=\bgolden)|(?<=\bif)|(?<=\bin)|(?<=\bjson)|(?<=\bleast)|(?<=\blimit)|(?<=\bmatch)|(?<=\bmatches)|(?<=\bmax)|(?<=\bmin)|(?<=\bmin_p)|(?<=\bn)|(?<=\bnot)|(?<=\bof)|(?<=\bor)|(?<=\bpart)|(?<=\bretry)|(?<=\breturn)|(?<=\bseed)|(?<=\bselect)|(?<=\bstream)|(?<=\btemp)|(?<=\btimes)|(?<=\btop_k)|(?<=\btop_p)|(?<=\buntil)|(?<=\bweight)|(?<=\bwhere)|(?<=\bwhile)|(?<=\bwithin)|(?<=\bwithout)|(?<=\byield)))[ \t]*\b(?:(schema)\b(?=\(|[ \t]*["{]))/dyu, kinds: ["type"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=\bin)))[ \t]*\b(?:(stream)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)[\p{L}_]))/dyu, kinds: ["control"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=\bsql)))[ \t]*\b(?:(table)\b(?=[ \t]+["\p{L}\p{N}_]))/dyu, kinds: ["type"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=["\[])))[ \t]*\b(?:(tags)\b(?=[ \t]+(?!(?:and|break|case|continue|elif|else|except|false|fn|for|if|in|let|not|null|or|raise|return|true|try|var|while)\b)[\p{L}_]))/dyu, kinds: ["statement"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=\bwith)))[ \t]*\b(?:(tools)\b(?=[ \t]*[\[]))/dyu, kinds: ["statement"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=[:])))[ \t]*\b(?:(untrusted)\b(?=[ \t]+[\p{L}_]|[ \t]*[\[({"]))/dyu, kinds: ["refinement"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<=\bassistant)|(?<=\bsystem)|(?<=\btool)|(?<=\buser)))[ \t]*\b(?:(with)\b(?=[ \t]+(?:tools)\b))/dyu, kinds: ["control"] },
    { regex: /(?:^(?=[ \t]*[\p{L}\p{N}_]+[^\p{L}\p{N}_(])|(?:(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^\|>] gen)(?<!^gen)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^=\(\[\|,\{>] untrusted)(?<!^untrusted)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<!\bwhile)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_])))[ \t]*\b(?:(without)\b(?=[ \t]+(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)(?![-\/]=)[\p{L}\p{N}_"\[({\/-]))/dyu, kinds: ["statement"] },
  ],
  "words of grammars": [
    { regex: /(?:(?<=\bmultiple)|(?<=\bone)|(?<=\bspan))[ \t]*\b(?:(of)\b(?=[ \t]*[\(\[\{"\/]|[ \t]*-(?![=>])|[ \t]+(?!(?:and|break|case|continue|elif|else|except|fn|for|if|in|let|not|or|raise|return|try|var|while)\b)[\p{L}\p{N}_]))/dyu, kinds: ["type"] },
    { regex: /(?:(?<=["\(\)\*\+,\/:=>\?\[\{\|\}])|(?<![^=\(\[\|,\{>] adopt)(?<!^adopt)(?<!\band)(?<![^:=\(\[\|\{>] as)(?<!^as)(?<![^\(\[\|,\{>] aside)(?<!^aside)(?<!\bbreak)(?<![^:=\(\[\|,\{>] by)(?<!^by)(?<!\bcase)(?<![^=\(\[\|,\{>] check)(?<!^check)(?<![^\|>] choose)(?<!^choose)(?<![^:=\(\[\|,\{>] const)(?<!^const)(?<![^:=\(\[\|,\{>] contains)(?<!^contains)(?<!\bcontinue)(?<![^:=\(\[\|,\{>] decode)(?<!^decode)(?<![^:=\(\[\|,\{>] effects)(?<!^effects)(?<!\belif)(?<!\belse)(?<![^=\(\[\|,\{>] ensure)(?<!^ensure)(?<![^:=\(\[\|,\{>] enum)(?<!^enum)(?<!\bexcept)(?<![^=\(\[\|,\{>] expect)(?<!^expect)(?<!\bfn)(?<!\bfor)(?<![^:\(\[\|,\{>] fork)(?<!^fork)(?<![^:=\(\[\|,\{>] fuzz)(?<!^fuzz)(?<![^=\(\[\|,\{>] golden)(?<!^golden)(?<![^:=\(\[\|,\{>] grammar)(?<!^grammar)(?<!\bif)(?<!\bin)(?<![^:=\(\[\|,\{>] least)(?<!^least)(?<!\blet)(?<![^:=\(\[\|,\{>] match)(?<!^match)(?<![^:=\(\[\|,\{>] matches)(?<!^matches)(?<![^:=\(\[\|,\{>] max)(?<!^max)(?<![^:=\(\[\|,\{>] min)(?<!^min)(?<![^:=\(\[\|,\{>] min_p)(?<!^min_p)(?<![^=\(\[\|,\{>] mock)(?<!^mock)(?<!\bnot)(?<![^:=\(\[\|,\{>] of)(?<!^of)(?<!\bor)(?<![^\(\[\|,\{>] part)(?<!^part)(?<!\braise)(?<![^:=\(\[\|,\{>] raises)(?<!^raises)(?<![^:=\(\[\|,\{>] record)(?<!^record)(?<![^:=\(\[\|,\{>] retry)(?<!^retry)(?<!\breturn)(?<![^\|>] select)(?<!^select)(?<![^:=\(\[\|,\{>] stream)(?<!^stream)(?<![^:=\(\[\|,\{>] table)(?<!^table)(?<![^:=\(\|,\{>] tags)(?<!^tags)(?<![^:=\(\[\|,\{>] top_k)(?<!^top_k)(?<![^:=\(\[\|,\{>] top_p)(?<!^top_p)(?<!\btry)(?<![^:=\(\[\|,\{>] type)(?<!^type)(?<![^:=\(\[\|,\{>] union)(?<!^union)(?<![^:=\(\[\|,\{>] until)(?<!^until)(?<![^:=\(\[\|,\{>] using)(?<!^using)(?<!\bvar)(?<![^:=\(\[\|,\{>] where)(?<!^where)(?<!\bwhile)(?<![^:=\(\[\|,\{>] within)(?<!^within)(?<![^:=\(\[\|,\{>] without)(?<!^without)(?<![^=\(\[\|,\{>] yield)(?<!^yield)(?<=[\p{L}\p{N}_]))[ \t]*\b(?:(one)\b(?=[ \t]+of\b))/dyu, kinds: ["type"] },
    { regex: /^[ \t]*\b(?:(skip)\b(?=[ \t]*\/))/dyu, kinds: ["declaration"] },
  ],
  "string start": [
    { regex: /[ \t]*(")/dyu, kinds: ["string"], region: "string" },
  ],
  "string": [
    { regex: /(\\(?:u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|[^\n]))/dyu, kinds: ["escape"] },
    { regex: /(\$\{)/dyu, kinds: ["insert"], region: "insert" },
  ],
  "regex": [
    { regex: /(?:^|(?<=[^\p{L}\p{N}_)\]}"\/\s])|(?<=\bmatching)|(?<=\bmatches)|(?<=\bskip)|(?<=\breturn)|(?<=\bin)|(?<=\band)|(?<=\bor)|(?<=\bnot)|(?<=\bif)|(?<=\belif)|(?<=\belse))[ \t]*(\/(?:(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\])*\]|[^\/\\\[])+\/|(?:\\[^\n]|[^\/\\])+\/))/dyu, kinds: ["regex"] },
  ],
  "slashed": [
    { regex: /[ \t]*(\/(?:(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\])*\]|[^\/\\\[])+\/|(?:\\[^\n]|[^\/\\])+\/))/dyu, kinds: ["regex"] },
  ],
  "text": [
    { regex: /(\\)(?=[$?]\{)[$?]\{/dyu, kinds: ["escape"] },
    { regex: /(\$\{)/dyu, kinds: ["insert"], region: "insert" },
    { regex: /(\?\{)/dyu, kinds: ["hole"], region: "hole" },
    { regex: /[^\\$?\r\n]+/dyu, kinds: [] },
  ],
  "json": [
    { regex: /(")/dyu, kinds: ["string"], region: "json string" },
    { regex: /(\{)/dyu, kinds: ["punctuation"], region: "json object" },
    { regex: /(\[)/dyu, kinds: ["punctuation"], region: "json array" },
    { regex: /(\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][-+]?\d+)?)/dyu, kinds: ["number"] },
    { regex: /\b(true|false|null)\b/dyu, kinds: ["constant"] },
  ],
  "string of json": [
    { regex: /(\\(?:u[0-9a-fA-F]{4}|[^\n]))/dyu, kinds: ["escape"] },
  ],
  "leaves": [
    { regex: /[ \t]*(?<![\p{L}\p{N}_])(\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][-+]?\d+)?)/dyu, kinds: ["number"] },
    { regex: /[ \t]*(?<![\p{L}\p{N}_])([\p{L}_][\p{L}\p{N}_]*)/dyu, kinds: ["name"] },
    { regex: /[ \t]*(\.\.[=<]?|==|!=|<=|>=|->|=>|\*\*|\/\/|[-+*\/]=|[-+*\/%<>=|?])/dyu, kinds: ["operator"] },
    { regex: /[ \t]*([.,:;])/dyu, kinds: ["punctuation"] },
  ],
};

const REGIONS = {
  "fence": { end: /^[ \t]*(""")(?=[ \t]*\r?$)/dyu, ends: ["pipe"], inside: "prompt", rules: "text", line: false },
  "grammar": { end: /^(?=[^\s#])/dyu, ends: [], inside: "", rules: "grammar", line: false },
  "hole": { end: /(\})|(?=\r?$)/dyu, ends: ["hole"], inside: "", rules: "hole", line: true },
  "insert": { end: /(\})|(?=\r?$)/dyu, ends: ["insert"], inside: "", rules: "insert", line: true },
  "json": { end: /(\})/dyu, ends: ["punctuation"], inside: "json", rules: "json", line: false },
  "json array": { end: /(\])/dyu, ends: ["punctuation"], inside: "json", rules: "json", line: false },
  "json object": { end: /(\})/dyu, ends: ["punctuation"], inside: "json", rules: "json", line: false },
  "json string": { end: /(")|(?=\r?$)/dyu, ends: ["string"], inside: "string", rules: "string of json", line: true },
  "list bracket": { end: /(\])|^(?=(?:const|enum|extern|fn|grammar|import|pub|record|test|union|use)\b(?![ \t]*[:,=.]))/dyu, ends: ["punctuation"], inside: "", rules: "bracket", line: false },
  "list group": { end: /(\])|^(?=(?:const|enum|extern|fn|grammar|import|pub|record|test|union|use)\b(?![ \t]*[:,=.]))/dyu, ends: ["punctuation"], inside: "", rules: "group", line: false },
  "list insert": { end: /(\])|(?=\r?$)/dyu, ends: ["punctuation"], inside: "", rules: "insert", line: true },
  "map bracket": { end: /(\})|^(?=(?:const|enum|extern|fn|grammar|import|pub|record|test|union|use)\b(?![ \t]*[:,=.]))/dyu, ends: ["punctuation"], inside: "", rules: "bracket", line: false },
  "map group": { end: /(\})|^(?=(?:const|enum|extern|fn|grammar|import|pub|record|test|union|use)\b(?![ \t]*[:,=.]))/dyu, ends: ["punctuation"], inside: "", rules: "group", line: false },
  "map insert": { end: /(\})|(?=\r?$)/dyu, ends: ["punctuation"], inside: "", rules: "insert", line: true },
  "parameters": { end: /(\))|^(?=(?:const|enum|extern|fn|grammar|import|pub|record|test|union|use)\b(?![ \t]*[:,=.]))/dyu, ends: ["punctuation"], inside: "", rules: "bracket", line: false },
  "parens bracket": { end: /(\))|^(?=(?:const|enum|extern|fn|grammar|import|pub|record|test|union|use)\b(?![ \t]*[:,=.]))/dyu, ends: ["punctuation"], inside: "", rules: "bracket", line: false },
  "parens group": { end: /(\))|^(?=(?:const|enum|extern|fn|grammar|import|pub|record|test|union|use)\b(?![ \t]*[:,=.]))/dyu, ends: ["punctuation"], inside: "", rules: "group", line: false },
  "parens insert": { end: /(\))|(?=\r?$)/dyu, ends: ["punctuation"], inside: "", rules: "insert", line: true },
  "prompt": { end: /(?=\r?$)/dyu, ends: [], inside: "prompt", rules: "text", line: true },
  "string": { end: /(")|(?=\r?$)/dyu, ends: ["string"], inside: "string", rules: "string", line: true },
};

const SCOPES = {
  "control": "keyword",
  "declaration": "keyword",
  "import": "keyword",
  "role": "keyword",
  "statement": "keyword",
  "type": "keyword",
  "refinement": "keyword",
  "option": "keyword",
  "constant": "literal",
  "word operator": "keyword",
  "operator": "operator",
  "punctuation": "punctuation",
  "name": "",
  "function name": "title.function",
  "type name": "title.class",
  "number": "number",
  "string": "string",
  "escape": "char.escape",
  "regex": "regexp",
  "path": "string",
  "prompt": "string",
  "pipe": "punctuation",
  "hole": "template-variable",
  "insert": "subst",
  "comment": "comment",
  "documentation": "comment",
  "json": ""
};

// Colours one line. `stack` names the regions that are open, the outermost first; it is changed to those that are open
// at the end of the line. Returns [end, class] pairs in order, class "" for plain text.
function colourLine(line, stack) {
  const found = [];
  let place = 0;
  const put = (end, kind) => {
    if (end > place) found.push([end, kind]);
    place = Math.max(place, end);
  };
  const groups = (match, kinds, plain) => {
    kinds.forEach((kind, number) => {
      const span = match.indices[number + 1];
      if (span) {
        put(span[0], plain);
        put(span[1], kind || plain);
      }
    });
    put(match.index + match[0].length, plain);
  };
  while (place < line.length) {
    const region = REGIONS[stack[stack.length - 1]];
    const plain = region ? region.inside : "";
    const end = region && at(region.end, line, place);
    if (end) {
      groups(end, region.ends, plain);
      stack.pop();
      continue;
    }
    let matched = false;
    for (const rule of rulesOf(region ? region.rules : "root")) {
      const match = at(rule.regex, line, place);
      if (!match || (!match[0] && !rule.region)) continue;
      groups(match, rule.kinds, plain);
      if (rule.region) stack.push(rule.region);
      matched = true;
      break;
    }
    if (!matched) put(place + (line.codePointAt(place) > 0xffff ? 2 : 1), plain);
  }
  while (stack.length && REGIONS[stack[stack.length - 1]].line) stack.pop();
  return found;
}

function at(regex, line, place) {
  regex.lastIndex = place;
  return regex.exec(line);
}

const flat = new Map();
// The rules of a list, those of the lists that it includes in their places.
function rulesOf(name) {
  if (!flat.has(name)) {
    flat.set(name, LISTS[name].flatMap((rule) => (typeof rule === "string" ? rulesOf(rule) : [rule])));
  }
  return flat.get(name);
}

// A language of highlight.js 11: `hljs.registerLanguage("sgl", sgl)`.
export default function sgl() {
  return {
    name: "SGL",
    aliases: ["sgl"],
    contains: [],
    disableAutodetect: true,
    __emitTokens(code, emitter) {
      const stack = [];
      code.split("\n").forEach((line, number) => {
        if (number) emitter.addText("\n");
        let place = 0;
        for (const [end, kind] of colourLine(line, stack)) {
          const scope = SCOPES[kind];
          if (scope) emitter.startScope(scope);
          emitter.addText(line.slice(place, end));
          if (scope) emitter.endScope();
          place = end;
        }
      });
      emitter.finalize();
    },
  };
}
