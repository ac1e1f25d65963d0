/* PageCharacters of dripper.labels.cpu.features.characters, in one pass, where a C compiler was at hand (see setup.py). The same integers as numpy
   gives there. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

/* As in dripper.labels.cpu.features.characters. */
enum { LINE = 2, DIGIT = 6, UNSPACED = 11, N_CLASSES = 16 };
static const uint64_t BASE = 0x9E3779B97F4A7C15u;

typedef struct {
    const uint8_t *class_of;
    const uint32_t *lower_of;
    Py_ssize_t n_codes;
    uint64_t *hashes;
    int64_t *lengths, *owners;
    Py_ssize_t n_words;
} Reader;

static void add_word(Reader *reader, uint64_t hash, int64_t length, int64_t owner) {
    reader->hashes[reader->n_words] = hash;
    reader->lengths[reader->n_words] = length;
    reader->owners[reader->n_words] = owner;
    reader->n_words++;
}

/* Count the classes of one text's characters, and add its words. */
static void read_text(Reader *reader, PyObject *text, int64_t number, int64_t *counts, uint8_t *first, uint8_t *last) {
    int kind = PyUnicode_KIND(text);
    const void *characters = PyUnicode_DATA(text);
    Py_ssize_t n_characters = PyUnicode_GET_LENGTH(text);
    uint64_t hash = 0, power = 1;
    int64_t length = 0;
    *first = *last = LINE;
    for (Py_ssize_t index = 0; index < n_characters; index++) {
        Py_UCS4 code = PyUnicode_READ(kind, characters, index);
        if (code >= (Py_UCS4)reader->n_codes) code = (Py_UCS4)reader->n_codes - 1;
        uint8_t class = reader->class_of[code] & (N_CLASSES - 1);
        uint32_t lower = reader->lower_of[code];
        counts[class]++;
        if (index == 0) *first = class;
        *last = class;
        if (class >= DIGIT && class < UNSPACED) {
            hash += lower * power;
            power *= BASE;
            length++;
            continue;
        }
        if (length) {
            add_word(reader, hash, length, number);
            hash = 0, power = 1, length = 0;
        }
        if (class >= UNSPACED) add_word(reader, lower, 1, number);
    }
    if (length) add_word(reader, hash, length, number);
}

/* Return how many characters all texts have, -1 if one is no text. */
static Py_ssize_t length_of_all(PyObject *texts) {
    Py_ssize_t n_characters = 0;
    for (Py_ssize_t number = 0; number < PyList_GET_SIZE(texts); number++) {
        PyObject *text = PyList_GET_ITEM(texts, number);
        if (!PyUnicode_Check(text)) return -1;
        n_characters += PyUnicode_GET_LENGTH(text);
    }
    return n_characters;
}

/* The number of words read, or -1 where sizes do not fit. Arrays: as `read_texts` names them. */
static Py_ssize_t read_all(PyObject *texts, Py_buffer arrays[9]) {
    Py_ssize_t n_texts = PyList_GET_SIZE(texts), n_characters = length_of_all(texts), n_codes = arrays[0].len;
    const Py_ssize_t least[9] = {1, n_codes * 4, n_texts * N_CLASSES * 8, n_texts, n_texts, n_texts * 8, n_characters * 8,
                                 n_characters * 8, n_characters * 8};
    if (n_characters < 0) return -1;
    for (int index = 0; index < 9; index++)
        if (arrays[index].len < least[index]) return -1;
    int64_t *counts = arrays[2].buf, *words = arrays[5].buf;
    uint8_t *first = arrays[3].buf, *last = arrays[4].buf;
    Reader reader = {arrays[0].buf, arrays[1].buf, n_codes, arrays[6].buf, arrays[7].buf, arrays[8].buf, 0};
    for (Py_ssize_t number = 0; number < n_texts; number++) {
        Py_ssize_t n_before = reader.n_words;
        read_text(&reader, PyList_GET_ITEM(texts, number), number, counts + number * N_CLASSES, first + number, last + number);
        words[number] = reader.n_words - n_before;
    }
    return reader.n_words;
}

/* read(texts, class_of, lower_of, counts, first, last, words, hashes, lengths, owners): read a list of texts, return how many words
   they have. class_of (uint8), lower_of (uint32): of each code point, the last for all beyond. What is read is written to counts
   (int64, (n_texts, N_CLASSES), zeros before), first, last (uint8, (n_texts,)), words (int64, (n_texts,)), hashes (uint64), lengths
   and owners (int64), the last three with room for as many words as there are characters. */
static PyObject *read_texts(PyObject *self, PyObject *args) {
    PyObject *texts;
    Py_buffer arrays[9];
    if (!PyArg_ParseTuple(args, "O!y*y*w*w*w*w*w*w*w*", &PyList_Type, &texts, &arrays[0], &arrays[1], &arrays[2], &arrays[3],
                          &arrays[4], &arrays[5], &arrays[6], &arrays[7], &arrays[8]))
        return NULL;
    Py_ssize_t n_words = read_all(texts, arrays);
    for (int index = 0; index < 9; index++) PyBuffer_Release(&arrays[index]);
    if (n_words >= 0) return PyLong_FromSsize_t(n_words);
    PyErr_SetString(PyExc_ValueError, "texts are not all strings, or arrays are too small");
    return NULL;
}

static PyMethodDef FUNCTIONS[] = {
    {"read", read_texts, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "characters_c", NULL, 0, FUNCTIONS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_characters_c(void) { return PyModule_Create(&MODULE); }
