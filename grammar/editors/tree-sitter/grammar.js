// The grammar is data, made from grammar/sgl.lark by `python -m sglc.highlight`; this hands it to tree-sitter's generator.
module.exports = { grammar: require("./src/grammar.json") };
