// Ends a forked interpreter early when nobody could notice (python.c).
//
// After the script, the threads, the exit functions and the flushes, CPython frees every object. This takes most of a
// short program's time, because each write copies a page that is shared with the resident interpreter. A program can
// notice the freeing only if an object acts when it dies. So the fork asks Python's garbage collector for the living
// objects. If none has a finaliser, the fork flushes its output and exits. Otherwise the interpreter ends as always. A
// program that manipulates this decision changes only its own output.
#include "cpython.h"
#include "keeper.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { has_collected_objects = 1UL << 14, finalizer = 80, new_blocks_most = 50 * 1000 };

/** The three standard streams, each with its buffer and its raw file. */
static const char *const stream_names[] = {"__stdin__", "__stdout__", "__stderr__"};
enum { stream_count = 3, level_count = 3 };
static PyObject *streams[stream_count][level_count];
/** Numbers of loaded libraries and of garbage collections before the first fork. */
static size_t libraries;
static long collections;
/** sys.getallocatedblocks, and its result before the first fork. */
static PyObject *get_blocks;
static long blocks;

/** @returns the number of collections of all generations; -1 for an error. */
static long count_collections(void) {
  PyObject *generations = PyObject_CallMethod(collector, "get_stats", NULL);
  if (generations == NULL) return -1;
  long count = 0;
  for (ssize_t index = 0; index < PyList_Size(generations); index += 1)
    count += PyLong_AsLong(PyDict_GetItemString(PyList_GetItem(generations, index), "collections"));
  Py_DecRef(generations);
  return count;
}

/** @returns -1 for an error. */
static long count_blocks(void) {
  PyObject *number = PyObject_CallObject(get_blocks, NULL);
  if (number == NULL) return -1;
  long count = PyLong_AsLong(number);
  Py_DecRef(number);
  return count;
}

/** @returns an attribute, as a borrowed reference: its owner holds it. */
static PyObject *attribute(PyObject *owner, const char *name) {
  PyObject *found = owner == NULL ? NULL : PyObject_GetAttrString(owner, name);
  if (found != NULL) Py_DecRef(found);
  return found;
}

static void find_streams(PyObject *found[stream_count][level_count]) {
  for (int stream = 0; stream < stream_count; stream += 1) {
    found[stream][0] = PySys_GetObject(stream_names[stream]);
    found[stream][1] = attribute(found[stream][0], "buffer");
    found[stream][2] = attribute(found[stream][1], "raw");
  }
}

/** Libraries that do nothing at the end, and whose objects do nothing when they die. */
static const char passive_libraries[] =
    "/_json./_decimal./libmpdec./_hashlib./libcrypto./_queue./_opcode./_typing./_contextvars./_zoneinfo./_uuid./libuuid."
    "/_bz2./libbz2./_lzma./liblzma./resource./math./cmath./array./_bisect./_heapq./_random./_struct./_datetime./_statistics.";

/** @param data how many libraries to skip. @returns true for a library that is not in that list. */
static int is_active(struct dl_phdr_info *library, size_t size, void *data) {
  (void)size;
  size_t *skipped = data;
  if (*skipped > 0) return *skipped -= 1, false;
  const char *name = strrchr(library->dlpi_name, '/');
  size_t length = name == NULL ? 0 : strcspn(name, ".") + 1;
  return length == 0 || memmem(passive_libraries, sizeof passive_libraries, name, length) == NULL;
}

static int count(struct dl_phdr_info *library, size_t size, void *data) {
  (void)library, (void)size;
  *(size_t *)data += 1;
  return false;
}

void prepare_early_end(void) {
  dl_iterate_phdr(count, &libraries);
  int state = PyGILState_Ensure();
  find_streams(streams);
  collections = count_collections();
  get_blocks = PySys_GetObject("getallocatedblocks");
  if (collections < 0 || get_blocks == NULL) die("python.early-end");
  Py_IncRef(get_blocks);
  blocks = count_blocks();
  PyGILState_Release(state);
}

bool has_word(FILE *script, const char *const words[], size_t count) {
  struct stat status;
  if (fstat(fileno(script), &status) != 0) return true;
  if (status.st_size == 0) return false;
  size_t size = (size_t)status.st_size;
  char *source = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fileno(script), 0);
  if (source == MAP_FAILED) return true;
  bool found = false;
  for (size_t word = 0; word < count && !found; word += 1)
    found = memmem(source, size, words[word], strlen(words[word])) != NULL;
  munmap(source, size);
  return found;
}

/**
 * Words for things that only the source shows: strings that are executed, whose interrupts only the interpreter's own
 * main notices; a finaliser that is added to a library's class; hooks that notice the end; directories that are being
 * read. CPython's code objects would have the names, too, but the decision comes before CPython compiles the script, and
 * to compile it once more takes 5 µs a line, which is 0.4 ms for 77 lines beside the 1.9 ms of a hello.
 */
static const char *const active_words[] = {"exec",     "eval",       "__del__", "setattr", "audithook",
                                         "settrace", "setprofile", "meta_path", "scandir", "utf-7",   "utf_7"};

bool may_end_early(FILE *script) {
  return !has_word(script, active_words, sizeof active_words / sizeof *active_words);
}

/** @returns -1 for an object that has none. */
static ssize_t count_attributes(PyObject *object) {
  PyObject *attributes = attribute(object, "__dict__");
  return attributes == NULL ? -1 : PyDict_Size(attributes);
}

/** Flushes the standard streams. True when they are still the interpreter's own and have no method of the program. */
static bool streams_are_done(void) {
  static const ssize_t attributes[] = {1, 0, 1};
  PyObject *now[stream_count][level_count];
  find_streams(now);
  if (memcmp(now, streams, sizeof now) != 0) return false;
  for (int stream = 0; stream < stream_count; stream += 1) {
    for (int level = 0; level < level_count; level += 1)
      if (count_attributes(now[stream][level]) != attributes[level]) return false;
    if (stream == 0) continue;
    if (PySys_GetObject(stream == 1 ? "stdout" : "stderr") != now[stream][0]) return false;
    PyObject *flushed = PyObject_CallMethod(now[stream][0], "flush", NULL);
    if (flushed == NULL) return false;
    Py_DecRef(flushed);
  }
  return true;
}

static bool is_of_stream(PyObject *object) {
  PyObject **all = streams[0];
  for (int index = 0; index < stream_count * level_count; index += 1)
    if (all[index] == object) return true;
  return false;
}

/** The types that need a closer look. */
static struct {
  PyObject *reference, *proxy, *callable_proxy, *bytes_file, *string_file;
} types;

static bool find_types(void) {
  PyObject *weak = PyDict_GetItemString(PyImport_GetModuleDict(), "_weakref");
  PyObject *files = PyDict_GetItemString(PyImport_GetModuleDict(), "_io");
  types.reference = attribute(weak, "ReferenceType");
  types.proxy = attribute(weak, "ProxyType");
  types.callable_proxy = attribute(weak, "CallableProxyType");
  types.bytes_file = attribute(files, "BytesIO");
  types.string_file = attribute(files, "StringIO");
  return types.reference != NULL && types.proxy != NULL && types.callable_proxy != NULL && types.bytes_file != NULL &&
         types.string_file != NULL;
}

/**
 * True when a weak reference calls a function of the program. Abstract classes use a callback in C, which nobody sees.
 */
static bool calls_back(PyObject *weak) {
  PyObject *callback = attribute(weak, "__callback__");
  if (callback == NULL || callback == &_Py_NoneStruct) return false;
  PyObject *name = PyObject_GetAttrString(callback, "__name__");
  bool forgets = name != NULL && attribute(callback, "__class__") == &PyCFunction_Type &&
                 PyUnicode_CompareWithASCIIString(name, "_destroy") == 0;
  if (name != NULL) Py_DecRef(name);
  return !forgets;
}

static bool acts_as_it_dies(PyObject *object) {
  PyObject *type = PyObject_Type(object);
  Py_DecRef(type);
  if (type == types.proxy || type == types.callable_proxy) return true;
  if (PyType_IsSubtype(type, types.reference) && calls_back(object)) return true;
  // The collector does not know the instances of such a class. Finalisers that are written in C have no visible effect.
  if (PyType_IsSubtype(type, &PyType_Type) && (PyType_GetFlags(object) & has_collected_objects) == 0 &&
      PyType_GetSlot(object, finalizer) != NULL &&
      attribute(attribute(object, "__del__"), "__class__") != &PyWrapperDescr_Type)
    return true;
  if (PyType_GetSlot(type, finalizer) == NULL || is_of_stream(object)) return false;
  // Finalisers of in-memory files write nothing.
  return (type != types.bytes_file && type != types.string_file) || count_attributes(object) != 0;
}

static bool one_acts(int generation) {
  PyObject *objects = PyObject_CallMethod(collector, "get_objects", "i", generation);
  if (objects == NULL) return true;
  ssize_t length = PyList_Size(objects);
  bool acts = false;
  for (ssize_t index = 0; index < length && !acts; index += 1) acts = acts_as_it_dies(PyList_GetItem(objects, index));
  Py_DecRef(objects);
  return acts;
}

/** True when there are few enough objects to list. Longer lists would take too much of the program's memory. */
static bool has_few_objects(void) {
  long now = count_blocks();
  return now >= 0 && now - blocks < new_blocks_most;
}

static bool any_acts(void) {
  if (!find_types()) return true;
  // Objects younger than the last collection are in the first generation.
  bool young = count_collections() == collections;
  return one_acts(0) || (!young && (!has_few_objects() || one_acts(1) || one_acts(2)));
}

/** True when nobody could notice the rest of the interpreter's end. */
static bool is_all_done(void) {
  size_t skipped = libraries;
  // With the module gc a program can make the collector print, or hide objects from it.
  if (PyDict_GetItemString(PyImport_GetModuleDict(), "gc") != NULL || dl_iterate_phdr(is_active, &skipped) != 0)
    return false;
  int collects = PyGC_Disable();
  bool done = streams_are_done() && !any_acts();
  PyErr_Clear();
  if (collects) PyGC_Enable();
  return done;
}

/** True when the script ended without an exception. */
static bool ended_well;
/** True while the collector ignores the resident interpreter's objects, whose pages it would otherwise copy. */
static bool frozen;

static void ask_collector(const char *what) {
  PyObject *done = PyObject_CallMethod(collector, what, NULL);
  if (done != NULL) Py_DecRef(done);
  PyErr_Clear();
}

void unfreeze(void) {
  if (frozen) ask_collector("unfreeze");
  frozen = false;
}

void run_empty_script(void) {
  int state = PyGILState_Ensure();
  PyObject *names = PyDict_New();
  PyObject *done = names == NULL ? NULL : PyRun_String("print(end='')", file_of_statements, names, names);
  if (done != NULL) Py_DecRef(done);
  if (names != NULL) Py_DecRef(names);
  // A script that failed costs its program nothing but time.
  PyErr_Clear();
  PyGILState_Release(state);
}

_Noreturn void run_script(FILE *file, const char *path) {
  PyGILState_Ensure();
  ask_collector("freeze");
  frozen = true;
  int failed = PyRun_AnyFileExFlags(file, path, 1, NULL);
  bool interrupted = failed && PySys_GetObject("last_type") == PyExc_KeyboardInterrupt;
  ended_well = !failed;
  int status = Py_FinalizeEx() < 0 ? 120 : failed != 0;
  if (interrupted) {
    signal(SIGINT, SIG_DFL);
    kill(getpid(), SIGINT);
    status = 128 + SIGINT;
  }
  exit(status);
}

/**
 * Replaces sigaction, because the interpreter calls it to restore SIGINT after it has joined threads, run exit
 * functions and flushed outputs.
 */
__attribute__((visibility("default"))) int sigaction(int signal_number, const struct sigaction *new,
                                                     struct sigaction *old) {
  if (ended_well && signal_number == SIGINT) {
    ended_well = false;
    // The destructors of libraries are left out, too, because the interpreter writes to no stream of the C library.
    if (is_all_done()) _exit(0);
  }
  // Other callers do not hold the interpreter's lock.
  if (signal_number == SIGINT && frozen && PyGILState_Check()) unfreeze();
  int (*next)(int, const struct sigaction *, struct sigaction *);
  *(void **)&next = dlsym(RTLD_NEXT, "sigaction");
  if (next == NULL) _exit(70);
  return next(signal_number, new, old);
}
