// Gives a program modules that the resident interpreter has already loaded when the program imports them.
//
// modules.py loads the modules and removes them from sys.modules. CPython reports each import to an audit hook before
// it looks for the module. If nothing has changed since the modules were loaded, the hook then puts the module, and all
// modules that it imports, where the import would put them.
#include "cpython.h"
#include "keeper.h"

#include <dirent.h>
#include <string.h>

/** The text of modules.py. */
extern const char modules_source[];
__asm__(".section .rodata\nmodules_source:\n.incbin \"modules.py\"\n.byte 0\n.previous");

/**
 * Three dictionaries by a module's name. `put_by`: the module. `closures`: the names of all modules that its import
 * loads. `detached`: the package and attribute to which the import assigns it, unless the import of the package does
 * so.
 */
static PyObject *put_by, *closures, *detached;
/** By name: the address of a module that must be in sys.modules. A reference would keep the module alive. */
static PyObject *there;
PyObject *collector;
/** The lists in `sys` that determine where modules are found, and their items before the first fork. */
static const char *const list_names[] = {"path", "meta_path", "path_hooks"};
enum { list_count = 3 };
static PyObject *lists[list_count], *items[list_count];
static PyObject *modules, *builtins, *import;
static bool offers;

static void note_there(PyObject *name, PyObject *module) {
  PyObject *address = PyLong_FromVoidPtr(module);
  PyDict_SetItem(there, name, address);
  Py_DecRef(address);
}

static bool looks_in_the_same_places(void) {
  if (PySys_GetObject("modules") != modules || PyImport_GetModuleDict() != modules) return false;
  if (PyDict_GetItemString(builtins, "__import__") != import) return false;
  for (int list = 0; list < list_count; list += 1) {
    if (PySys_GetObject(list_names[list]) != lists[list]) return false;
    ssize_t size = PyTuple_Size(items[list]);
    if (PyList_Size(lists[list]) != size) return false;
    for (ssize_t index = 0; index < size; index += 1)
      if (PyList_GetItem(lists[list], index) != PyTuple_GetItem(items[list], index)) return false;
  }
  return true;
}

static bool has_the_same_modules(void) {
  PyObject *name, *value;
  for (ssize_t position = 0; PyDict_Next(there, &position, &name, &value);)
    if (PyDict_GetItem(modules, name) != PyLong_AsVoidPtr(value)) return false;
  for (ssize_t position = 0; PyDict_Next(put_by, &position, &name, &value);)
    if (PyDict_GetItem(modules, name) != NULL) return false;
  return true;
}

/** Files in /box may hide modules, because the script's directory is searched before the library's. */
static bool box_hides_none(void) {
  DIR *box = opendir("/box");
  bool hides = box == NULL;
  for (struct dirent *entry; !hides && (entry = readdir(box)) != NULL;) {
    entry->d_name[strcspn(entry->d_name, ".")] = 0;
    PyObject *name = PyUnicode_DecodeFSDefault(entry->d_name);
    hides = name == NULL || PyDict_GetItem(closures, name) != NULL;
    if (name != NULL) Py_DecRef(name);
  }
  if (box != NULL) closedir(box);
  return !hides;
}

static void put_back(PyObject *closure) {
  for (ssize_t index = 0; index < PyTuple_Size(closure); index += 1) {
    PyObject *name = PyTuple_GetItem(closure, index), *module = PyDict_GetItem(put_by, name);
    if (module == NULL) continue;
    note_there(name, module);
    PyDict_SetItem(modules, name, module);
    PyObject *place = PyDict_GetItem(detached, name);
    PyObject *package = place == NULL ? NULL : PyDict_GetItem(modules, PyTuple_GetItem(place, 0));
    if (package != NULL) PyObject_SetAttr(package, PyTuple_GetItem(place, 1), module);
    PyDict_DelItem(put_by, name);
  }
}

/** Audit events after which the program could observe an import. */
static const char *const observing[] = {"sys.addaudithook", "sys.settrace", "sys.setprofile",
                                        "sys.monitoring.register_callback"};

static bool is_string(PyObject *object) {
  PyObject *type = PyObject_Type(object);
  Py_DecRef(type);
  return type == &PyUnicode_Type;
}

static int note_event(const char *event, PyObject *arguments, void *data) {
  (void)data;
  for (size_t index = 0; index < sizeof observing / sizeof *observing; index += 1)
    if (strcmp(event, observing[index]) == 0) offers = false;
  // The import of an extension's file, and events that a program itself raises, have the same name.
  if (strcmp(event, "import") != 0 || PyTuple_Size(arguments) != 5) return 0;
  PyObject *name = PyTuple_GetItem(arguments, 0);
  if (!is_string(name) || PyTuple_GetItem(arguments, 1) != &_Py_NoneStruct) return 0;
  if (PyUnicode_CompareWithASCIIString(name, "gc") == 0) unfreeze();
  PyObject *closure = offers ? PyDict_GetItem(closures, name) : NULL;
  if (closure == NULL) return 0;
  offers = looks_in_the_same_places() && has_the_same_modules() && box_hides_none();
  if (offers) put_back(closure);
  return 0;
}

void put_modules_by(void) {
  int state = PyGILState_Ensure();
  builtins = PyEval_GetBuiltins();
  PyObject *scope = PyDict_New();
  collector = PyImport_ImportModule("gc");
  modules = PyImport_GetModuleDict();
  if (scope == NULL || collector == NULL || PyDict_DelItemString(modules, "gc") != 0) die("python.modules");
  PyDict_SetItemString(scope, "__builtins__", builtins);
  PyDict_SetItemString(scope, "gc", collector);
  // If modules.py fails, programs import as always.
  offers = PyRun_String(modules_source, file_of_statements, scope, scope) != NULL;
  PyErr_Clear();
  put_by = PyDict_GetItemString(scope, "put_by");
  closures = PyDict_GetItemString(scope, "closures");
  detached = PyDict_GetItemString(scope, "detached");
  import = PyDict_GetItemString(builtins, "__import__");
  for (int list = 0; list < list_count; list += 1) {
    lists[list] = PySys_GetObject(list_names[list]);
    items[list] = PyList_AsTuple(lists[list]);
  }
  there = PyDict_New();
  PyObject *name, *module;
  for (ssize_t position = 0; PyDict_Next(modules, &position, &name, &module);) note_there(name, module);
  if (PySys_AddAuditHook(note_event, NULL) != 0) die("python.modules");
  PyGILState_Release(state);
}
