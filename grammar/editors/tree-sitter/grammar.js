// The grammar is data, made from grammar/sgl.lark by `python -m sglc.highlight`.
module.exports = { grammar: require("./src/grammar.json") };
