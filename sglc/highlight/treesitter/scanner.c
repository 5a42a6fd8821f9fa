// The scanner of SGL for tree-sitter: indentation, lines of prompts, fences, and words that are keywords only before
// certain text. Made by `python -m sglc.highlight` from sglc/highlight/treesitter/scanner.c and sglc/syntax/lexer.

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "tree_sitter/parser.h"

enum Token {
@TOKENS@
};

#define MAX_INDENTS 64
#define MAX_WORD 16
#define MAX_REST 256

typedef struct {
  uint8_t count;
  bool in_grammar;
  uint16_t indents[MAX_INDENTS];
} Scanner;

// -- programs of regular expressions (sglc/highlight/core/programs.py) ---------------------------------------------------

enum { CHAR, SET, SPLIT, JUMP, AHEAD, BORDER, END, MATCH };

typedef struct {
  uint8_t op;
  bool flag;
  int32_t first;
  int32_t second;
} Instruction;

typedef struct {
  int32_t first;
  int32_t last;
} Range;

// A range below zero is a class: -'w', -'d', -'W', -'s'.
static const Range RANGES[] = {
@RANGES@
};

static const Instruction PROGRAMS[] = {
@PROGRAMS@
};

typedef struct {
  const char *word;
  uint16_t token;
  uint16_t program;
} SoftWord;

static const SoftWord SOFT_WORDS[] = {
@WORDS@
};

typedef struct {
  int32_t text[MAX_REST];
  int size;
} Rest;

static bool is_word(int32_t c) { return c == '_' || (c > 0 && iswalnum((wint_t)c)); }

static bool in_class(int32_t c, int32_t name) {
  bool digit = c > 0 && iswdigit((wint_t)c);
  switch (name) {
    case 'w': return is_word(c);
    case 'W': return !is_word(c);
    case 'd': return digit;
    case 's': return c > 0 && iswspace((wint_t)c);
    default: return false;
  }
}

static bool in_set(const Instruction *set, int32_t c) {
  bool found = false;
  for (int32_t i = set->first; i < set->second && !found; i++) {
    const Range *range = &RANGES[i];
    found = range->first < 0 ? in_class(c, -range->first) : range->first <= c && c <= range->last;
  }
  return found != set->flag;
}

static bool run(const Rest *rest, int at, int place, int depth) {
  if (depth > 4 * MAX_REST) return false;
  while (true) {
    const Instruction *step = &PROGRAMS[at];
    int32_t c = place < rest->size ? rest->text[place] : 0;
    switch (step->op) {
      case CHAR:
        if (place >= rest->size || c != step->first) return false;
        at++, place++;
        break;
      case SET:
        if (place >= rest->size || !in_set(step, c)) return false;
        at++, place++;
        break;
      case SPLIT:
        if (run(rest, step->first, place, depth + 1)) return true;
        at = step->second;
        break;
      case JUMP:
        at = step->first;
        break;
      case AHEAD:
        if (run(rest, at + 1, place, depth + 1) != step->flag) return false;
        at = step->first;
        break;
      case BORDER: {
        bool before = place == 0 || is_word(rest->text[place - 1]);
        if (before == (place < rest->size && is_word(c))) return false;
        at++;
        break;
      }
      case END:
        if (place < rest->size) return false;
        at++;
        break;
      default:
        return true;
    }
  }
}

// -- characters -----------------------------------------------------------------------------------------------------

static void advance(TSLexer *lexer) { lexer->advance(lexer, false); }

static void skip(TSLexer *lexer) { lexer->advance(lexer, true); }

static bool is_blank(int32_t c) { return c == ' ' || c == '\t'; }

static bool is_end(TSLexer *lexer) { return lexer->lookahead == '\n' || lexer->eof(lexer); }

static bool produce(TSLexer *lexer, int token) {
  lexer->result_symbol = (TSSymbol)token;
  return true;
}

static void blanks(TSLexer *lexer) {
  while (is_blank(lexer->lookahead)) advance(lexer);
}

static bool follows(TSLexer *lexer, const char *text) {
  for (; *text; text++) {
    if (lexer->lookahead != *text) return false;
    advance(lexer);
  }
  return true;
}

// -- prompts --------------------------------------------------------------------------------------------------------

// Text up to an insert, a hole or the end of the line; false where there is none.
static bool prompt_text(TSLexer *lexer) {
  bool some = false;
  while (!is_end(lexer)) {
    int32_t c = lexer->lookahead;
    lexer->mark_end(lexer);
    advance(lexer);
    if (c == '\r' && is_end(lexer)) return some;
    if ((c == '$' || c == '?') && lexer->lookahead == '{') return some;
    if (c == '\\' && (lexer->lookahead == '$' || lexer->lookahead == '?')) {
      advance(lexer);
      if (lexer->lookahead == '{') advance(lexer);
    }
    some = true;
  }
  lexer->mark_end(lexer);
  return some;
}

// Text of a fence up to an insert, a hole or the closing line; or that line, where there is no text before it.
static bool fence_text(TSLexer *lexer, const bool *valid) {
  bool some = false;
  while (!lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    lexer->mark_end(lexer);
    advance(lexer);
    if (c == '\n') {
      blanks(lexer);
      if (follows(lexer, "\"\"\"")) {
        if (!some) lexer->mark_end(lexer);
        blanks(lexer);
        if (lexer->lookahead == '\r') advance(lexer);
        if (is_end(lexer)) {
          if (some) return produce(lexer, FENCE_TEXT);
          return valid[FENCE_CLOSE] && produce(lexer, FENCE_CLOSE);
        }
      }
    } else if ((c == '$' || c == '?') && lexer->lookahead == '{') {
      return some && produce(lexer, FENCE_TEXT);
    } else if (c == '\\' && (lexer->lookahead == '$' || lexer->lookahead == '?')) {
      advance(lexer);
      if (lexer->lookahead == '{') advance(lexer);
    }
    some = true;
  }
  lexer->mark_end(lexer);
  return some && produce(lexer, FENCE_TEXT);
}

// JSON from its `{` to the `}` that closes it.
static bool inline_json(TSLexer *lexer) {
  int depth = 0;
  while (!lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    advance(lexer);
    if (c == '{' || c == '[') depth++;
    if (c == '}' || c == ']') depth--;
    if (c == '"') {
      while (!is_end(lexer) && lexer->lookahead != '"') {
        if (lexer->lookahead == '\\') advance(lexer);
        if (!is_end(lexer)) advance(lexer);
      }
      if (lexer->lookahead == '"') advance(lexer);
    }
    if (depth == 0) {
      lexer->mark_end(lexer);
      return produce(lexer, INLINE_JSON);
    }
  }
  return false;
}

// -- words ----------------------------------------------------------------------------------------------------------

static bool second_word(TSLexer *lexer, const char *text) {
  return follows(lexer, text) && !is_word(lexer->lookahead);
}

static bool soft_word(TSLexer *lexer, const bool *valid, const char *word) {
  Rest rest;
  rest.size = 0;
  while (!is_end(lexer) && rest.size < MAX_REST) {
    rest.text[rest.size++] = lexer->lookahead;
    advance(lexer);
  }
  if (rest.size && rest.text[rest.size - 1] == '\r') rest.size--;
  for (size_t i = 0; i < sizeof(SOFT_WORDS) / sizeof(SOFT_WORDS[0]); i++) {
    const SoftWord *soft = &SOFT_WORDS[i];
    if (valid[soft->token] && !strcmp(soft->word, word) && run(&rest, soft->program, 0, 0)) {
      return produce(lexer, soft->token);
    }
  }
  return false;
}

static bool fence_open(TSLexer *lexer) {
  blanks(lexer);
  if (!follows(lexer, "\"\"\"")) return false;
  lexer->mark_end(lexer);
  blanks(lexer);
  if (lexer->lookahead == '\r') advance(lexer);
  return is_end(lexer) && produce(lexer, FENCE_OPEN);
}

static bool word(Scanner *scanner, TSLexer *lexer, const bool *valid, uint32_t column) {
  char text[MAX_WORD + 1];
  int size = 0;
  while (is_word(lexer->lookahead)) {
    if (size == MAX_WORD || lexer->lookahead > 'z') return false;
    text[size++] = (char)lexer->lookahead;
    advance(lexer);
  }
  text[size] = 0;
  lexer->mark_end(lexer);
  if (!strcmp(text, "text") && valid[FENCE_OPEN]) return fence_open(lexer);
  if (!strcmp(text, "grammar") && valid[GRAMMAR_WORD]) {
    scanner->in_grammar = column == 0 || column == 4;
    return produce(lexer, GRAMMAR_WORD);
  }
  if (!strcmp(text, "not") && (valid[NOT_IN] || valid[NOT_CONTAINING])) {
    blanks(lexer);
    int token = lexer->lookahead == 'i' ? NOT_IN : NOT_CONTAINING;
    if (!valid[token] || !second_word(lexer, token == NOT_IN ? "in" : "containing")) return false;
    lexer->mark_end(lexer);
    return produce(lexer, token);
  }
  if (!strcmp(text, "or") && valid[OR_SKIP]) {
    blanks(lexer);
    if (!second_word(lexer, "skip")) return false;
    lexer->mark_end(lexer);
    blanks(lexer);
    return lexer->lookahead == ':' && produce(lexer, OR_SKIP);
  }
  return soft_word(lexer, valid, text);
}

// -- lines ----------------------------------------------------------------------------------------------------------

static int layout(Scanner *scanner, TSLexer *lexer, const bool *valid, uint32_t indent) {
  uint32_t top = scanner->indents[scanner->count - 1];
  bool goes_on = scanner->in_grammar && lexer->lookahead == '|' && indent > 0;
  if (valid[INDENT] && indent > top && scanner->count < MAX_INDENTS) {
    scanner->indents[scanner->count++] = (uint16_t)(indent > UINT16_MAX ? UINT16_MAX : indent);
    return INDENT;
  }
  if (valid[NEWLINE] && !goes_on) return NEWLINE;
  if (valid[DEDENT] && indent < top && scanner->count > 1) {
    scanner->count--;
    if (scanner->count == 1) scanner->in_grammar = false;
    return DEDENT;
  }
  return -1;
}

static bool scan(Scanner *scanner, TSLexer *lexer, const bool *valid) {
  bool recovers = valid[ERROR_MARK];
  if (!recovers && valid[FENCE_TEXT]) return fence_text(lexer, valid);
  if (!recovers && valid[PROMPT_TEXT]) {
    if (prompt_text(lexer)) return produce(lexer, PROMPT_TEXT);
    if (!is_end(lexer) && lexer->lookahead != '\n') return false;
  }
  lexer->mark_end(lexer);
  bool line_ends = false, comment = false;
  uint32_t indent = 0;
  while (true) {
    int32_t c = lexer->lookahead;
    if (c == '\n') {
      line_ends = true;
      indent = 0;
    } else if (c == ' ') {
      indent++;
    } else if (c == '\t') {
      indent += 4 - indent % 4;
    } else if (c == '#' && (valid[NEWLINE] || valid[INDENT] || valid[DEDENT])) {
      comment = true;
      while (!is_end(lexer)) skip(lexer);
      continue;
    } else if (c == 0xFEFF || c == '\r') {
      // Of no width.
    } else {
      break;
    }
    skip(lexer);
  }
  if (lexer->eof(lexer)) {
    line_ends = true;
    indent = 0;
  }
  if (line_ends && !recovers) {
    int token = layout(scanner, lexer, valid, indent);
    if (token >= 0) return produce(lexer, token);
  }
  if (comment || recovers || lexer->eof(lexer)) return false;
  if (lexer->lookahead == '|' && valid[PIPE_MARK]) {
    advance(lexer);
    if (lexer->lookahead == ' ') advance(lexer);
    lexer->mark_end(lexer);
    return produce(lexer, PIPE_MARK);
  }
  if (lexer->lookahead == '{' && valid[INLINE_JSON]) return inline_json(lexer);
  if (is_word(lexer->lookahead)) return word(scanner, lexer, valid, lexer->get_column(lexer));
  return false;
}

// -- what tree-sitter calls -----------------------------------------------------------------------------------------

void *tree_sitter_sgl_external_scanner_create(void) {
  Scanner *scanner = calloc(1, sizeof(Scanner));
  if (scanner) scanner->count = 1;
  return scanner;
}

void tree_sitter_sgl_external_scanner_destroy(void *payload) { free(payload); }

unsigned tree_sitter_sgl_external_scanner_serialize(void *payload, char *buffer) {
  Scanner *scanner = payload;
  buffer[0] = (char)scanner->count;
  buffer[1] = (char)scanner->in_grammar;
  memcpy(buffer + 2, scanner->indents, scanner->count * sizeof(uint16_t));
  return 2 + scanner->count * (unsigned)sizeof(uint16_t);
}

void tree_sitter_sgl_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  Scanner *scanner = payload;
  memset(scanner, 0, sizeof(Scanner));
  scanner->count = 1;
  if (length >= 2) {
    scanner->count = (uint8_t)buffer[0];
    scanner->in_grammar = buffer[1] != 0;
    memcpy(scanner->indents, buffer + 2, scanner->count * sizeof(uint16_t));
  }
}

bool tree_sitter_sgl_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid_symbols) {
  return scan(payload, lexer, valid_symbols);
}
