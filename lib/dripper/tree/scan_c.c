/* C versions of loops in dripper.tree.scan, built if a C compiler is available (see setup.py). */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* `split` returns the same parts as the regular expression of dripper.tree.scan, but stores equal tags as one string. Three of
   four tags of a page are copies. Sharing them saves memory, and a later lookup need not hash and compare the string again. */

/* If the first MOST_PROBES slots for a tag are taken, the tag is stored as a copy. So no page can make the search slow. */
enum { FIRST_SLOTS = 1024, MOST_PROBES = 8 };

typedef struct {
    Py_ssize_t start, length;
    PyObject *tag; /* borrowed from the list of parts; NULL if the slot is free */
} Slot;

typedef struct {
    PyObject *markup, *parts, *reference, *blank; /* `&nbsp;` and the character to write instead, or NULL to keep the reference */
    const unsigned char *bytes;
    Py_ssize_t kind; /* bytes per character */
    Slot *slots;
    size_t n_slots, n_used;
} Splitter;

static uint64_t hash_of(const unsigned char *bytes, size_t n_bytes) {
    uint64_t hash = n_bytes, word;
    for (; n_bytes >= 8; bytes += 8, n_bytes -= 8) {
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, bytes, n_bytes);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

/* Return the slot that holds the tag markup[start : start + length], else a free slot, or NULL if all probed slots are taken. */
static Slot *slot_of(Splitter *splitter, Py_ssize_t start, Py_ssize_t length) {
    const unsigned char *own = splitter->bytes + start * splitter->kind;
    size_t n_bytes = length * splitter->kind, place = hash_of(own, n_bytes);
    for (int probe = 0; probe < MOST_PROBES; probe++) {
        Slot *slot = &splitter->slots[(place + probe) & (splitter->n_slots - 1)];
        if (slot->tag == NULL) return slot;
        if (slot->length == length && memcmp(splitter->bytes + slot->start * splitter->kind, own, n_bytes) == 0) return slot;
    }
    return NULL;
}

/* Return 0, or -1 with an exception. */
static int grow(Splitter *splitter) {
    Splitter larger = *splitter;
    larger.n_slots = splitter->n_slots ? 4 * splitter->n_slots : FIRST_SLOTS;
    larger.slots = PyMem_Calloc(larger.n_slots, sizeof(Slot));
    if (larger.slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t index = 0; index < splitter->n_slots; index++) {
        Slot *old = &splitter->slots[index], *new = old->tag ? slot_of(&larger, old->start, old->length) : NULL;
        if (new != NULL) *new = *old;
    }
    PyMem_Free(splitter->slots);
    *splitter = larger;
    return 0;
}

/* Return markup[start : end] as a part. */
static PyObject *part_of(Splitter *splitter, Py_ssize_t start, Py_ssize_t end) {
    PyObject *part = PyUnicode_Substring(splitter->markup, start, end);
    if (part == NULL || splitter->blank == NULL || PyUnicode_FindChar(splitter->markup, '&', start, end, 1) < 0) return part;
    PyObject *mended = PyUnicode_Replace(part, splitter->reference, splitter->blank, -1);
    Py_DECREF(part);
    return mended;
}

/* Append a part and release the caller's reference to it. Return 0, or -1 with an exception. */
static int append(Splitter *splitter, PyObject *part) {
    int failed = part == NULL || PyList_Append(splitter->parts, part) < 0;
    Py_XDECREF(part);
    return failed ? -1 : 0;
}

static int append_tag(Splitter *splitter, Py_ssize_t start, Py_ssize_t end) {
    if (2 * splitter->n_used >= splitter->n_slots && grow(splitter) < 0) return -1;
    Slot *slot = slot_of(splitter, start, end - start);
    if (slot != NULL && slot->tag != NULL) return append(splitter, Py_NewRef(slot->tag));
    PyObject *tag = part_of(splitter, start, end);
    if (tag != NULL && slot != NULL) {
        *slot = (Slot){start, end - start, tag};
        splitter->n_used++;
    }
    return append(splitter, tag);
}

/* Return the index after the comment or tag that begins at `start`, -1 if it has no end, or -2 with an exception. */
static Py_ssize_t end_of_token(PyObject *markup, Py_ssize_t start, Py_ssize_t length) {
    static const char OPENS_COMMENT[] = "<!--";
    Py_ssize_t first = PyUnicode_FindChar(markup, '>', start, length, 1), end = first;
    int is_comment = length - start >= 4;
    for (int index = 0; is_comment && index < 4; index++)
        is_comment = PyUnicode_READ_CHAR(markup, start + index) == (Py_UCS4)OPENS_COMMENT[index];
    while (is_comment && end >= 0) {
        if (end >= start + 6 && PyUnicode_READ_CHAR(markup, end - 1) == '-' && PyUnicode_READ_CHAR(markup, end - 2) == '-')
            return end + 1;
        end = PyUnicode_FindChar(markup, '>', end + 1, length, 1);
    }
    return end == -2 || first < 0 ? Py_MIN(first, end) : first + 1;
}

/* Return 0, or -1 with an exception. */
static int append_all(Splitter *splitter) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(splitter->markup), done = 0, start = 0;
    for (;;) {
        start = PyUnicode_FindChar(splitter->markup, '<', start, length, 1);
        if (start < 0) break;
        Py_ssize_t end = end_of_token(splitter->markup, start, length);
        if (end < 0) {
            start = end;
            break; /* no ">" after this "<", so none after a later "<" either */
        }
        if (append(splitter, part_of(splitter, done, start)) < 0 || append_tag(splitter, start, end) < 0)
            return -1;
        start = done = end;
    }
    return start == -2 ? -1 : append(splitter, part_of(splitter, done, length));
}

/* split(markup, has_blanks): return alternating texts and tags. With has_blanks, replace each `&nbsp;` by its character. */
static PyObject *split(PyObject *self, PyObject *args) {
    PyObject *markup;
    int has_blanks;
    if (!PyArg_ParseTuple(args, "Up", &markup, &has_blanks)) return NULL;
    PyObject *reference = PyUnicode_FromString("&nbsp;"), *blank = has_blanks ? PyUnicode_FromOrdinal(0xA0) : NULL;
    Splitter splitter = {markup, PyList_New(0), reference, blank, PyUnicode_DATA(markup), PyUnicode_KIND(markup), NULL, 0, 0};
    if (!splitter.parts || !reference || (has_blanks && !blank) || append_all(&splitter) < 0) Py_CLEAR(splitter.parts);
    PyMem_Free(splitter.slots);
    Py_XDECREF(reference);
    Py_XDECREF(blank);
    return splitter.parts;
}

/* Kinds of tags, as in dripper.tree.scan. */
enum { START, VOID, HIDDEN, END, DROP };

/* The attributes to read. starting: for each ASCII letter, a bit mask of the keys that begin with it. */
enum { MOST_KEYS = 32 };

typedef struct {
    const char *texts[MOST_KEYS];
    Py_ssize_t lengths[MOST_KEYS];
    PyObject *found[MOST_KEYS]; /* borrowed from the result: dicts from tags to values */
    uint32_t starting[128];
} Keys;

/* Return the index of the key if `KEY="` begins at `start`, else -1. */
static int key_at(const Keys *keys, PyObject *tag, Py_ssize_t start, Py_ssize_t length) {
    Py_UCS4 first = start < length ? PyUnicode_READ_CHAR(tag, start) : 128;
    uint32_t left = first < 128 ? keys->starting[first] : 0;
    for (int key = 0; left; key++, left >>= 1) {
        Py_ssize_t size = keys->lengths[key], same = 1;
        if (!(left & 1) || length - start < size + 2) continue;
        while (same < size && PyUnicode_READ_CHAR(tag, start + same) == (Py_UCS4)keys->texts[key][same]) same++;
        if (same == size && PyUnicode_READ_CHAR(tag, start + size) == '=' && PyUnicode_READ_CHAR(tag, start + size + 1) == '"')
            return key;
    }
    return -1;
}

/* Add the first value of each key. Return 0, or -1 with an exception. */
static int read_values(const Keys *keys, PyObject *tag) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(tag), at = 0;
    while ((at = PyUnicode_FindChar(tag, ' ', at, length, 1)) >= 0) {
        int key = key_at(keys, tag, ++at, length);
        if (key < 0) continue;
        Py_ssize_t start = at + keys->lengths[key] + 2, end = PyUnicode_FindChar(tag, '"', start, length, 1);
        if (end == -1) continue;
        PyObject *value = end < 0 ? NULL : PyUnicode_Substring(tag, start, end);
        int failed = value == NULL || PyDict_SetDefault(keys->found[key], tag, value) == NULL;
        Py_XDECREF(value);
        if (failed) return -1;
        at = end;
    }
    return at == -2 ? -1 : 0;
}

typedef struct {
    PyObject *names, *kinds, *start_tags, *void_names;
} Names;

/* Return 0, or -1 with an exception. */
static int read_name(const Names *found, const Keys *keys, PyObject *tag) {
    Py_ssize_t length = PyUnicode_Check(tag) ? PyUnicode_GET_LENGTH(tag) : 0;
    if (length < 2) {
        PyErr_SetString(PyExc_ValueError, "a tag must be a str of two characters or more");
        return -1;
    }
    Py_UCS4 second = PyUnicode_READ_CHAR(tag, 1);
    int kind = DROP, is_end = second == '/';
    if (second != '!' && second != '?') {
        Py_ssize_t space = is_end ? -1 : PyUnicode_FindChar(tag, ' ', 0, length, 1);
        PyObject *name = space == -2 ? NULL : PyUnicode_Substring(tag, 1 + is_end, space < 0 ? length - 1 : space);
        if (name != NULL) PyUnicode_InternInPlace(&name);
        int is_void = name == NULL || PyDict_SetItem(found->names, tag, name) < 0 ? -1 : PySequence_Contains(found->void_names, name);
        Py_XDECREF(name);
        if (is_void < 0) return -1;
        if (!is_end && (PyList_Append(found->start_tags, tag) < 0 || read_values(keys, tag) < 0)) return -1;
        kind = is_end ? (is_void ? DROP : END) : (is_void ? VOID : START);
    }
    PyObject *number = PyLong_FromLong(kind);
    int failed = number == NULL || PyDict_SetItem(found->kinds, tag, number) < 0;
    Py_XDECREF(number);
    return failed ? -1 : 0;
}

/* Fill in `keys`, and add a dict to `values` for each key. Return 0, or -1 with an exception. */
static int prepare(Keys *keys, PyObject *names, PyObject *values) {
    Py_ssize_t n_keys = PyTuple_GET_SIZE(names);
    for (Py_ssize_t key = 0; key < n_keys && key < MOST_KEYS; key++) {
        PyObject *name = PyTuple_GET_ITEM(names, key), *found = PyDict_New();
        keys->found[key] = found == NULL ? NULL : PyDict_SetDefault(values, name, found);
        Py_XDECREF(found);
        keys->texts[key] = keys->found[key] == NULL || !PyUnicode_Check(name) ? NULL : PyUnicode_AsUTF8AndSize(name, &keys->lengths[key]);
        if (keys->texts[key] == NULL || keys->lengths[key] == 0 || !PyUnicode_IS_ASCII(name)) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a key must be a str of ASCII letters");
            return -1;
        }
        keys->starting[(unsigned char)keys->texts[key][0]] |= (uint32_t)1 << key;
    }
    if (n_keys <= MOST_KEYS) return 0;
    PyErr_SetString(PyExc_ValueError, "too many keys");
    return -1;
}

/* read_names(tags, void, keys): return names, kinds, start tags, and for each key a dict from tags to values. */
static PyObject *read_names(PyObject *self, PyObject *args) {
    PyObject *tags, *void_names, *key_names;
    if (!PyArg_ParseTuple(args, "OOO!", &tags, &void_names, &PyTuple_Type, &key_names)) return NULL;
    Keys keys = {0};
    Names found = {PyDict_New(), PyDict_New(), PyList_New(0), void_names};
    PyObject *values = PyDict_New(), *all = PySequence_Fast(tags, "tags must be iterable");
    int failed = !found.names || !found.kinds || !found.start_tags || !values || !all || prepare(&keys, key_names, values) < 0;
    for (Py_ssize_t index = 0; !failed && index < PySequence_Fast_GET_SIZE(all); index++)
        failed = read_name(&found, &keys, PySequence_Fast_GET_ITEM(all, index)) < 0;
    PyObject *result = failed ? NULL : PyTuple_Pack(4, found.names, found.kinds, found.start_tags, values);
    Py_XDECREF(found.names);
    Py_XDECREF(found.kinds);
    Py_XDECREF(found.start_tags);
    Py_XDECREF(values);
    Py_XDECREF(all);
    return result;
}

/* The elements found so far. Each array has one entry per tag. hidden: the index of the start tag if the element is to be cut out
   when it is small, else 0. outer: the parents of the open elements. cuts: a list of ranges. */
typedef struct {
    Py_ssize_t *parents, *opens, *closes, *lasts, *hidden, *outer;
    Py_ssize_t n_elements, n_open;
    PyObject *cuts;
} Elements;

/* text_before: a list of the cumulative lengths of the texts, beginning with 0. May be empty if no tag is HIDDEN. */
typedef struct {
    const unsigned char *kinds;
    Py_ssize_t n_tags;
    PyObject *text_before;
    double hidden_share;
} Tags;

/* Add a range of parts to the cuts, and remove the cuts inside this range. Return 0, or -1 with an exception. */
static int cut(PyObject *cuts, Py_ssize_t first, Py_ssize_t last) {
    Py_ssize_t n_cuts = PyList_GET_SIZE(cuts), n_kept = n_cuts;
    while (n_kept > 0 && PyLong_AsSsize_t(PyTuple_GET_ITEM(PyList_GET_ITEM(cuts, n_kept - 1), 0)) > first) n_kept--;
    if (PyList_SetSlice(cuts, n_kept, n_cuts, NULL) < 0) return -1;
    PyObject *range = Py_BuildValue("(nn)", first, last);
    int failed = range == NULL || PyList_Append(cuts, range) < 0;
    Py_XDECREF(range);
    return failed ? -1 : 0;
}

/* Return whether a hidden element has so little of the page's text that it is cut out. first, last: its start and end tag. */
static int is_small(const Tags *tags, Py_ssize_t first, Py_ssize_t last) {
    Py_ssize_t before = PyLong_AsSsize_t(PyList_GET_ITEM(tags->text_before, first + 1));
    Py_ssize_t behind = PyLong_AsSsize_t(PyList_GET_ITEM(tags->text_before, last + 1));
    return behind - before <= tags->hidden_share * PyLong_AsSsize_t(PyList_GET_ITEM(tags->text_before, tags->n_tags + 1));
}

/* Return 1, 0 if tags do not balance, or -1 with an exception. */
static int find_elements(const Tags *tags, Elements *found) {
    Py_ssize_t shift = 0, parent = -1;
    for (Py_ssize_t tag = 0; tag < tags->n_tags; tag++) {
        Py_ssize_t index = 2 * tag + 1, number = found->n_elements;
        int kind = tags->kinds[tag];
        if (kind < END) {
            found->n_elements++;
            found->parents[number] = parent;
            found->opens[number] = found->closes[number] = index - shift;
            found->lasts[number] = number;
            found->hidden[number] = kind == HIDDEN ? index : 0;
            if (kind != VOID) {
                found->outer[found->n_open++] = parent;
                parent = number;
            }
        } else if (kind == DROP) {
            if (cut(found->cuts, index, index) < 0) return -1;
            shift += 2;
        } else if (parent < 0) {
            return 0;
        } else {
            Py_ssize_t first = found->hidden[parent];
            if (first && is_small(tags, first / 2, tag)) {
                shift = index + 1 - (found->opens[parent] - 1);
                found->n_elements = parent;
                if (cut(found->cuts, first, index) < 0) return -1;
            } else {
                found->closes[parent] = index - shift;
                found->lasts[parent] = number - 1;
            }
            parent = found->outer[--found->n_open];
        }
    }
    return parent < 0;
}

static PyObject *as_list(const Py_ssize_t *values, Py_ssize_t length) {
    PyObject *list = PyList_New(length);
    for (Py_ssize_t index = 0; list != NULL && index < length; index++) {
        PyObject *value = PyLong_FromSsize_t(values[index]);
        if (value != NULL)
            PyList_SET_ITEM(list, index, value);
        else
            Py_CLEAR(list);
    }
    return list;
}

static int is_text_before(PyObject *text_before, Py_ssize_t n_tags) {
    for (Py_ssize_t index = 0; index < PyList_GET_SIZE(text_before); index++)
        if (!PyLong_Check(PyList_GET_ITEM(text_before, index))) return 0;
    return PyList_GET_SIZE(text_before) == n_tags + 2;
}

/* elements(kinds, text_before, hidden_share): see `find_elements` in dripper.tree.scan. */
static PyObject *elements(PyObject *self, PyObject *args) {
    Tags tags;
    if (!PyArg_ParseTuple(args, "y#O!d", &tags.kinds, &tags.n_tags, &PyList_Type, &tags.text_before, &tags.hidden_share)) return NULL;
    if (memchr(tags.kinds, HIDDEN, tags.n_tags) != NULL && !is_text_before(tags.text_before, tags.n_tags)) {
        PyErr_SetString(PyExc_ValueError, "text_before must be a list of n_tags + 2 integers");
        return NULL;
    }
    Py_ssize_t *arrays = PyMem_Calloc(6 * tags.n_tags + 1, sizeof(Py_ssize_t)), n = tags.n_tags;
    if (arrays == NULL) return PyErr_NoMemory();
    Elements found = {arrays, arrays + n, arrays + 2 * n, arrays + 3 * n, arrays + 4 * n, arrays + 5 * n, 0, 0, PyList_New(0)};
    int balanced = found.cuts == NULL ? -1 : find_elements(&tags, &found);
    PyObject *result = balanced == 0 ? Py_NewRef(Py_None) : NULL;
    if (balanced == 1)
        result = Py_BuildValue("(NNNNO)", as_list(found.parents, found.n_elements), as_list(found.opens, found.n_elements),
                               as_list(found.closes, found.n_elements), as_list(found.lasts, found.n_elements), found.cuts);
    Py_XDECREF(found.cuts);
    PyMem_Free(arrays);
    return result;
}

static PyMethodDef FUNCTIONS[] = {
    {"split", split, METH_VARARGS, NULL},
    {"read_names", read_names, METH_VARARGS, NULL},
    {"elements", elements, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "scan_c", NULL, 0, FUNCTIONS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_scan_c(void) { return PyModule_Create(&MODULE); }
