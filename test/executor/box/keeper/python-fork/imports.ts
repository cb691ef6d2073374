// Imports of modules that a fork's interpreter has already loaded: in any order, hidden by the program's files, watched,
// replaced, in threads and processes, and failing.
import type { Programs } from './program.ts'

/** Modules that a fork finds loaded. For each there is a program that imports it first. */
const loadedBefore =
  'bisect collections collections.abc contextlib copy copyreg enum functools heapq itertools keyword operator re re._casefix re._compiler re._parser reprlib string types typing typing.io typing.re warnings weakref'.split(
    ' ',
  )

/** Prints what an import changes: the modules and their order, and the attributes of each. */
const tell = String.raw`
def tell(seen=set()):
    for name in [name for name in sys.modules if name not in seen]:
        module = sys.modules[name]
        seen.add(name)
        print(name, module, list(vars(module)), getattr(module, '__spec__', None), getattr(module, '__cached__', None))
    print([name for name in sys.modules if '.' in name and hasattr(sys.modules[name.partition('.')[0]], name.partition('.')[2])])
`

const orders: Programs = Object.fromEntries(
  loadedBefore.map((name) => [
    `${name} is imported first`,
    `import sys\n${tell}\ntell()\nimport ${name}\ntell()\nfrom re import *\ntell()\nimport typing, random, string, heapq, copy, bisect\ntell()`,
  ]),
)

/** Programs that write a file before they import. Where Python finds the file, its content prints. */
const shadows: Programs = Object.fromEntries(
  [
    'typing.py',
    'collections.py',
    're.py',
    'enum.so',
    'functools.abi3.so',
    'heapq.pyc',
    'string/__init__.py',
    're/__init__.py',
    're/nothing.py',
    'typing.txt',
    'keyword',
    'nothing.py',
    'sub/typing.py',
  ].map((path) => [
    `${path} is there`,
    [
      'import os, sys',
      `path = '${path}'`,
      'if "/" in path: os.mkdir(path.partition("/")[0])',
      'open(path, "w").write("List = print(__name__, __file__)")',
      'for name in ("enum", "re", "heapq", "string", "functools", "collections", "typing"):',
      '    try: print(__import__(name).__file__)',
      '    except Exception as error: print(name, type(error), error)',
      'print(list(sys.modules))',
    ].join('\n'),
  ]),
)

const afterwards = 'import typing, sys\nprint(typing.__file__, list(sys.modules))'

/** Programs that change something before they import. */
const changes: Programs = Object.fromEntries(
  [
    'import os\nos.mkdir("sub"); open("sub/typing.py", "w").write("x = 1")\nsys.path.insert(0, "sub")',
    'import os\nos.mkdir("sub"); open("sub/enum.py", "w").write("x = 1")\nsys.path[0] = "/box/sub"',
    'sys.path = ["/nowhere"] + sys.path', 'sys.path.reverse()', 'sys.path.clear()',
    'sys.path = None', 'sys.path_hooks.clear(); sys.path_importer_cache.clear()',
    'class Finder:\n  def find_spec(name, path, target=None): print(name, path)\nsys.meta_path.insert(0, Finder)',
    'sys.meta_path.clear()', 'sys.meta_path = sys.meta_path[1:]', 'sys.modules["re"] = None',
    'sys.modules["typing"] = None', 'sys.modules["functools"] = type(sys)("functools")',
    'sys.modules["enum"] = sys', 'del sys.modules["abc"]', 'del sys.modules["_collections_abc"]',
    'sys.modules["os"] = sys', 'import collections\ndel sys.modules["collections"]',
    'import collections\nold = collections\ndel sys.modules["collections"], collections\nimport collections\nprint(old is collections)',
    'import typing\nold = typing\ndel sys.modules["typing"]\nimport typing\nprint(old is typing, old.List == typing.List, old.re is typing.re)',
    'import typing\nold = typing.collections\ndel sys.modules["collections"], sys.modules["typing"]\nimport typing\nprint(old is typing.collections)',
    'import typing, importlib\nold = typing.List\nprint(importlib.reload(typing) is typing, typing.List is old)',
    'import importlib\nprint(importlib.import_module("typing").List, list(sys.modules))',
    'import importlib.util\nprint(importlib.util.find_spec("typing"), list(sys.modules))',
    'import re\nimport importlib\nprint(importlib.import_module("re._parser"), importlib.import_module("collections.abc"), list(sys.modules))',
    'sys.modules.clear()', 'sys.modules = dict(sys.modules)',
    'import builtins\nbefore = builtins.__import__\ndef log(name, *rest): print(name, rest[2:]); return before(name, *rest)\nbuiltins.__import__ = log',
    'import builtins\ndel builtins.__import__',
    '__builtins__.__import__ = lambda name, *rest: print(name) or sys',
    'exec("import typing", {"__builtins__": {"__import__": print}})',
    'exec("from typing import List; print(List)", {})',
    'sys.addaudithook(lambda name, args: name == "import" and print(args[0]))',
    'seen = []\nsys.settrace(lambda frame, *_: seen.append(frame.f_code.co_filename))\nimport heapq\nsys.settrace(None)\nprint(seen)\nseen = []\nsys.setprofile(lambda frame, *_: seen.append(frame.f_code.co_filename))\nimport string\nsys.setprofile(None)\nprint(sorted(set(seen)))',
    'import cProfile, pstats\np = cProfile.Profile(); p.runctx("import typing", {}, {})\nprint(sorted({file for file, _, _ in pstats.Stats(p).stats}))',
    'import os\nos.chmod("/box", 0)', 'import os\nos.chdir("/")',
    'sys.audit("import"); sys.audit("import", 1, None, 1, 1, 1); sys.audit("import", "gc", "x", 1, 1, 1)',
    'import typing.nothing', 'from typing import nothing', 'from collections import abc, nothing',
    'import collections\nprint(hasattr(collections, "abc"))\nfrom collections import abc\nprint(collections.abc is abc, abc.__spec__.name)',
    'import collections\nprint(hasattr(collections, "abc"))\nfrom typing import List\nprint(collections.abc)',
    'from re import _parser, nothing',
    'def f(n):\n  if n: return f(n - 1)\n  import typing\n  return typing.List\nprint(f(500))',
  ].map((change) => [change, `import sys\n${change}\n${afterwards}`]),
) // prettier-ignore

/** Programs that import in unusual places, and programs with imports that end in various ways. */
const places: Programs = {
  'an import in a thread': String.raw`
import threading
def work():
    import typing
    print(typing.List)
thread = threading.Thread(target=work); thread.start(); thread.join()
import typing, sys
print(list(sys.modules))`,
  'imports in many threads': String.raw`
import threading
found = []
def work(name): found.append(__import__(name))
names = ['typing', 're', 'collections', 'functools', 'enum', 'heapq', 'string', 'copy'] * 3
threads = [threading.Thread(target=work, args=(name,)) for name in names]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted({module.__name__ for module in found}), len({id(module) for module in found}))`,
  'an import in a child of os.fork, then in its parent': String.raw`
import os, sys
if os.fork() == 0:
    from typing import List
    print(List, list(sys.modules), flush=True)
    os._exit(0)
os.wait()
print(list(sys.modules))
from typing import List
print(List, list(sys.modules))`,
  'an import in a subprocess with variables of its own': String.raw`
import os, subprocess, sys
os.mkdir('sub')
open('sub/typing.py', 'w').write('List = 1')
for name in ('sub', '/box/sub', ''):
    subprocess.run([sys.executable, '-c', 'import typing, sys; print(typing.__file__, list(sys.modules))'], env={'PYTHONPATH': name})
import typing
print(typing.__file__)`,
  'an import in a subinterpreter':
    'import _xxsubinterpreters as s\ni = s.create(); s.run_string(i, "import sys, typing; print(list(sys.modules), flush=True)"); s.destroy(i)\nimport sys, typing\nprint(list(sys.modules))',
  'an import at the end':
    'import atexit\ndef last():\n  from typing import List\n  print(List)\natexit.register(last)\nclass A:\n  def __del__(self):\n    import typing\n    print(typing)\na = A()\nb = A(); b.b = b',
  'errors inside of what was made before':
    'import traceback, heapq, re, collections, copy\nfor act in (lambda: re.compile("("), lambda: heapq.merge(1), lambda: collections.namedtuple("a", "def"), lambda: copy.deepcopy(open(0)), lambda: list(heapq.merge([1], ["a"]))):\n  try: act()\n  except Exception: traceback.print_exc()',
  'a collector asked at once':
    'import gc\nprint(gc.get_freeze_count(), gc.get_threshold(), gc.isenabled(), gc.garbage, gc.callbacks)\nprint(gc.collect(), gc.collect())',
}

/** Imports. */
export const imports: Programs = { ...orders, ...shadows, ...changes, ...places }
