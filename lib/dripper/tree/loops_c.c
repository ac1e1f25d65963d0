/* C versions of the loops in dripper.tree.loops, built if a C compiler is available (see setup.py). Results are the same. Lists
   with lengths or indexes that do not fit together raise IndexError. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

static void *refuse(void) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_IndexError, "lists do not fit together");
    return NULL;
}

/* Return the text at an index; NULL with an exception if there is none. */
static PyObject *text_at(PyObject *texts, Py_ssize_t index) {
    PyObject *text = index >= 0 && index < PyList_GET_SIZE(texts) ? PyList_GET_ITEM(texts, index) : NULL;
    return text != NULL && PyUnicode_Check(text) ? text : refuse();
}

/* Return the number at an index, at least `least` and under `end`; -1 with an exception if there is none. */
static Py_ssize_t number_at(PyObject *numbers, Py_ssize_t index, Py_ssize_t least, Py_ssize_t end) {
    PyObject *number = index >= 0 && index < PyList_GET_SIZE(numbers) ? PyList_GET_ITEM(numbers, index) : NULL;
    Py_ssize_t value = number != NULL && PyLong_Check(number) ? PyLong_AsSsize_t(number) : -1;
    if (value >= least && value < end) return value;
    refuse();
    return -1;
}

/* Append an object and release the caller's reference to it. Return 0, or -1 with an exception. */
static int append(PyObject *list, PyObject *item) {
    int failed = item == NULL || PyList_Append(list, item) < 0;
    Py_XDECREF(item);
    return failed ? -1 : 0;
}

/* choose(values, wanted, places): return the indexes of the wanted values. If places is not None, it lists indexes into
   values: check only these values, and return indexes into places. */
static PyObject *choose(PyObject *self, PyObject *args) {
    PyObject *values, *wanted, *places, *found = PyList_New(0);
    struct { PyObject *value; int is_wanted; } known[64] = {{NULL, 0}}; /* answers, because a page repeats few strings */
    if (found == NULL || !PyArg_ParseTuple(args, "O!OO", &PyList_Type, &values, &wanted, &places)) goto failed;
    int by_place = places != Py_None;
    if (by_place && !PyList_Check(places)) {
        refuse();
        goto failed;
    }
    for (Py_ssize_t index = 0; index < PyList_GET_SIZE(by_place ? places : values); index++) {
        Py_ssize_t place = by_place ? number_at(places, index, 0, PyList_GET_SIZE(values)) : index;
        PyObject *value = place < 0 ? NULL : text_at(values, place);
        if (value == NULL) goto failed;
        size_t slot = ((uintptr_t)value >> 4 ^ (uintptr_t)value >> 10) % 64;
        if (known[slot].value != value) {
            known[slot].value = value;
            if ((known[slot].is_wanted = PySequence_Contains(wanted, value)) < 0) goto failed;
        }
        if (known[slot].is_wanted && append(found, PyLong_FromSsize_t(index)) < 0) goto failed;
    }
    return found;
failed:
    Py_XDECREF(found);
    return NULL;
}

/* Return whether a character may begin or end a word: a letter, a digit, or one of `others`. */
static int is_of_word(Py_UCS4 character, PyObject *others) {
    return Py_UNICODE_ISALNUM(character) || PyUnicode_FindChar(others, character, 0, PyUnicode_GET_LENGTH(others), 1) >= 0;
}

/* find_joints(parts, marks, ends, begins): see the function of the same name in dripper.tree.loops. */
static PyObject *find_joints(PyObject *self, PyObject *args) {
    PyObject *parts, *marks, *ends, *begins, *found = PyList_New(0);
    if (found == NULL || !PyArg_ParseTuple(args, "O!O!UU", &PyList_Type, &parts, &PyList_Type, &marks, &ends, &begins)) goto failed;
    Py_ssize_t n_marks = PyList_GET_SIZE(marks);
    for (Py_ssize_t first = 0; first < n_marks; first++) {
        PyObject *mark = text_at(marks, first), *before = text_at(parts, 2 * first), *after = NULL;
        if (mark == NULL || before == NULL) goto failed;
        Py_ssize_t size = PyUnicode_GET_LENGTH(before), last = first;
        if (PyUnicode_GET_LENGTH(mark) || !size || !is_of_word(PyUnicode_READ_CHAR(before, size - 1), ends)) continue;
        for (;; last++) {
            after = text_at(parts, 2 * last + 2);
            mark = after != NULL && last + 1 < n_marks ? text_at(marks, last + 1) : after;
            if (mark == NULL) goto failed;
            if (PyUnicode_GET_LENGTH(after) || last + 1 >= n_marks || PyUnicode_GET_LENGTH(mark)) break;
        }
        if (PyUnicode_GET_LENGTH(after) && is_of_word(PyUnicode_READ_CHAR(after, 0), begins) &&
            append(found, Py_BuildValue("(nn)", first, last)) < 0)
            goto failed;
    }
    return found;
failed:
    Py_XDECREF(found);
    return NULL;
}

/* spread(block, splits, parents, first, end): see the function of the same name in dripper.tree.loops. */
static PyObject *spread(PyObject *self, PyObject *args) {
    Py_buffer block, splits;
    PyObject *parents;
    Py_ssize_t first, end;
    if (!PyArg_ParseTuple(args, "y*w*O!nn", &block, &splits, &PyList_Type, &parents, &first, &end)) return NULL;
    int fits = first >= 0 && end <= block.len && block.len == splits.len;
    for (Py_ssize_t element = end - 1; fits && element >= first; element--) {
        Py_ssize_t parent = number_at(parents, element, 0, splits.len);
        fits = parent >= 0;
        if (fits && (((char *)block.buf)[element] || ((char *)splits.buf)[element])) ((char *)splits.buf)[parent] = 1;
    }
    PyBuffer_Release(&block);
    PyBuffer_Release(&splits);
    return fits ? Py_NewRef(Py_None) : refuse();
}

/* Return 1 if the text at an index contains more than white space, else 0, or -1 with an exception. */
static int says(PyObject *texts, Py_ssize_t index) {
    PyObject *text = text_at(texts, index);
    for (Py_ssize_t at = 0; text != NULL && at < PyUnicode_GET_LENGTH(text); at++)
        if (!Py_UNICODE_ISSPACE(PyUnicode_READ_CHAR(text, at))) return 1;
    return text == NULL ? -1 : 0;
}

typedef struct {
    PyObject *texts, *tags, *opens, *closes, *lasts, *whole; /* as in dripper.blocks.segment */
    const char *removed, *block, *splits;
    Py_ssize_t n_elements;
    PyObject *paragraphs, *entered;
} Walk;

static int add_paragraph(Walk *walk, Py_ssize_t element, Py_ssize_t first, Py_ssize_t last, int is_run) {
    return append(walk->paragraphs, Py_BuildValue("(nnnO)", element, first, last, is_run ? Py_True : Py_False));
}

/* Walk over the elements. frames: space for one number per element. Return 0, or -1 with an exception. */
static int walk_all(Walk *walk, Py_ssize_t *frames) {
    Py_ssize_t n = walk->n_elements, n_parts = PyList_GET_SIZE(walk->texts), n_frames = 0, node = 0, child = 1;
    Py_ssize_t open = number_at(walk->opens, 0, 0, n_parts), start = -1, behind = open + 1;
    for (;;) {
        if (behind >= 0) {
            int is_text = open < 0 ? -1 : says(walk->texts, behind);
            if (is_text < 0) return -1;
            start = is_text ? behind : -1;
            behind = -1;
        }
        Py_ssize_t end = number_at(walk->lasts, node, node, n);
        if (end < 0) return -1;
        if (child > end) {
            Py_ssize_t close = number_at(walk->closes, node, 0, n_parts);
            if (close < 0 || (start >= 0 && add_paragraph(walk, node, start, close - 1, 1) < 0)) return -1;
            if (n_frames == 0) return 0;
            child = end + 1, behind = close + 1, node = frames[--n_frames];
            continue;
        }
        Py_ssize_t close = number_at(walk->closes, child, 0, n_parts), last = number_at(walk->lasts, child, child, n);
        open = number_at(walk->opens, child, 0, n_parts);
        PyObject *tag = text_at(walk->tags, child);
        if (open < 0 || close < 0 || last < 0 || tag == NULL) return -1;
        if (walk->removed[child]) {
            child = last + 1;
        } else if (!walk->block[child] && !walk->splits[child]) {
            start = start < 0 ? open : start;
            child = last + 1;
        } else if (PyUnicode_CompareWithASCIIString(tag, "br") == 0) {
            if (add_paragraph(walk, node, start < 0 ? open : start, close, 1) < 0) return -1;
            child++, behind = close + 1;
        } else {
            if (start >= 0 && add_paragraph(walk, node, start, open - 1, 1) < 0) return -1;
            PyObject *number = PyLong_FromSsize_t(child);
            int is_whole = number == NULL ? -1 : walk->splits[child] ? PySequence_Contains(walk->whole, number) : 1;
            int failed = is_whole < 0 || (is_whole ? add_paragraph(walk, child, open, close, 0) : PyList_Append(walk->entered, number)) < 0;
            Py_XDECREF(number);
            if (failed) return -1;
            if (is_whole) {
                child = last + 1, behind = close + 1;
            } else {
                frames[n_frames++] = node;
                node = child++, behind = open + 1;
            }
        }
    }
}

/* walk(texts, tags, opens, closes, lasts, removed, block, splits, whole): C version of segment._walk. Return the paragraphs
   as tuples, and the elements that were entered. */
static PyObject *walk(PyObject *self, PyObject *args) {
    Walk walk = {0};
    Py_buffer flags[3];
    if (!PyArg_ParseTuple(args, "O!O!O!O!O!y*y*y*O", &PyList_Type, &walk.texts, &PyList_Type, &walk.tags, &PyList_Type, &walk.opens,
                          &PyList_Type, &walk.closes, &PyList_Type, &walk.lasts, &flags[0], &flags[1], &flags[2], &walk.whole))
        return NULL;
    walk.n_elements = PyList_GET_SIZE(walk.tags);
    walk.removed = flags[0].buf, walk.block = flags[1].buf, walk.splits = flags[2].buf;
    walk.paragraphs = PyList_New(0), walk.entered = PyList_New(0);
    int failed = walk.paragraphs == NULL || walk.entered == NULL;
    for (int index = 0; index < 3; index++) failed = failed || flags[index].len != walk.n_elements;
    Py_ssize_t *frames = failed ? NULL : PyMem_Calloc(walk.n_elements + 1, sizeof(Py_ssize_t));
    PyObject *result = NULL;
    if (frames == NULL || walk_all(&walk, frames) < 0)
        refuse();
    else
        result = PyTuple_Pack(2, walk.paragraphs, walk.entered);
    PyMem_Free(frames);
    for (int index = 0; index < 3; index++) PyBuffer_Release(&flags[index]);
    Py_XDECREF(walk.paragraphs);
    Py_XDECREF(walk.entered);
    return result;
}

static PyMethodDef FUNCTIONS[] = {
    {"choose", choose, METH_VARARGS, NULL},
    {"find_joints", find_joints, METH_VARARGS, NULL},
    {"spread", spread, METH_VARARGS, NULL},
    {"walk", walk, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "loops_c", NULL, 0, FUNCTIONS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_loops_c(void) { return PyModule_Create(&MODULE); }
