// A plugin of GCC's. At a program's end GCC makes the functions of templates that its headers use (instantiates them), and throws
// nearly all away: with <bits/stdc++.h> two thirds of a small program's compilation. So a precompiled header has them made. But
// where a function was made decides where it stands in the binary. So only those are made that hardly a program uses
// (common-program.cpp tells which those are not), and where a program does use one, GCC ends, and the driver (driver.cpp) has it
// compile with a header in which none is made. So the binary is the same. They do not see what a program adds to namespace std:
// cpp.ts looks for that.
//
//   <header's own>/made-templates    hashes of the made functions' names, ascending; absent where none is made
//
// Its parameters (-fplugin-arg-library-…):
//   used=FILE               writes there what functions a program uses, and ends
//   common=FILE, made=FILE  for `#pragma runledger templates` in a header: makes what is not in the first, lists it in the second
//   checks                  fails unless what a program uses was looked up in a list
#include "made-templates.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "opened-header.h"
#include "written-pages.h"

// GCC's own, as in its headers for plugins, which a host need not have. Weak: in the assembler and the linker they are missing.
struct tree_node;
struct cpp_reader;
#define GCC_OWN __attribute__((weak)) extern
GCC_OWN int at_eof;
GCC_OWN tree_node *current_function_decl;
GCC_OWN const char *decl_as_string(tree_node *, int);
GCC_OWN tree_node *instantiate_decl(tree_node *, bool, bool);
GCC_OWN void c_register_pragma(const char *, const char *, void (*)(cpp_reader *));
GCC_OWN void gt_ggc_mx_pending_template(void *);
struct ggc_root_tab {
  void *base;
  std::size_t count, stride;
  void (*mark)(void *), (*save)(void *);
};
GCC_OWN void gt_ggc_mx_vec_tree_va_gc_(void *);
GCC_OWN const ggc_root_tab gt_ggc_r_gt_cp_pt_h[], gt_ggc_r_gt_cp_decl2_h[];
struct vec {
  unsigned room, count;
  tree_node *all[];
};
GCC_OWN vec *unemitted_tinfo_decls, *keyed_classes;
GCC_OWN tree_node *static_aggregates, *tls_aggregates;
struct tinst_level {
  tinst_level *next;
  tree_node *declaration;
};
struct pending_template {
  pending_template *next;
  tinst_level *place;
};
struct plugin_argument {
  char *key, *value;
};
struct plugin_name_args {
  char *name;
  const char *path;
  int count;
  plugin_argument *arguments;
};
extern "C" {
int plugin_is_GPL_compatible;
GCC_OWN void register_callback(const char *, int, void (*)(void *, void *), void *);
GCC_OWN int get_named_event_id(const char *, int);
}

namespace {

using Name = std::uint64_t;

/** Of all a function's signature: FNV-1a. Two names with one hash cost time, no more. */
Name hashName(tree_node *function) {
  Name hash = 0xcbf29ce484222325;
  for (const char *at = decl_as_string(function, 0); *at != 0; at += 1)
    hash = (hash ^ static_cast<unsigned char>(*at)) * 0x100000001b3;
  return hash;
}

int compareNames(const void *one, const void *other) {
  Name a = *static_cast<const Name *>(one), b = *static_cast<const Name *>(other);
  return a < b ? -1 : a > b;
}

/** Shared with children: what does not fit is told by `isFull`. */
struct Names {
  std::size_t count;
  bool isFull;
  Name all[(1 << 16) - 2];

  void add(Name name) {
    isFull = isFull || count == sizeof all / sizeof *all;
    if (!isFull) all[count++] = name;
  }
  void sort() { qsort(all, count, sizeof *all, compareNames); }
  bool has(Name name) const { return bsearch(&name, all, count, sizeof *all, compareNames) != nullptr; }
};

[[noreturn]] void giveUp(const char *what) {
  fprintf(stderr, "made-templates: %s\n", what);
  exit(EXIT_FAILURE);
}

Names *makeNames() {
  void *made = mmap(nullptr, sizeof(Names), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) giveUp("no memory");
  return static_cast<Names *>(made);
}

/** @returns null where there is no such file. */
Names *readNames(int file) {
  if (file < 0) return nullptr;
  Names *names = makeNames();
  ssize_t got = read(file, names->all, sizeof names->all);
  close(file);
  if (got < 0 || got % sizeof(Name) != 0) giveUp("a list that is none");
  names->count = static_cast<std::size_t>(got) / sizeof(Name);
  return names;
}

void writeNames(Names &names, const char *path) {
  names.sort();
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
  auto bytes = static_cast<ssize_t>(names.count * sizeof(Name));
  if (names.isFull || file < 0 || write(file, names.all, static_cast<std::size_t>(bytes)) != bytes) giveUp(path);
  close(file);
}

// ---- what a program uses

const char *usedPath = nullptr;
bool mustCheck = false, isUseKnown = false;
Names *used = nullptr, *made = nullptr;
tree_node *lastUsed = nullptr;

/** Of the header in use; where nothing is made in it there is no list. */
void readMade() {
  if (made == nullptr) made = readNames(openBeside(openedHeader(), "made-templates"));
}

/** GCC lowers each function that can be reached, several passes in a row. */
void noteUse(void *, void *) {
  if (isUseKnown || current_function_decl == nullptr || current_function_decl == lastUsed) return;
  if (lastUsed == nullptr) readMade();
  lastUsed = current_function_decl;
  if (used != nullptr) used->add(hashName(lastUsed));
  // Names of a program's own could be of any length.
  else if (made != nullptr && isInHeader(lastUsed) && made->has(hashName(lastUsed))) exit(usesMadeTemplate);
}

/** All that can be reached is lowered before anything is optimised. */
void endUse(void *, void *) {
  isUseKnown = true;
  readMade();
  if (mustCheck && made == nullptr) giveUp("no list");
  if (used == nullptr) return;
  writeNames(*used, usedPath);
  exit(EXIT_SUCCESS);
}

// ---- what is made in a header

const char *commonPath = nullptr, *madePath = nullptr;
Names *common = nullptr, *left = nullptr, *found = nullptr, *listed = nullptr;
Name underWay = 0;

/** The first bits of a tree tell what it is; these, a function. */
std::uint16_t functionCode = 0;

std::uint16_t codeOf(const tree_node *tree) { return *reinterpret_cast<const std::uint16_t *>(tree); }
bool isFunction(const tree_node *tree) { return codeOf(tree) == functionCode; }

/** How much GCC has put aside for the end in an order that the binary shows: types' names, classes' tables, initialisers. */
struct Aside {
  std::uintptr_t measures[4] = {lengthOf(unemitted_tinfo_decls), lengthOf(keyed_classes), placeOf(static_aggregates),
                                placeOf(tls_aggregates)};

  static std::uintptr_t lengthOf(const vec *list) { return list == nullptr ? 0 : list->count; }
  static std::uintptr_t placeOf(const tree_node *chain) { return reinterpret_cast<std::uintptr_t>(chain); }
  bool operator==(const Aside &other) const { return memcmp(measures, other.measures, sizeof measures) == 0; }
};

constexpr std::size_t constantLists = 16;

/**
 * What GCC defines where a program wants its address: constants, as static members and variables of templates.
 * @param visit gets each list that may have some, and its place among them.
 */
template <typename Visit> void visitConstants(Visit visit) {
  std::size_t index = 0;
  for (const ggc_root_tab *root = gt_ggc_r_gt_cp_decl2_h; root->base != nullptr; root += 1) {
    auto *list = *static_cast<vec **>(root->base);
    if (root->mark == gt_ggc_mx_vec_tree_va_gc_ && index < constantLists) visit(list, index++);
  }
}

bool isLeft(Name name) { return common->has(name) || left->has(name); }

/** Also for what is made at once because another function is. */
void noteMade(void *, void *) {
  functionCode = codeOf(current_function_decl);
  if (underWay == 0) return;
  Name name = hashName(current_function_decl);
  if (found != nullptr && common->has(name)) found->add(underWay);
  if (listed != nullptr) listed->add(name);
}

pending_template *findPending() {
  // Its end is kept, too.
  pending_template *pending = nullptr;
  for (const ggc_root_tab *root = gt_ggc_r_gt_cp_pt_h; root->base != nullptr; root += 1) {
    if (root->mark != gt_ggc_mx_pending_template) continue;
    auto *list = *static_cast<pending_template **>(root->base);
    if (pending == nullptr || (list != nullptr && list->next != nullptr)) pending = list;
  }
  return pending;
}

/** Makes what is not left; what that wants made in turn comes at the list's end. */
void makePending() {
  // Whether a function is the binary's own is decided as it would be at the end.
  at_eof = 1;
  for (pending_template *each = findPending(); each != nullptr; each = each->next) {
    Name name = hashName(each->place->declaration);
    if (!isFunction(each->place->declaration) || isLeft(name)) continue;
    pending_template *tail = each;
    while (tail->next != nullptr) tail = tail->next;
    Aside before;
    underWay = name;
    instantiate_decl(each->place->declaration, false, false);
    underWay = 0;
    if (found != nullptr && !(Aside() == before)) found->add(name);
    // What would be in its turn earlier than in a program without.
    for (tail = tail->next; found != nullptr && tail != nullptr; tail = tail->next)
      if (!isFunction(tail->place->declaration) || isLeft(hashName(tail->place->declaration))) found->add(name);
  }
  at_eof = 0;
}

/** What makes a common function, or wants one made, or puts aside is left, too: a child tries until nothing does. */
void learnWhatIsLeft() {
  for (found = makeNames();; found->count = 0) {
    pid_t child = fork();
    if (child < 0) giveUp("fork");
    if (child == 0) {
      makePending();
      _exit(EXIT_SUCCESS);
    }
    int status;
    if (waitpid(child, &status, 0) < 0 || status != 0 || found->isFull) giveUp("a trial fails");
    if (found->count == 0) break;
    for (std::size_t index = 0; index < found->count; index += 1) left->add(found->all[index]);
    left->sort();
  }
  found = nullptr;
}

void makeTemplates(cpp_reader *) {
  common = readNames(open(commonPath, O_RDONLY | O_CLOEXEC));
  if (common == nullptr) giveUp(commonPath);
  left = makeNames();
  learnWhatIsLeft();
  listed = makeNames();
  unsigned counts[constantLists] = {};
  visitConstants([&](const vec *list, std::size_t index) { counts[index] = list == nullptr ? 0 : list->count; });
  makePending();
  // One that came with a made function would be defined out of its turn. So it is not: a program that wants its address is not
  // linked, which GCC tells, and is compiled plainly.
  visitConstants([&](vec *list, std::size_t index) {
    if (list != nullptr && list->count > counts[index] && !isFunction(list->all[0])) list->count = counts[index];
  });
  writeNames(*listed, madePath);
}

void registerPragma(void *, void *) { c_register_pragma("runledger", "templates", makeTemplates); }

} // namespace

extern "C" int plugin_init(plugin_name_args *plugin, void *) {
  bool isKnown = &at_eof != nullptr && &current_function_decl != nullptr && decl_as_string != nullptr &&
                 instantiate_decl != nullptr && c_register_pragma != nullptr && gt_ggc_mx_pending_template != nullptr &&
                 gt_ggc_r_gt_cp_pt_h != nullptr && gt_ggc_mx_vec_tree_va_gc_ != nullptr && gt_ggc_r_gt_cp_decl2_h != nullptr &&
                 &unemitted_tinfo_decls != nullptr && &keyed_classes != nullptr && &static_aggregates != nullptr &&
                 &tls_aggregates != nullptr;
  if (!isKnown) return 1;
  for (int index = 0; index < plugin->count; index += 1) {
    auto [key, value] = plugin->arguments[index];
    if (strcmp(key, "used") == 0) usedPath = value;
    if (strcmp(key, "common") == 0) commonPath = value;
    if (strcmp(key, "made") == 0) madePath = value;
    if (strcmp(key, "checks") == 0) mustCheck = true;
  }
  auto on = [&](const char *event, void (*call)(void *, void *)) {
    register_callback(plugin->name, get_named_event_id(event, 0), call, nullptr);
  };
  if (usedPath != nullptr) used = makeNames();
  if (commonPath != nullptr && madePath != nullptr) {
    on("PLUGIN_PRAGMAS", registerPragma);
    on("PLUGIN_PRE_GENERICIZE", noteMade);
  } else {
    on("PLUGIN_PASS_EXECUTION", noteUse);
    on("PLUGIN_ALL_IPA_PASSES_START", endUse);
  }
  return 0;
}
