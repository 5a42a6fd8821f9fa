// The scanner of SGL for tree-sitter: indentation, lines of prompts, fences, and words that are keywords only before
// certain text. Made by `python -m sglc.highlight` from sglc/highlight/treesitter/scanner.c and sglc/syntax/lexer.

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "tree_sitter/parser.h"

enum Token {
  NEWLINE,
  INDENT,
  DEDENT,
  PIPE_MARK,
  PROMPT_TEXT,
  FENCE_OPEN,
  FENCE_TEXT,
  FENCE_CLOSE,
  INLINE_JSON,
  ROLE_NAME,
  NOT_IN,
  NOT_CONTAINING,
  OR_SKIP,
  GRAMMAR_WORD,
  WORD_ADOPT,
  WORD_ASIDE,
  WORD_AT,
  WORD_BLEND,
  WORD_CHECK,
  WORD_CHOOSE,
  WORD_EACH,
  WORD_ENSURE,
  WORD_EXPECT,
  WORD_FORGET,
  WORD_FORK,
  WORD_FROM,
  WORD_FUZZ,
  WORD_GEN,
  WORD_GOLDEN,
  WORD_INCLUDE,
  WORD_JSON,
  WORD_MATCH,
  WORD_MOCK,
  WORD_MULTIPLE,
  WORD_ONE,
  WORD_PAR,
  WORD_PART,
  WORD_RAISES,
  WORD_REPLAY,
  WORD_SCHEMA,
  WORD_SELECT,
  WORD_SKIP,
  WORD_SPAN,
  WORD_SQL,
  WORD_STREAM,
  WORD_TABLE,
  WORD_THINK,
  WORD_TYPESCRIPT,
  WORD_UNTRUSTED,
  WORD_USING,
  WORD_WITHOUT,
  WORD_YIELD,
  ERROR_MARK,
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
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {45, 45},
  {47, 47},
  {-'w', 0},
  {34, 34},
  {91, 91},
  {40, 40},
  {123, 123},
  {47, 47},
  {45, 45},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {-'W', 0},
  {-'d', 0},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {-'w', 0},
  {34, 34},
  {91, 91},
  {40, 40},
  {123, 123},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {-'W', 0},
  {-'d', 0},
  {-'w', 0},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {-'W', 0},
  {-'d', 0},
  {32, 32},
  {9, 9},
  {34, 34},
  {123, 123},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {34, 34},
  {-'w', 0},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {34, 34},
  {-'w', 0},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {10, 10},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {-'w', 0},
  {-'w', 0},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {-'W', 0},
  {-'d', 0},
  {32, 32},
  {9, 9},
  {91, 91},
  {40, 40},
  {123, 123},
  {34, 34},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
  {32, 32},
  {9, 9},
};

static const Instruction PROGRAMS[] = {
  {SET, 0, 0, 2},
  {SPLIT, 0, 2, 4},
  {SET, 0, 2, 4},
  {JUMP, 0, 1, 0},
  {AHEAD, 0, 68, 0},
  {SPLIT, 0, 6, 57},
  {SPLIT, 0, 7, 10},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 110, 0},
  {JUMP, 0, 55, 0},
  {SPLIT, 0, 11, 15},
  {CHAR, 0, 97, 0},
  {CHAR, 0, 110, 0},
  {CHAR, 0, 100, 0},
  {JUMP, 0, 55, 0},
  {SPLIT, 0, 16, 19},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 114, 0},
  {JUMP, 0, 55, 0},
  {SPLIT, 0, 20, 23},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 102, 0},
  {JUMP, 0, 55, 0},
  {SPLIT, 0, 24, 29},
  {CHAR, 0, 101, 0},
  {CHAR, 0, 108, 0},
  {CHAR, 0, 115, 0},
  {CHAR, 0, 101, 0},
  {JUMP, 0, 55, 0},
  {SPLIT, 0, 30, 38},
  {CHAR, 0, 109, 0},
  {CHAR, 0, 97, 0},
  {CHAR, 0, 116, 0},
  {CHAR, 0, 99, 0},
  {CHAR, 0, 104, 0},
  {CHAR, 0, 101, 0},
  {CHAR, 0, 115, 0},
  {JUMP, 0, 55, 0},
  {SPLIT, 0, 39, 48},
  {CHAR, 0, 99, 0},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 110, 0},
  {CHAR, 0, 116, 0},
  {CHAR, 0, 97, 0},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 110, 0},
  {CHAR, 0, 115, 0},
  {JUMP, 0, 55, 0},
  {SPLIT, 0, 49, 52},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 115, 0},
  {JUMP, 0, 55, 0},
  {CHAR, 0, 102, 0},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 114, 0},
  {BORDER, 0, 0, 0},
  {JUMP, 0, 67, 0},
  {CHAR, 0, 110, 0},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 116, 0},
  {SET, 0, 4, 6},
  {SPLIT, 0, 62, 64},
  {SET, 0, 6, 8},
  {JUMP, 0, 61, 0},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 110, 0},
  {BORDER, 0, 0, 0},
  {MATCH, 0, 0, 0},
  {AHEAD, 0, 72, 0},
  {SET, 0, 8, 10},
  {CHAR, 0, 61, 0},
  {MATCH, 0, 0, 0},
  {SET, 0, 10, 17},
  {MATCH, 0, 0, 0},
  {SET, 0, 17, 19},
  {SPLIT, 0, 76, 78},
  {SET, 0, 19, 21},
  {JUMP, 0, 75, 74},
  {AHEAD, 0, 142, 74},
  {SPLIT, 0, 80, 131},
  {SPLIT, 0, 81, 84},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 110, 0},
  {JUMP, 0, 129, 74},
  {SPLIT, 0, 85, 89},
  {CHAR, 0, 97, 0},
  {CHAR, 0, 110, 0},
  {CHAR, 0, 100, 0},
  {JUMP, 0, 129, 74},
  {SPLIT, 0, 90, 93},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 114, 0},
  {JUMP, 0, 129, 74},
  {SPLIT, 0, 94, 97},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 102, 0},
  {JUMP, 0, 129, 74},
  {SPLIT, 0, 98, 103},
  {CHAR, 0, 101, 0},
  {CHAR, 0, 108, 0},
  {CHAR, 0, 115, 0},
  {CHAR, 0, 101, 0},
  {JUMP, 0, 129, 74},
  {SPLIT, 0, 104, 112},
  {CHAR, 0, 109, 0},
  {CHAR, 0, 97, 0},
  {CHAR, 0, 116, 0},
  {CHAR, 0, 99, 0},
  {CHAR, 0, 104, 0},
  {CHAR, 0, 101, 0},
  {CHAR, 0, 115, 0},
  {JUMP, 0, 129, 74},
  {SPLIT, 0, 113, 122},
  {CHAR, 0, 99, 0},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 110, 0},
  {CHAR, 0, 116, 0},
  {CHAR, 0, 97, 0},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 110, 0},
  {CHAR, 0, 115, 0},
  {JUMP, 0, 129, 74},
  {SPLIT, 0, 123, 126},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 115, 0},
  {JUMP, 0, 129, 74},
  {CHAR, 0, 102, 0},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 114, 0},
  {BORDER, 0, 0, 0},
  {JUMP, 0, 141, 74},
  {CHAR, 0, 110, 0},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 116, 0},
  {SET, 0, 21, 23},
  {SPLIT, 0, 136, 138},
  {SET, 0, 23, 25},
  {JUMP, 0, 135, 74},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 110, 0},
  {BORDER, 0, 0, 0},
  {MATCH, 0, 0, 0},
  {SET, 1, 25, 27},
  {MATCH, 0, 0, 0},
  {SET, 0, 27, 29},
  {SPLIT, 0, 146, 148},
  {SET, 0, 29, 31},
  {JUMP, 0, 145, 144},
  {CHAR, 0, 108, 0},
  {CHAR, 0, 101, 0},
  {CHAR, 0, 97, 0},
  {CHAR, 0, 115, 0},
  {CHAR, 0, 116, 0},
  {BORDER, 0, 0, 0},
  {MATCH, 0, 0, 0},
  {SPLIT, 0, 156, 158},
  {SET, 0, 31, 33},
  {JUMP, 0, 155, 155},
  {CHAR, 0, 40, 0},
  {MATCH, 0, 0, 0},
  {SET, 0, 33, 35},
  {SPLIT, 0, 162, 164},
  {SET, 0, 35, 37},
  {JUMP, 0, 161, 160},
  {AHEAD, 0, 228, 160},
  {SPLIT, 0, 166, 217},
  {SPLIT, 0, 167, 170},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 110, 0},
  {JUMP, 0, 215, 160},
  {SPLIT, 0, 171, 175},
  {CHAR, 0, 97, 0},
  {CHAR, 0, 110, 0},
  {CHAR, 0, 100, 0},
  {JUMP, 0, 215, 160},
  {SPLIT, 0, 176, 179},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 114, 0},
  {JUMP, 0, 215, 160},
  {SPLIT, 0, 180, 183},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 102, 0},
  {JUMP, 0, 215, 160},
  {SPLIT, 0, 184, 189},
  {CHAR, 0, 101, 0},
  {CHAR, 0, 108, 0},
  {CHAR, 0, 115, 0},
  {CHAR, 0, 101, 0},
  {JUMP, 0, 215, 160},
  {SPLIT, 0, 190, 198},
  {CHAR, 0, 109, 0},
  {CHAR, 0, 97, 0},
  {CHAR, 0, 116, 0},
  {CHAR, 0, 99, 0},
  {CHAR, 0, 104, 0},
  {CHAR, 0, 101, 0},
  {CHAR, 0, 115, 0},
  {JUMP, 0, 215, 160},
  {SPLIT, 0, 199, 208},
  {CHAR, 0, 99, 0},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 110, 0},
  {CHAR, 0, 116, 0},
  {CHAR, 0, 97, 0},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 110, 0},
  {CHAR, 0, 115, 0},
  {JUMP, 0, 215, 160},
  {SPLIT, 0, 209, 212},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 115, 0},
  {JUMP, 0, 215, 160},
  {CHAR, 0, 102, 0},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 114, 0},
  {BORDER, 0, 0, 0},
  {JUMP, 0, 227, 160},
  {CHAR, 0, 110, 0},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 116, 0},
  {SET, 0, 37, 39},
  {SPLIT, 0, 222, 224},
  {SET, 0, 39, 41},
  {JUMP, 0, 221, 160},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 110, 0},
  {BORDER, 0, 0, 0},
  {MATCH, 0, 0, 0},
  {SET, 0, 41, 46},
  {MATCH, 0, 0, 0},
  {SET, 0, 46, 48},
  {SPLIT, 0, 232, 234},
  {SET, 0, 48, 50},
  {JUMP, 0, 231, 230},
  {SET, 1, 50, 52},
  {SPLIT, 0, 236, 238},
  {SET, 0, 52, 53},
  {JUMP, 0, 235, 230},
  {SET, 0, 53, 55},
  {SPLIT, 0, 240, 242},
  {SET, 0, 55, 57},
  {JUMP, 0, 239, 230},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 110, 0},
  {BORDER, 0, 0, 0},
  {MATCH, 0, 0, 0},
  {SPLIT, 0, 247, 249},
  {SET, 0, 57, 59},
  {JUMP, 0, 246, 246},
  {CHAR, 0, 58, 0},
  {MATCH, 0, 0, 0},
  {SPLIT, 0, 252, 254},
  {SET, 0, 59, 61},
  {JUMP, 0, 251, 251},
  {CHAR, 0, 34, 0},
  {MATCH, 0, 0, 0},
  {SPLIT, 0, 257, 259},
  {SET, 0, 61, 63},
  {JUMP, 0, 256, 256},
  {CHAR, 0, 34, 0},
  {MATCH, 0, 0, 0},
  {SET, 0, 63, 65},
  {SPLIT, 0, 263, 265},
  {SET, 0, 65, 67},
  {JUMP, 0, 262, 261},
  {CHAR, 0, 115, 0},
  {CHAR, 0, 99, 0},
  {CHAR, 0, 104, 0},
  {CHAR, 0, 101, 0},
  {CHAR, 0, 109, 0},
  {CHAR, 0, 97, 0},
  {BORDER, 0, 0, 0},
  {MATCH, 0, 0, 0},
  {SET, 0, 67, 69},
  {SPLIT, 0, 275, 277},
  {SET, 0, 69, 71},
  {JUMP, 0, 274, 273},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 102, 0},
  {BORDER, 0, 0, 0},
  {MATCH, 0, 0, 0},
  {SET, 0, 71, 73},
  {SPLIT, 0, 283, 285},
  {SET, 0, 73, 75},
  {JUMP, 0, 282, 281},
  {SET, 1, 75, 77},
  {MATCH, 0, 0, 0},
  {SPLIT, 0, 288, 290},
  {CHAR, 0, 40, 0},
  {JUMP, 0, 294, 287},
  {SPLIT, 0, 291, 293},
  {SET, 0, 77, 79},
  {JUMP, 0, 290, 287},
  {SET, 0, 79, 81},
  {MATCH, 0, 0, 0},
  {SPLIT, 0, 296, 298},
  {SET, 0, 81, 83},
  {JUMP, 0, 295, 295},
  {CHAR, 0, 47, 0},
  {MATCH, 0, 0, 0},
  {SET, 0, 83, 85},
  {SPLIT, 0, 302, 304},
  {SET, 0, 85, 87},
  {JUMP, 0, 301, 300},
  {CHAR, 0, 116, 0},
  {CHAR, 0, 97, 0},
  {CHAR, 0, 98, 0},
  {CHAR, 0, 108, 0},
  {CHAR, 0, 101, 0},
  {SET, 0, 87, 89},
  {SPLIT, 0, 311, 313},
  {SET, 0, 89, 91},
  {JUMP, 0, 310, 300},
  {SET, 0, 91, 93},
  {MATCH, 0, 0, 0},
  {SET, 0, 93, 95},
  {SPLIT, 0, 317, 319},
  {SET, 0, 95, 97},
  {JUMP, 0, 316, 315},
  {SET, 0, 97, 99},
  {MATCH, 0, 0, 0},
  {SPLIT, 0, 322, 378},
  {SET, 0, 99, 101},
  {SPLIT, 0, 324, 326},
  {SET, 0, 101, 103},
  {JUMP, 0, 323, 321},
  {SPLIT, 0, 327, 331},
  {CHAR, 0, 109, 0},
  {CHAR, 0, 97, 0},
  {CHAR, 0, 120, 0},
  {JUMP, 0, 376, 321},
  {SPLIT, 0, 332, 337},
  {CHAR, 0, 116, 0},
  {CHAR, 0, 101, 0},
  {CHAR, 0, 109, 0},
  {CHAR, 0, 112, 0},
  {JUMP, 0, 376, 321},
  {SPLIT, 0, 338, 344},
  {CHAR, 0, 116, 0},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 112, 0},
  {CHAR, 0, 95, 0},
  {CHAR, 0, 112, 0},
  {JUMP, 0, 376, 321},
  {SPLIT, 0, 345, 351},
  {CHAR, 0, 116, 0},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 112, 0},
  {CHAR, 0, 95, 0},
  {CHAR, 0, 107, 0},
  {JUMP, 0, 376, 321},
  {SPLIT, 0, 352, 358},
  {CHAR, 0, 109, 0},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 110, 0},
  {CHAR, 0, 95, 0},
  {CHAR, 0, 112, 0},
  {JUMP, 0, 376, 321},
  {SPLIT, 0, 359, 364},
  {CHAR, 0, 115, 0},
  {CHAR, 0, 101, 0},
  {CHAR, 0, 101, 0},
  {CHAR, 0, 100, 0},
  {JUMP, 0, 376, 321},
  {SPLIT, 0, 365, 371},
  {CHAR, 0, 117, 0},
  {CHAR, 0, 110, 0},
  {CHAR, 0, 116, 0},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 108, 0},
  {JUMP, 0, 376, 321},
  {CHAR, 0, 117, 0},
  {CHAR, 0, 115, 0},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 110, 0},
  {CHAR, 0, 103, 0},
  {BORDER, 0, 0, 0},
  {JUMP, 0, 389, 321},
  {SPLIT, 0, 379, 381},
  {SET, 0, 103, 105},
  {JUMP, 0, 378, 321},
  {SPLIT, 0, 382, 386},
  {CHAR, 0, 35, 0},
  {SPLIT, 0, 384, 386},
  {SET, 1, 105, 106},
  {JUMP, 0, 383, 321},
  {SPLIT, 0, 387, 388},
  {CHAR, 0, 13, 0},
  {END, 0, 0, 0},
  {MATCH, 0, 0, 0},
  {SPLIT, 0, 391, 396},
  {SPLIT, 0, 392, 394},
  {SET, 0, 106, 108},
  {JUMP, 0, 391, 390},
  {CHAR, 0, 34, 0},
  {JUMP, 0, 416, 390},
  {SET, 0, 108, 110},
  {SPLIT, 0, 398, 400},
  {SET, 0, 110, 112},
  {JUMP, 0, 397, 390},
  {SET, 0, 112, 113},
  {SPLIT, 0, 402, 404},
  {SET, 0, 113, 114},
  {JUMP, 0, 401, 390},
  {SET, 0, 114, 116},
  {SPLIT, 0, 406, 408},
  {SET, 0, 116, 118},
  {JUMP, 0, 405, 390},
  {CHAR, 0, 102, 0},
  {CHAR, 0, 114, 0},
  {CHAR, 0, 111, 0},
  {CHAR, 0, 109, 0},
  {SPLIT, 0, 413, 415},
  {SET, 0, 118, 120},
  {JUMP, 0, 412, 390},
  {CHAR, 0, 34, 0},
  {MATCH, 0, 0, 0},
  {SPLIT, 0, 418, 424},
  {SET, 0, 120, 122},
  {SPLIT, 0, 420, 422},
  {SET, 0, 122, 124},
  {JUMP, 0, 419, 417},
  {SET, 1, 124, 126},
  {JUMP, 0, 428, 417},
  {SPLIT, 0, 425, 427},
  {SET, 0, 126, 128},
  {JUMP, 0, 424, 417},
  {SET, 0, 128, 132},
  {MATCH, 0, 0, 0},
  {SPLIT, 0, 430, 435},
  {SPLIT, 0, 431, 433},
  {SET, 0, 132, 134},
  {JUMP, 0, 430, 429},
  {CHAR, 0, 58, 0},
  {JUMP, 0, 444, 429},
  {SET, 0, 134, 136},
  {SPLIT, 0, 437, 439},
  {SET, 0, 136, 138},
  {JUMP, 0, 436, 429},
  {CHAR, 0, 119, 0},
  {CHAR, 0, 105, 0},
  {CHAR, 0, 116, 0},
  {CHAR, 0, 104, 0},
  {BORDER, 0, 0, 0},
  {MATCH, 0, 0, 0},
};

typedef struct {
  const char *word;
  uint16_t token;
  uint16_t program;
} SoftWord;

static const SoftWord SOFT_WORDS[] = {
  {"adopt", WORD_ADOPT, 0},
  {"aside", WORD_ASIDE, 74},
  {"at", WORD_AT, 144},
  {"blend", WORD_BLEND, 155},
  {"check", WORD_CHECK, 0},
  {"choose", WORD_CHOOSE, 160},
  {"each", WORD_EACH, 230},
  {"ensure", WORD_ENSURE, 0},
  {"expect", WORD_EXPECT, 0},
  {"forget", WORD_FORGET, 246},
  {"fork", WORD_FORK, 160},
  {"from", WORD_FROM, 251},
  {"fuzz", WORD_FUZZ, 0},
  {"gen", WORD_GEN, 160},
  {"golden", WORD_GOLDEN, 0},
  {"include", WORD_INCLUDE, 256},
  {"json", WORD_JSON, 261},
  {"match", WORD_MATCH, 0},
  {"mock", WORD_MOCK, 74},
  {"multiple", WORD_MULTIPLE, 273},
  {"one", WORD_ONE, 273},
  {"par", WORD_PAR, 246},
  {"part", WORD_PART, 74},
  {"raises", WORD_RAISES, 281},
  {"replay", WORD_REPLAY, 256},
  {"schema", WORD_SCHEMA, 287},
  {"select", WORD_SELECT, 160},
  {"skip", WORD_SKIP, 295},
  {"span", WORD_SPAN, 273},
  {"sql", WORD_SQL, 300},
  {"stream", WORD_STREAM, 74},
  {"table", WORD_TABLE, 315},
  {"think", WORD_THINK, 321},
  {"typescript", WORD_TYPESCRIPT, 390},
  {"untrusted", WORD_UNTRUSTED, 417},
  {"using", WORD_USING, 74},
  {"without", WORD_WITHOUT, 0},
  {"yield", WORD_YIELD, 0},
  {"system", ROLE_NAME, 429},
  {"user", ROLE_NAME, 429},
  {"assistant", ROLE_NAME, 429},
  {"tool", ROLE_NAME, 429},
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
