/* C versions of the element-wise operations in dripper.labels.cpu.arithmetic, built if a C compiler is available (see
   setup.py).

   They return the same bits as the numpy versions: sums are exact in any order, and all other steps are single IEEE operations.
   So the compiler may vectorise. But it must not fuse a product and a sum into one operation (-ffp-contract=off), and must not
   simplify additions (no -ffast-math).

   Arrays are C-contiguous, and float32 unless stated otherwise. A matrix has one row per block. A wrong size or type raises
   ValueError. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* As in dripper.labels.cpu.network and dripper.labels.cpu.arithmetic. */
static const float ROUNDER_32 = 1.5f * (1 << 23) / 256;
static const double ROUNDER_64 = 1.5 * ((int64_t)1 << 52) / 256;
static const double POOLED_ROUNDER = 1.5 * ((int64_t)1 << 52) / 64;
static const double POOLED_LIMIT = 8.0;
static const double EPSILON = 1.0 / 1024;

static float snapped(float value) { return (value + ROUNDER_32) - ROUNDER_32; }

/* Return how many items an array has, or -1 if its items have another size. */
static Py_ssize_t count(const Py_buffer *array, Py_ssize_t item_size) {
    return array->itemsize == item_size ? array->len / item_size : -1;
}

static int is_matrix(Py_ssize_t n_values, Py_ssize_t n_columns) {
    return n_values >= 0 && n_columns > 0 && n_values % n_columns == 0;
}

static PyObject *done(int fit, Py_buffer *arrays[], int n_arrays) {
    for (int index = 0; index < n_arrays; index++) PyBuffer_Release(arrays[index]);
    if (fit) Py_RETURN_NONE;
    PyErr_SetString(PyExc_ValueError, "sizes or types of arrays do not fit");
    return NULL;
}

/* snap(y, bias): add the bias of each column and round to multiples of 1/256, in place. If bias is empty, add nothing. */
static PyObject *snap(PyObject *self, PyObject *args) {
    Py_buffer y, bias;
    if (!PyArg_ParseTuple(args, "w*y*", &y, &bias)) return NULL;
    Py_ssize_t n_values = count(&y, sizeof(float)), n_columns = bias.len ? count(&bias, sizeof(float)) : 0;
    float *values = y.buf;
    const float *add = bias.buf;
    int fit = n_columns ? is_matrix(n_values, n_columns) : n_values >= 0;
    for (Py_ssize_t index = 0; fit && n_columns == 0 && index < n_values; index++) values[index] = snapped(values[index]);
    for (Py_ssize_t start = 0; fit && n_columns > 0 && start < n_values; start += n_columns)
        for (Py_ssize_t column = 0; column < n_columns; column++)
            values[start + column] = snapped(values[start + column] + add[column]);
    return done(fit, (Py_buffer *[]){&y, &bias}, 2);
}

/* snap_64(y, bias, result): the same for float64 y and bias, but write to result. */
static PyObject *snap_64(PyObject *self, PyObject *args) {
    Py_buffer y, bias, result;
    if (!PyArg_ParseTuple(args, "y*y*w*", &y, &bias, &result)) return NULL;
    Py_ssize_t n_values = count(&y, sizeof(double)), n_columns = count(&bias, sizeof(double));
    const double *values = y.buf, *add = bias.buf;
    float *settled = result.buf;
    int fit = is_matrix(n_values, n_columns) && count(&result, sizeof(float)) == n_values;
    for (Py_ssize_t start = 0; fit && start < n_values; start += n_columns)
        for (Py_ssize_t column = 0; column < n_columns; column++)
            settled[start + column] = (float)((values[start + column] + add[column] + ROUNDER_64) - ROUNDER_64);
    return done(fit, (Py_buffer *[]){&y, &bias, &result}, 3);
}

/* standardise(x, mean, scale, limit, result): (x - mean) / scale for each column, clipped to ±limit, and rounded to multiples of
   1/256. All arrays but x are float64. */
static PyObject *standardise(PyObject *self, PyObject *args) {
    Py_buffer x, mean, scale, result;
    double limit;
    if (!PyArg_ParseTuple(args, "y*y*y*dw*", &x, &mean, &scale, &limit, &result)) return NULL;
    Py_ssize_t n_values = count(&x, sizeof(float)), n_columns = count(&mean, sizeof(double));
    int fit = is_matrix(n_values, n_columns) && count(&scale, sizeof(double)) == n_columns && count(&result, sizeof(double)) == n_values;
    for (Py_ssize_t start = 0; fit && start < n_values; start += n_columns)
        for (Py_ssize_t column = 0; column < n_columns; column++) {
            double value = (((float *)x.buf)[start + column] - ((double *)mean.buf)[column]) / ((double *)scale.buf)[column];
            value = value < -limit ? -limit : value > limit ? limit : value;
            ((double *)result.buf)[start + column] = (value + ROUNDER_64) - ROUNDER_64;
        }
    return done(fit, (Py_buffer *[]){&x, &mean, &scale, &result}, 4);
}

/* rectify(x): replace x by max(x, 0), in place. */
static PyObject *rectify(PyObject *self, PyObject *args) {
    Py_buffer x;
    if (!PyArg_ParseTuple(args, "w*", &x)) return NULL;
    Py_ssize_t n_values = count(&x, sizeof(float));
    float *values = x.buf;
    for (Py_ssize_t index = 0; index < n_values; index++) values[index] = values[index] > 0 ? values[index] : 0;
    return done(n_values >= 0, (Py_buffer *[]){&x}, 1);
}

static void normalise_row(const float *row, Py_ssize_t n_columns, float *result) {
    double squares = 0;
#pragma omp simd reduction(+ : squares)
    for (Py_ssize_t column = 0; column < n_columns; column++) squares += (double)row[column] * row[column];
    float factor = (float)(1 / sqrt(squares / n_columns + EPSILON));
    for (Py_ssize_t column = 0; column < n_columns; column++) result[column] = snapped(row[column] * factor);
}

/* normalise(x, n_columns, result): divide every row by its root mean square, rounded to multiples of 1/256. */
static PyObject *normalise(PyObject *self, PyObject *args) {
    Py_buffer x, result;
    Py_ssize_t n_columns;
    if (!PyArg_ParseTuple(args, "y*nw*", &x, &n_columns, &result)) return NULL;
    Py_ssize_t n_values = count(&x, sizeof(float));
    int fit = is_matrix(n_values, n_columns) && count(&result, sizeof(float)) == n_values;
    for (Py_ssize_t start = 0; fit && start < n_values; start += n_columns)
        normalise_row((const float *)x.buf + start, n_columns, (float *)result.buf + start);
    return done(fit, (Py_buffer *[]){&x, &result}, 2);
}

/* before, behind: the rows `dilation` blocks before and after this row, or NULL beyond the page. taps: (3, n_columns). */
static void convolve_row(const float *before, const float *row, const float *behind, const float *taps, Py_ssize_t n_columns,
                         float *result) {
    for (Py_ssize_t column = 0; column < n_columns; column++) result[column] = row[column] * taps[n_columns + column];
    for (Py_ssize_t column = 0; before && column < n_columns; column++) result[column] += before[column] * taps[column];
    for (Py_ssize_t column = 0; behind && column < n_columns; column++)
        result[column] += behind[column] * taps[2 * n_columns + column];
    for (Py_ssize_t column = 0; column < n_columns; column++) result[column] = snapped(result[column]);
}

/* convolve(x, taps, dilation, result): taps[0]*x[i-dilation] + taps[1]*x[i] + taps[2]*x[i+dilation], rounded to multiples of
   1/256. */
static PyObject *convolve(PyObject *self, PyObject *args) {
    Py_buffer x, taps, result;
    Py_ssize_t dilation;
    if (!PyArg_ParseTuple(args, "y*y*nw*", &x, &taps, &dilation, &result)) return NULL;
    Py_ssize_t n_values = count(&x, sizeof(float)), n_taps = count(&taps, sizeof(float)), n_columns = n_taps / 3;
    int fit = n_taps % 3 == 0 && is_matrix(n_values, n_columns) && count(&result, sizeof(float)) == n_values && dilation > 0;
    Py_ssize_t n_rows = fit ? n_values / n_columns : 0;
    for (Py_ssize_t index = 0; index < n_rows; index++) {
        const float *row = (const float *)x.buf + index * n_columns;
        const float *before = index >= dilation ? row - dilation * n_columns : NULL;
        const float *behind = dilation < n_rows - index ? row + dilation * n_columns : NULL;
        convolve_row(before, row, behind, taps.buf, n_columns, (float *)result.buf + index * n_columns);
    }
    return done(fit, (Py_buffer *[]){&x, &taps, &result}, 3);
}

/* sums: (n_rows + 1, n_columns), cumulative sums over the rows. */
static void take_means(const double *sums, const int64_t *starts, const int64_t *ends, const float *bias, float *result,
                       Py_ssize_t n_rows, Py_ssize_t n_levels, Py_ssize_t n_columns) {
    Py_ssize_t width = n_columns / n_levels;
    for (Py_ssize_t place = 0; place < n_rows * n_levels; place++) {
        Py_ssize_t column = place % n_levels * width;
        float *means = result + place / n_levels * n_columns + column;
        /* Neighbours are usually in the same container, so its mean is computed only once. */
        if (place >= n_levels && starts[place] == starts[place - n_levels] && ends[place] == ends[place - n_levels]) {
            memcpy(means, means - n_columns, width * sizeof(float));
            continue;
        }
        const double *first = sums + starts[place] * n_columns + column, *end = sums + ends[place] * n_columns + column;
        double size = (double)(ends[place] - starts[place]);
        for (Py_ssize_t offset = 0; offset < width; offset++) {
            double mean = (end[offset] - first[offset]) / size + bias[column + offset];
            mean = mean < 0 ? 0 : mean > POOLED_LIMIT ? POOLED_LIMIT : mean;
            means[offset] = (float)((mean + POOLED_ROUNDER) - POOLED_ROUNDER);
        }
    }
}

static int are_ranges(const int64_t *starts, const int64_t *ends, Py_ssize_t n_ranges, Py_ssize_t n_rows) {
    for (Py_ssize_t index = 0; index < n_ranges; index++)
        if (starts[index] < 0 || starts[index] >= ends[index] || ends[index] > n_rows) return 0;
    return 1;
}

/* container_means(x, starts, ends, n_levels, bias, result): means over each block's containers, plus bias, rectified,
   clipped and rounded to multiples of 1/64. The columns are divided equally among the levels. starts, ends: int64, (n_rows,
   n_levels). */
static PyObject *container_means(PyObject *self, PyObject *args) {
    Py_buffer x, starts, ends, bias, result;
    Py_ssize_t n_levels;
    if (!PyArg_ParseTuple(args, "y*y*y*ny*w*", &x, &starts, &ends, &n_levels, &bias, &result)) return NULL;
    Py_ssize_t n_values = count(&x, sizeof(float)), n_columns = count(&bias, sizeof(float));
    int fit = is_matrix(n_values, n_columns) && n_levels > 0 && n_columns % n_levels == 0;
    Py_ssize_t n_rows = fit ? n_values / n_columns : 0, n_ranges = n_rows * n_levels;
    fit = fit && count(&result, sizeof(float)) == n_values && count(&starts, sizeof(int64_t)) == n_ranges &&
          count(&ends, sizeof(int64_t)) == n_ranges && are_ranges(starts.buf, ends.buf, n_ranges, n_rows);
    double *sums = fit ? calloc(n_values + n_columns, sizeof(double)) : NULL;
    if (sums != NULL) {
        for (Py_ssize_t index = 0; index < n_values; index++) sums[index + n_columns] = sums[index] + ((float *)x.buf)[index];
        take_means(sums, starts.buf, ends.buf, bias.buf, result.buf, n_rows, n_levels, n_columns);
        free(sums);
    }
    PyObject *returned = done(fit, (Py_buffer *[]){&x, &starts, &ends, &bias, &result}, 5);
    if (fit && sums == NULL) {
        Py_DECREF(returned);
        return PyErr_NoMemory();
    }
    return returned;
}

static PyMethodDef FUNCTIONS[] = {
    {"snap", snap, METH_VARARGS, NULL},
    {"snap_64", snap_64, METH_VARARGS, NULL},
    {"standardise", standardise, METH_VARARGS, NULL},
    {"rectify", rectify, METH_VARARGS, NULL},
    {"normalise", normalise, METH_VARARGS, NULL},
    {"convolve", convolve, METH_VARARGS, NULL},
    {"container_means", container_means, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "arithmetic_c", NULL, 0, FUNCTIONS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_arithmetic_c(void) { return PyModule_Create(&MODULE); }
