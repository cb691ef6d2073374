# Run once in the resident interpreter (modules.c): loads the modules that programs import most and sets them aside, so
# that a fork's first import finds them loaded. sys.modules and the places where modules are found do not change.
import builtins
import sys

wanted = ('typing', 'heapq', 'bisect', 'string', 'copy')

there = dict(sys.modules)
places = set(sys.path_importer_cache)
gc.disable()
own_import = builtins.__import__
asked = {}


def note_import(name, globals=None, locals=None, fromlist=(), level=0):
    """The interpreter's import, and a note of what each module asks for."""
    base = name
    if level > 0:
        package = globals['__package__'].rsplit('.', level - 1)[0]
        base = f'{package}.{name}' if name else package
    notes = asked.setdefault((globals or {}).get('__name__'), [])
    notes.append(base)
    module = own_import(name, globals, locals, fromlist, level)
    notes.extend(f'{base}.{leaf}' for leaf in fromlist or ())
    return module


def complete(name, visited, done):
    """Lists all that an import of it loads, in the order in which an import completes it."""
    if name in there or name not in sys.modules:
        return done
    parent = name.rpartition('.')[0]
    if parent:
        complete(parent, visited, done)
    if name not in visited:
        visited.add(name)
        for each in asked.get(name, ()):
            complete(each, visited, done)
        done.append(name)
    return done


script_directory = sys.path.pop(0)
try:
    builtins.__import__ = note_import
    for name in wanted:
        __import__(name)
    builtins.__import__ = own_import
    loaded = [name for name in sys.modules if name not in there]
    noted = {name for notes in asked.values() for name in notes}
    # typing.io has no file: typing itself adds it to sys.modules.
    for name in loaded:
        if name not in noted:
            asked[name.rpartition('.')[0]].append(name)
    closures = {name: tuple(complete(name, set(), [])) for name in loaded}
    put_by = {name: sys.modules[name] for name in loaded}
    # A submodule that only another module imports is not an attribute of its package before that import.
    detached = {}
    for name in loaded:
        parent, _, leaf = name.rpartition('.')
        if parent and name not in closures[parent]:
            detached[name] = (parent, leaf)
            delattr(put_by[parent], leaf)
finally:
    builtins.__import__ = own_import
    sys.path.insert(0, script_directory)
    for name in set(sys.modules).difference(there):
        del sys.modules[name]
    for place in set(sys.path_importer_cache).difference(places):
        del sys.path_importer_cache[place]
    # Garbage of these imports must not count as the program's.
    gc.collect(0)
    gc.enable()
    # The interpreter frees modules at its end, so no reference to them may remain.
    del there
