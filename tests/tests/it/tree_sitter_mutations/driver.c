// Parses the texts of a file with the grammar, each of them once from the start, and once more after an edit in its middle. In the
// file stands before each text its length, as four bytes with the lowest first.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_prose(void);

static TSPoint point_at(const char *text, uint32_t at) {
    TSPoint point = {0, 0};
    for (uint32_t i = 0; i < at; i++) {
        point.column++;
        if (text[i] == '\n') point = (TSPoint){point.row + 1, 0};
    }
    return point;
}

static void parse(TSParser *parser, char *text, uint32_t length) {
    TSTree *tree = ts_parser_parse_string(parser, NULL, text, length);
    uint32_t start = length / 2;
    uint32_t end = start + (length - start) / 8;
    TSPoint start_point = point_at(text, start);
    ts_tree_edit(tree, &(TSInputEdit){start, end, start, start_point, point_at(text, end), start_point});
    memmove(text + start, text + end, length - end);
    TSTree *edited = ts_parser_parse_string(parser, tree, text, length - (end - start));
    ts_tree_delete(tree);
    ts_tree_delete(edited);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    FILE *file = fopen(argv[1], "rb");
    if (!file) return 2;
    TSParser *parser = ts_parser_new();
    if (!ts_parser_set_language(parser, tree_sitter_prose())) return 2;
    unsigned count = 0;
    unsigned char size[4];
    while (fread(size, 1, sizeof size, file) == sizeof size) {
        uint32_t length = size[0] | size[1] << 8 | size[2] << 16 | (uint32_t)size[3] << 24;
        // Of its exact length, so that reading behind the end is seen.
        char *text = malloc(length ? length : 1);
        if (fread(text, 1, length, file) != length) return 2;
        parse(parser, text, length);
        free(text);
        count++;
    }
    ts_parser_delete(parser);
    fclose(file);
    printf("%u texts\n", count);
    return 0;
}
