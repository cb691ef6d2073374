// Tells the Python programs whose end can be cut short: when the script is over, exit functions have run and outputs are
// flushed, CPython still clears every module and frees every object, which is most of a short program's time and is
// seen only by programs whose objects do something when they die. Decided from the source, and in doubt against it: a
// program that is not recognised is taken down in full. Everything here takes time that is linear in the source.
import { splitPython } from './source.ts'

/** Modules whose objects do nothing when they die. */
const quietModules = new Set(
  [
    ['abc', 'array', 'bisect', 'calendar', 'cmath', 'collections', 'collections.abc', 'copy'],
    ['dataclasses', 'datetime', 'decimal', 'enum', 'fractions', 'functools', 'heapq', 'itertools'],
    [
      'json',
      'math',
      'numbers',
      'operator',
      'os',
      'os.path',
      'random',
      're',
      'statistics',
      'string',
    ],
    ['struct', 'sys', 'textwrap', 'time', 'typing', '__future__'],
  ].flat(),
)

/**
 * Words that make, or could make, an object that does something when it dies: a generator that is suspended in a `try`, a
 * file with bytes in its buffer, a class with a finalizer that is put together at run time.
 */
const loudWords =
  /\b(?:yield|async|await|open|fdopen|popen|exec|eval|compile|setattr|getattr|globals|locals|vars|detach|modules|import_module|settrace|setprofile)\b/

/**
 * Classes of files with a buffer, hooks that are told of the interpreter's end, what modules are found and loaded by, and
 * what evaluates an annotation that is a string.
 */
const furtherLoudWords =
  /\b(?:TextIOWrapper|FileIO|addaudithook|breakpoint|meta_path|path_hooks|path_importer_cache|load_module|exec_module|get_type_hints)\b|\b(?:Buffered\w|Stream\w|_eval|singledispatch)|(?:IOBase|find_spec|ForwardRef|forward_ref)\b|loader/

/**
 * Modules of the standard library (3.8 to 3.14) that are not quiet, without leading underscores: a quiet one has some of
 * them among its names, and through those every other one is reached, without an import. Not those whose names are words
 * that programs have for attributes of their own (`queue`, `code`, `readline`, …): no quiet module has them; nor
 * `stat` and `errno`, which hold numbers.
 */
const otherModules = `
  aifc annotationlib antigravity argparse ast asynchat asyncio asyncore atexit audioop base64
  bdb binascii builtins bz2 cProfile cgi cgitb chunk cmd codecs codeop collections_abc colorize
  colorsys compat_pickle compileall compression concurrent configparser contextlib contextvars
  copyreg crypt csv ctypes curses curses_panel dbm difflib dis distutils doctest elementtree
  email encodings ensurepip faulthandler fcntl filecmp fileinput fnmatch frozen_importlib
  frozen_importlib_external ftplib gc gdbm genericpath getopt getpass gettext glob graphlib grp
  gzip hashlib hmac html http idlelib imaplib imghdr imp importlib inspect interpchannels
  interpqueues interpreters io ipaddress keyword lib2to3 linecache locale logging lsprof lzma
  mailbox mailcap markupbase marshal mimetypes mmap modulefinder monitoring msi msilib msvcrt
  multibytecodec multiprocessing netrc nis nntplib nt ntpath nturl2path opcode opcode_metadata
  optparse ossaudiodev overlapped pathlib pdb pickle pickletools pipes pkgutil platform plistlib
  poplib posix posixpath posixshmem posixsubprocess pprint profile pstats pty pwd py_abc
  py_compile pyclbr pydatetime pydecimal pydoc pydoc_data pyexpat pyio pylong pyrepl quopri
  reprlib resource rlcompleter runpy sched scproxy secrets select selectors shelve shlex shutil
  signal site sitebuiltins smtpd smtplib sndhdr socket socketserver spwd sqlite sqlite3 sre
  sre_compile sre_constants sre_parse ssl stringprep strptime subprocess suggestions sunau
  symtable sysconfig syslog tabnanny tarfile telnetlib tempfile templatelib termios testcapi
  thread threading threading_local timeit tkinter tokenize tomllib trace traceback tracemalloc
  tty turtle turtledemo types unicodedata unittest urllib uu uuid venv warnings wave weakref
  weakrefset webbrowser winapi winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile
  zipimport zlib zoneinfo zstd
`
  .trim()
  .split(/\s+/)
  .join('|')
const otherModule = new RegExp(`\\b_*(?:${otherModules})\\b`)
/** `a.module`; `from a import module` is looked for in the statement. */
const otherModuleReached = new RegExp(`\\.[\\s\\\\]*_*(?:${otherModules})\\b`)

/**
 * A pattern reaches attributes by names that no dot stands before. `match` and `case` are also what variables are called,
 * so that both have to begin a line, and `case` not as what something is done to.
 */
const matchWord = /^match\b/
const caseWord = /^case\b(?!\s*(?:[,)\]]|\.\s*[^\W\d]|[-+*/%&|^@<>]*=))/

/**
 * Words through which a class is put together, or a name reached, by text that need not stand in the source: classes of
 * classes, frames, functions that take names. `type` is also how an output gets a second buffer.
 */
const wordsOfNames =
  /\b(?:type|EnumType|make_dataclass|attrgetter|methodcaller|f_builtins|f_globals|f_locals)\b|Meta/

/** Outputs are flushed once more or once less: a method of the program's own would be seen. */
const flushNotCalled = /\.[\s\\]*flush\b(?!\s*\()/

const loud = [loudWords, furtherLoudWords, otherModuleReached, wordsOfNames, flushNotCalled]

/** Special names that do nothing at a program's end; `__del__` is not among them, nor is a name not thought of. */
const quietNames = new Set(
  [
    [
      'name',
      'main',
      'init',
      'new',
      'call',
      'str',
      'repr',
      'format',
      'bytes',
      'hash',
      'bool',
      'len',
    ],
    [
      'lt',
      'le',
      'eq',
      'ne',
      'gt',
      'ge',
      'getitem',
      'setitem',
      'delitem',
      'contains',
      'iter',
      'next',
    ],
    [
      'add',
      'sub',
      'mul',
      'matmul',
      'truediv',
      'floordiv',
      'mod',
      'divmod',
      'pow',
      'neg',
      'pos',
      'abs',
    ],
    ['radd', 'rsub', 'rmul', 'rtruediv', 'rfloordiv', 'rmod', 'iadd', 'isub', 'imul', 'and', 'or'],
    ['xor', 'invert', 'lshift', 'rshift', 'int', 'float', 'index', 'round', 'slots', 'reversed'],
    ['post_init', 'future', 'missing', 'doc', 'file'],
  ]
    .flat()
    .map((name) => `__${name}__`),
)

/** A source in another encoding says something else than it seems to. */
const otherEncoding = /^(?:[^\n]*\n)?[^\n]*coding[:=][ \t]*(?![ \t]|utf-?8(?![-\w.]))/i

const importWord = /\b(?:import|from)\b/g
/** No two of its repetitions that follow each other take the same character, so that none can be cut in many ways. */
const importStatement =
  /import[ \t](?<names>[\w., \t]+)(?![^;\n])|from[ \t]+(?<module>[\w.]+)[ \t]+import\b(?:[ \t]*\([\w\s,]*\)[ \t]*|[ \t]*\*[ \t]*|[\w, \t]+)(?![^;\n])/y

/**
 * True when nothing that happens after the script's end can be seen from outside. What a string says matters only to the
 * special names: the other words are looked for outside of strings.
 * @param source of the program, as it was submitted.
 */
export function endsQuietly(source: Uint8Array): boolean {
  const whole = Buffer.from(source).toString('utf8').replace(/\r\n?/g, '\n')
  if (otherEncoding.test(whole)) return false
  const { text, code: written } = splitPython(whole)
  for (const [name] of normalize(text).matchAll(/__\w*/g)) if (!quietNames.has(name)) return false
  const code = normalize(written)
  if (loud.some((words) => words.test(code))) return false
  const lines = code.split(/[\n\u2028\u2029]/).map((line) => line.trimStart())
  if (lines.some((line) => matchWord.test(line)) && lines.some((line) => caseWord.test(line)))
    return false
  return listModules(code)?.every((name) => quietModules.has(name)) ?? false
}

/**
 * Names as Python compares them, in the form NFKC; to be used when the ends of strings and comments are known. A few
 * characters at a time: to put thousands of accents on one letter in order takes seconds. What that leaves apart is never
 * ASCII in either form, and so in none of the words.
 */
function normalize(text: string): string {
  return text.replace(/\p{ASCII}?\P{ASCII}{1,32}/gu, (characters) => characters.normalize('NFKC'))
}

/** The modules that a program imports; null when it does so in a way that is not recognised, or has names of one. */
function listModules(code: string): string[] | null {
  const modules: string[] = []
  const words = [...code.matchAll(importWord)]
  let end = 0
  let read = 0
  for (const { index } of words) {
    if (index < end) continue
    importStatement.lastIndex = index
    const match = beginsStatement(code, index) ? importStatement.exec(code) : null
    if (match === null) return null
    end = importStatement.lastIndex
    const { names = '', module } = match.groups ?? {}
    if (module !== undefined && otherModule.test(match[0])) return null
    for (const name of module === undefined ? names.split(',') : [module])
      modules.push(firstWord(name))
    // `import a` has one of the words, `from a import b` two: any other use of them is not recognised.
    read += module === undefined ? 1 : 2
  }
  return read === words.length ? modules : null
}

function beginsStatement(code: string, index: number): boolean {
  let start = index
  while (code[start - 1] === ' ' || code[start - 1] === '\t') start -= 1
  return start === 0 || code[start - 1] === '\n' || code[start - 1] === ';'
}

function firstWord(text: string): string {
  return text.trim().split(/[ \t]/, 1)[0] ?? ''
}
