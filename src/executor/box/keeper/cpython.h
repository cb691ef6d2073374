// The part of CPython's public interface that the keeper uses. Declared here, so that a host needs no Python headers.
#ifndef CPYTHON_H
#define CPYTHON_H

#include <stdio.h>
#include <sys/types.h>

typedef struct _object PyObject;
/** What PyRun_String runs. */
enum { file_of_statements = 257 };
typedef int audit_hook(const char *event, PyObject *arguments, void *data);

extern PyObject PyType_Type, PyCFunction_Type, PyUnicode_Type, PyWrapperDescr_Type, _Py_NoneStruct, *PyExc_KeyboardInterrupt;

int PyDict_DelItem(PyObject *dictionary, PyObject *key);
int PyDict_DelItemString(PyObject *dictionary, const char *key);
PyObject *PyDict_GetItem(PyObject *dictionary, PyObject *key);
PyObject *PyDict_GetItemString(PyObject *dictionary, const char *key);
PyObject *PyDict_New(void);
int PyDict_Next(PyObject *dictionary, ssize_t *position, PyObject **key, PyObject **value);
int PyDict_SetItem(PyObject *dictionary, PyObject *key, PyObject *value);
int PyDict_SetItemString(PyObject *dictionary, const char *key, PyObject *value);
ssize_t PyDict_Size(PyObject *dictionary);
void PyErr_Clear(void);
PyObject *PyEval_GetBuiltins(void);
int PyGC_Disable(void);
int PyGC_Enable(void);
int PyGILState_Check(void);
int PyGILState_Ensure(void);
void PyGILState_Release(int state);
PyObject *PyImport_GetModuleDict(void);
PyObject *PyImport_ImportModule(const char *name);
PyObject *PyList_AsTuple(PyObject *list);
PyObject *PyList_GetItem(PyObject *list, ssize_t index);
ssize_t PyList_Size(PyObject *list);
long PyLong_AsLong(PyObject *number);
void *PyLong_AsVoidPtr(PyObject *number);
PyObject *PyLong_FromVoidPtr(void *pointer);
PyObject *PyObject_CallMethod(PyObject *object, const char *name, const char *format, ...);
PyObject *PyObject_CallObject(PyObject *function, PyObject *arguments);
PyObject *PyObject_GetAttrString(PyObject *object, const char *name);
int PyObject_SetAttr(PyObject *object, PyObject *name, PyObject *value);
PyObject *PyObject_Type(PyObject *object);
int PyRun_AnyFileExFlags(FILE *file, const char *path, int closes, void *flags);
PyObject *PyRun_String(const char *source, int start, PyObject *globals, PyObject *locals);
int PySys_AddAuditHook(audit_hook *hook, void *data);
PyObject *PySys_GetObject(const char *name);
PyObject *PyTuple_GetItem(PyObject *tuple, ssize_t index);
ssize_t PyTuple_Size(PyObject *tuple);
unsigned long PyType_GetFlags(PyObject *type);
void *PyType_GetSlot(PyObject *type, int slot);
int PyType_IsSubtype(PyObject *type, PyObject *other);
int PyUnicode_CompareWithASCIIString(PyObject *string, const char *other);
PyObject *PyUnicode_DecodeFSDefault(const char *text);
void Py_DecRef(PyObject *object);
int Py_FinalizeEx(void);
void Py_IncRef(PyObject *object);

#endif
