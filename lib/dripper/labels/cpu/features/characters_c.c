/* C versions of loops in dripper.labels.cpu.features, built if a C compiler is available (see setup.py): `read` for the module
   `characters`, `count` for `vocabulary`, and `encode` for `tree`.

   They return the same numbers as the numpy versions. Arrays are C-contiguous. A wrong size or type raises ValueError. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* As in dripper.labels.cpu.features.characters and dripper.labels.cpu.features.vocabulary. */
enum { LINE = 2, DIGIT = 6, UNSPACED = 11, N_CLASSES = 16 };
enum { HEAD_WORDS = 60, FREQUENT_WORDS = 25, SHORT_WORD = 3, CUE_WORDS = 12, SIEVE_BITS = 14 };
static const uint64_t BASE = 0x9E3779B97F4A7C15u, PAIR = 0xC2B2AE3D27D4EB4Fu, THIRD = 0x165667B19E3779F9u, SPREAD = 0xBF58476D1CE4E5B9u;

/* Return how many items an array has, or -1 if its items have another size. */
static Py_ssize_t count_items(const Py_buffer *array, Py_ssize_t item_size) {
    return array->itemsize == item_size ? array->len / item_size : -1;
}

static PyObject *done(int fit, Py_ssize_t result, Py_buffer arrays[], int n_arrays) {
    for (int index = 0; index < n_arrays; index++) PyBuffer_Release(&arrays[index]);
    if (fit) return PyLong_FromSsize_t(result);
    PyErr_SetString(PyExc_ValueError, "sizes or types of arrays do not fit");
    return NULL;
}

typedef struct {
    const uint8_t *classes;
    const uint32_t *lower;
    Py_UCS4 n_codes;
    int is_clipped;
    uint64_t *hashes;
    int64_t *lengths, *texts;
    Py_ssize_t n_words;
} Reader;

static void add_word(Reader *reader, uint64_t hash, int64_t length, int64_t text) {
    reader->hashes[reader->n_words] = hash;
    reader->lengths[reader->n_words] = length;
    reader->texts[reader->n_words++] = text;
}

/* Read the characters of one text; each character has `kind` bytes. Return 0 if a character is beyond the tables. */
static inline int read_text(Reader *reader, int kind, const void *data, Py_ssize_t n, Py_ssize_t text, int64_t *counts, uint8_t *edges) {
    uint64_t hash = 0, power = 1;
    int64_t length = 0;
    uint8_t class = LINE;
    for (Py_ssize_t index = 0; index < n; index++) {
        Py_UCS4 code = PyUnicode_READ(kind, data, index);
        if (code >= reader->n_codes) {
            if (!reader->is_clipped) return 0;
            code = reader->n_codes - 1;
        }
        uint8_t before = class;
        class = reader->classes[code] & (N_CLASSES - 1);
        counts[class]++;
        if (index == 0) edges[0] = class;
        if (length && (class < DIGIT || class >= UNSPACED || before >= UNSPACED)) {
            add_word(reader, hash, length, text);
            length = 0;
        }
        if (class < DIGIT) continue;
        if (length == 0) hash = 0, power = 1;
        hash += reader->lower[code] * power;
        power *= BASE;
        length++;
    }
    if (length) add_word(reader, hash, length, text);
    edges[1] = class;
    return 1;
}

static int read_all(Reader *reader, PyObject *texts, int64_t *counts, uint8_t *edges, int64_t *words) {
    for (Py_ssize_t index = 0; index < PyList_GET_SIZE(texts); index++) {
        PyObject *text = PyList_GET_ITEM(texts, index);
        const void *data = PyUnicode_DATA(text);
        Py_ssize_t n = PyUnicode_GET_LENGTH(text), before = reader->n_words;
        int64_t *own = counts + index * N_CLASSES;
        uint8_t *ends = edges + 2 * index;
        int is_read = PyUnicode_KIND(text) == 1   ? read_text(reader, 1, data, n, index, own, ends)
                      : PyUnicode_KIND(text) == 2 ? read_text(reader, 2, data, n, index, own, ends)
                                                  : read_text(reader, 4, data, n, index, own, ends);
        if (!is_read) return 0;
        if (n == 0) ends[0] = ends[1] = LINE;
        words[index] = reader->n_words - before;
    }
    return 1;
}

/* Return the number of characters in a list of texts, or -1 if the list contains anything but texts. */
static Py_ssize_t count_characters(PyObject *texts) {
    Py_ssize_t n = 0;
    for (Py_ssize_t index = 0; index < PyList_GET_SIZE(texts); index++) {
        if (!PyUnicode_Check(PyList_GET_ITEM(texts, index))) return -1;
        n += PyUnicode_GET_LENGTH(PyList_GET_ITEM(texts, index));
    }
    return n;
}

/* read(texts, classes, lower, is_clipped): return the arrays counts, edges (n_texts, 2), words, hashes, lengths and texts as
   bytes, with the contents of characters.PageCharacters; edges contains its `first` and `last`. If a character is beyond the
   tables `classes` and `lower`, use their last entry if is_clipped is set, else return None. */
static PyObject *read_characters(PyObject *self, PyObject *args) {
    Py_buffer arrays[2];
    PyObject *texts, *found[6] = {NULL}, *result = NULL;
    int is_clipped, failed = 0;
    if (!PyArg_ParseTuple(args, "O!y*y*p", &PyList_Type, &texts, &arrays[0], &arrays[1], &is_clipped)) return NULL;
    Py_ssize_t n_texts = PyList_GET_SIZE(texts), n = count_characters(texts), n_codes = count_items(&arrays[0], 1);
    int fit = n >= 0 && n_codes > 0 && n_codes <= 0x110000 && count_items(&arrays[1], 4) == n_codes;
    Py_ssize_t sizes[6] = {n_texts * N_CLASSES * 8, 2 * n_texts, 8 * n_texts, 8 * n, 8 * n, 8 * n};
    for (int index = 0; fit && index < 6; index++) failed |= (found[index] = PyBytes_FromStringAndSize(NULL, sizes[index])) == NULL;
    if (fit && !failed) {
        void *data[6];
        for (int index = 0; index < 6; index++) data[index] = PyBytes_AS_STRING(found[index]);
        memset(data[0], 0, sizes[0]);
        Reader reader = {arrays[0].buf, arrays[1].buf, n_codes, is_clipped, data[3], data[4], data[5], 0};
        int is_read = read_all(&reader, texts, data[0], data[1], data[2]);
        for (int index = 3; is_read && !failed && index < 6; index++) failed = _PyBytes_Resize(&found[index], 8 * reader.n_words) < 0;
        if (!failed) result = is_read ? PyTuple_Pack(6, found[0], found[1], found[2], found[3], found[4], found[5]) : Py_NewRef(Py_None);
    }
    for (int index = 0; index < 6; index++) Py_XDECREF(found[index]);
    Py_XDECREF(done(fit, 0, arrays, 2));
    return result;
}

/* An entry of a hash table of words or shingles. Each caller uses `first` and `last` in its own way. */
typedef struct {
    uint64_t key;
    int32_t first, last;
    uint8_t flags, is_used;
} Entry;

/* Limits of a table. If a search needs more probes, or there are more entries, the caller uses numpy instead, so that no page
   can make the search slow. */
enum { MOST_PROBES = 64, MOST_ENTRIES = 1 << 20 };

typedef struct {
    Entry *entries;
    int32_t *places; /* the entry of each word or shingle */
    int n_bits, shift;
    Py_ssize_t mask;
} Table;

static int prepare(Table *table, Py_ssize_t n) {
    int bits = 0, size = 3;
    while (n >> bits) bits++;
    while ((Py_ssize_t)1 << size < 2 * n) size++;
    *table = (Table){NULL, NULL, bits, 64 - size, ((Py_ssize_t)1 << size) - 1};
    if (n > MOST_ENTRIES) return 0;
    table->entries = calloc(table->mask + 1, sizeof(Entry));
    table->places = malloc((n + 1) * sizeof(int32_t));
    return table->entries != NULL && table->places != NULL;
}

static void clear(Table *table) {
    free(table->entries);
    free(table->places);
}

/* Return the entry of a hash, or NULL if there is no room. The hash's last bits are ignored, as in vocabulary._group_hashes. */
static Entry *entry_of(Table *table, uint64_t hash, Py_ssize_t number) {
    uint64_t spread = hash * SPREAD, key = spread >> table->n_bits;
    for (int probe = 0; probe < MOST_PROBES; probe++) {
        Py_ssize_t place = ((Py_ssize_t)(spread >> table->shift) + probe) & table->mask;
        Entry *entry = &table->entries[place];
        if (entry->is_used && entry->key != key) continue;
        if (!entry->is_used) *entry = (Entry){key, 0, -1, 0, 1};
        table->places[number] = (int32_t)place;
        return entry;
    }
    return NULL;
}

typedef struct {
    const uint64_t *hashes, *cue_keys;
    const int64_t *lengths, *words, *cue_bits;
    const uint8_t *sieve;
    Py_ssize_t n_blocks, n_texts, n_cues;
    int64_t *found; /* (N_FOUND, n_blocks) */
} Page;

enum { SHARED, DISTINCT, FREQUENT, SHORT, CUES, SHINGLES, BEFORE, BEHIND, DESCRIBED, DECLARED, N_FOUND };

static int64_t *found_at(const Page *page, int what) { return page->found + what * page->n_blocks; }

static int64_t bits_of(const Page *page, uint64_t key) {
    if (!page->sieve[key >> (64 - SIEVE_BITS)]) return 0;
    Py_ssize_t first = 0, end = page->n_cues;
    while (first < end) {
        Py_ssize_t middle = first + (end - first) / 2;
        if (page->cue_keys[middle] < key)
            first = middle + 1;
        else
            end = middle;
    }
    return first < page->n_cues && page->cue_keys[first] == key ? page->cue_bits[first] : 0;
}

/* Return the count of the least frequent word among the FREQUENT_WORDS most frequent words of the blocks. */
static int32_t least_frequent(const Table *table) {
    int32_t top[FREQUENT_WORDS] = {0}, least = 1;
    for (Py_ssize_t index = 0; index <= table->mask; index++) {
        int32_t count = table->entries[index].first;
        int place = FREQUENT_WORDS - 1;
        if (count <= top[place]) continue;
        for (; place > 0 && top[place - 1] < count; place--) top[place] = top[place - 1];
        top[place] = count;
    }
    for (int place = 0; place < FREQUENT_WORDS && top[place]; place++) least = top[place];
    return least;
}

/* Fill the rows of `found` for words and cues. Return the number of distinct words in the title, or -1 if the table has no
   room. */
static Py_ssize_t count_words(const Page *page, Table *table, Py_ssize_t n_own) {
    Py_ssize_t n_title = 0;
    for (Py_ssize_t number = n_own; number < n_own + page->words[page->n_blocks]; number++) {
        Entry *entry = entry_of(table, page->hashes[number], number);
        if (entry == NULL) return -1;
        n_title += !entry->flags;
        entry->flags = 1;
    }
    for (Py_ssize_t block = 0, number = 0; block < page->n_blocks; block++)
        for (Py_ssize_t place = 0; place < page->words[block]; place++, number++) {
            Entry *entry = entry_of(table, page->hashes[number], number);
            if (entry == NULL) return -1;
            entry->first++;
            if (entry->last != block) found_at(page, DISTINCT)[block]++, found_at(page, SHARED)[block] += entry->flags;
            entry->last = (int32_t)block;
        }
    int32_t least = least_frequent(table);
    for (Py_ssize_t block = 0, start = 0; block < page->n_blocks; start += page->words[block++])
        for (Py_ssize_t place = 0; place < page->words[block] && place < HEAD_WORDS; place++) {
            const uint64_t *hash = &page->hashes[start + place];
            found_at(page, FREQUENT)[block] += table->entries[table->places[start + place]].first >= least;
            found_at(page, SHORT)[block] += page->lengths[start + place] <= SHORT_WORD;
            if (place >= CUE_WORDS) continue;
            found_at(page, CUES)[block] |= bits_of(page, hash[0]) | (place ? bits_of(page, hash[-1] + hash[0] * PAIR) : 0);
        }
    return n_title;
}

/* Fill the rows of `found` for shingles. Return 0, or -1 if the table has no room. */
static int count_shingles(const Page *page, Table *table) {
    Py_ssize_t number = 0;
    for (Py_ssize_t text = 0, start = 0; text < page->n_texts; start += page->words[text++])
        for (Py_ssize_t place = 0; place + 2 < page->words[text]; place++) {
            const uint64_t *hash = &page->hashes[start + place];
            Entry *entry = entry_of(table, hash[0] + hash[1] * PAIR + hash[2] * THIRD, number);
            if (entry == NULL) return -1;
            if (!entry->flags) entry->first = (int32_t)text;
            if (text < page->n_blocks) entry->last = (int32_t)text;
            entry->flags |= text == page->n_blocks + 1 ? 2 : text == page->n_blocks + 2 ? 4 : 1;
            number++;
        }
    number = 0;
    for (Py_ssize_t block = 0; block < page->n_blocks; block++)
        for (Py_ssize_t place = 0; place + 2 < page->words[block]; place++) {
            const Entry *entry = &table->entries[table->places[number++]];
            found_at(page, SHINGLES)[block]++;
            found_at(page, BEFORE)[block] += entry->first < block;
            found_at(page, BEHIND)[block] += entry->last > block;
            found_at(page, DESCRIBED)[block] += entry->flags >> 1 & 1;
            found_at(page, DECLARED)[block] += entry->flags >> 2;
        }
    return 0;
}

/* Return the number of words in the blocks, or -1 if the words of all texts do not add up to n. Set n_shingles to the number of
   shingles in all texts. */
static Py_ssize_t add_up(const Page *page, Py_ssize_t n, Py_ssize_t *n_shingles) {
    Py_ssize_t sum = 0, n_own = 0;
    *n_shingles = 0;
    for (Py_ssize_t text = 0; text < page->n_texts; text++) {
        if (page->words[text] < 0 || page->words[text] > n - sum) return -1;
        if (text == page->n_blocks) n_own = sum;
        sum += page->words[text];
        *n_shingles += page->words[text] > 2 ? page->words[text] - 2 : 0;
    }
    return sum == n ? n_own : -1;
}

/* count(hashes, lengths, words, n_blocks, sieve, cue_keys, cue_bits, found): C version of vocabulary._count. `found` is int64,
   (N_FOUND, n_blocks), and contains only zeros. Fill it, and return the number of distinct words in the title. If the result is
   -1, the caller must use numpy. */
static PyObject *count_words_of(PyObject *self, PyObject *args) {
    Py_buffer arrays[7];
    Py_ssize_t n_blocks, n_shingles = 0;
    if (!PyArg_ParseTuple(args, "y*y*y*ny*y*y*w*", &arrays[0], &arrays[1], &arrays[2], &n_blocks, &arrays[3], &arrays[4], &arrays[5],
                          &arrays[6]))
        return NULL;
    Py_ssize_t n = count_items(&arrays[0], 8), n_texts = count_items(&arrays[2], 8), n_cues = count_items(&arrays[4], 8);
    Page page = {arrays[0].buf, arrays[4].buf, arrays[1].buf, arrays[2].buf, arrays[5].buf, arrays[3].buf, n_blocks, n_texts, n_cues,
                 arrays[6].buf};
    int fit = n >= 0 && count_items(&arrays[1], 8) == n && n_blocks >= 0 && n_blocks < n_texts && n_texts < MOST_ENTRIES && n_cues >= 0 &&
              count_items(&arrays[3], 1) == 1 << SIEVE_BITS && count_items(&arrays[5], 8) == n_cues &&
              count_items(&arrays[6], 8) == N_FOUND * n_blocks;
    Py_ssize_t n_own = fit ? add_up(&page, n, &n_shingles) : -1, n_title = -1;
    Table words = {0}, shingles = {0};
    if (n_own >= 0 && prepare(&words, n_own + page.words[n_blocks]) && prepare(&shingles, n_shingles) &&
        count_shingles(&page, &shingles) == 0)
        n_title = count_words(&page, &words, n_own);
    clear(&words);
    clear(&shingles);
    return done(n_own >= 0, n_title, arrays, 7);
}

/* A word that was already looked up, with its bits. */
typedef struct {
    uint8_t length;
    char letters[27];
    uint32_t bits;
} Known;

typedef struct {
    Known *known;
    size_t n_known;
    PyObject *look_up;
} Words;

/* Return the bits of a lower-case word, or -1 with an exception set. */
static int64_t bits_of_word(const Words *words, const char *letters, Py_ssize_t length) {
    uint64_t hash = length;
    for (Py_ssize_t index = 0; index < length; index++) hash = (hash ^ (uint8_t)letters[index]) * SPREAD;
    Known *known = &words->known[(hash ^ hash >> 32) % words->n_known];
    if (known->length == length && memcmp(known->letters, letters, length) == 0) return known->bits;
    PyObject *found = PyObject_CallFunction(words->look_up, "s#", letters, length);
    int64_t bits = found == NULL ? -1 : (int64_t)PyLong_AsUnsignedLong(found);
    Py_XDECREF(found);
    if (bits < 0 || PyErr_Occurred() || bits > UINT32_MAX) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "bits must be below 2^32");
        return -1;
    }
    if (length > 0 && (size_t)length <= sizeof known->letters) {
        known->length = (uint8_t)length, known->bits = (uint32_t)bits;
        memcpy(known->letters, letters, length);
    }
    return bits;
}

/* If one of the naming attributes (` KEY="`) begins at `at`, return the index of its value, else -1. */
static Py_ssize_t value_at(int kind, const void *tag, Py_ssize_t at, Py_ssize_t length) {
    static const char *const NAMING[] = {" class=\"", " id=\"", " role=\"", " itemprop=\""};
    for (int key = 0; key < 4; key++) {
        Py_ssize_t size = (Py_ssize_t)strlen(NAMING[key]), same = 0;
        while (same < size && at + same < length && PyUnicode_READ(kind, tag, at + same) == (Py_UCS4)NAMING[key][same]) same++;
        if (same == size) return at + size;
    }
    return -1;
}

enum { LONGEST_VALUE = 200 };

/* Return the bits of the words in a tag's names, or -1 with an exception set. */
static int64_t bits_of_tag(const Words *words, PyObject *tag) {
    int kind = PyUnicode_KIND(tag);
    const void *data = PyUnicode_DATA(tag);
    Py_ssize_t length = PyUnicode_GET_LENGTH(tag), at = 0, start;
    int64_t bits = 0;
    while ((at = PyUnicode_FindChar(tag, ' ', at, length, 1)) >= 0) {
        if ((start = value_at(kind, data, at, length)) < 0) {
            at++;
            continue;
        }
        char word[LONGEST_VALUE];
        Py_ssize_t n_letters = 0, end = start;
        int is_small = 0;
        for (;; end++) {
            Py_UCS4 letter = end < length && end - start < LONGEST_VALUE ? PyUnicode_READ(kind, data, end) : '"';
            int is_capital = letter >= 'A' && letter <= 'Z', is_letter = is_capital || (letter >= 'a' && letter <= 'z');
            if (n_letters && (!is_letter || (is_capital && is_small))) {
                int64_t more = bits_of_word(words, word, n_letters);
                if (more < 0) return -1;
                bits |= more;
                n_letters = 0;
            }
            if (letter == '"') break;
            if (is_letter) word[n_letters++] = (char)(letter | 32);
            is_small = is_letter && !is_capital;
        }
        at = end > start ? end : at + 1;
    }
    return bits;
}

/* encode(start_tags, known, look_up): C version of tree.encode_names. known: a cache of the results of `look_up`, at first all
   zeros. */
static PyObject *encode(PyObject *self, PyObject *args) {
    PyObject *tags, *found = PyList_New(0);
    Py_buffer memory;
    Words words = {NULL, 0, NULL};
    if (found == NULL || !PyArg_ParseTuple(args, "O!w*O", &PyList_Type, &tags, &memory, &words.look_up)) {
        Py_XDECREF(found);
        return NULL;
    }
    words.known = memory.buf, words.n_known = memory.len / sizeof(Known);
    int failed = words.n_known == 0;
    if (failed) PyErr_SetString(PyExc_ValueError, "no room for a word");
    for (Py_ssize_t index = 0; !failed && index < PyList_GET_SIZE(tags); index++) {
        PyObject *tag = Py_NewRef(PyList_GET_ITEM(tags, index));
        int64_t bits = PyUnicode_Check(tag) ? bits_of_tag(&words, tag) : 0;
        Py_DECREF(tag);
        PyObject *number = bits < 0 ? NULL : PyLong_FromLongLong(bits);
        failed = number == NULL || PyList_Append(found, number) < 0;
        Py_XDECREF(number);
    }
    PyBuffer_Release(&memory);
    if (failed) Py_CLEAR(found);
    return found;
}

static PyMethodDef FUNCTIONS[] = {
    {"encode", encode, METH_VARARGS, NULL},
    {"read", read_characters, METH_VARARGS, NULL},
    {"count", count_words_of, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "characters_c", NULL, 0, FUNCTIONS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_characters_c(void) { return PyModule_Create(&MODULE); }
