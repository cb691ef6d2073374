// Tells which Python programs may end early. After the script, exit functions and flushes, CPython clears every module
// and frees every object: most of a short program's time, and seen only by programs whose objects do something when
// they die. Decided from the source, in doubt against it, in linear time.
import { splitPython } from './source.ts'

/** Objects of these modules do nothing when they die. */
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
 * Words that may make objects that do something when they die: generators suspended in a `try`, files with buffered
 * bytes, classes given a finalizer at run time.
 */
const loudWords =
  /\b(?:yield|async|await|open|fdopen|popen|exec|eval|compile|setattr|getattr|globals|locals|vars|detach|modules|import_module|settrace|setprofile)\b/

/** Buffered files, hooks at the interpreter's end, import machinery, and what evaluates string annotations. */
const furtherLoudWords =
  /\b(?:TextIOWrapper|FileIO|addaudithook|breakpoint|meta_path|path_hooks|path_importer_cache|load_module|exec_module|get_type_hints)\b|\b(?:Buffered\w|Stream\w|_eval|singledispatch)|(?:IOBase|find_spec|ForwardRef|forward_ref)\b|loader/

/**
 * Standard modules (3.8 to 3.14) that are not quiet, without leading underscores. Quiet ones have some of them as
 * attributes, and through those all others are reached. Left out are common attribute names (`queue`, `code`,
 * `readline`, …), which no quiet module has, and `stat` and `errno`, which hold numbers.
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
/** `a.module`; the statement check finds `from a import module`. */
const otherModuleReached = new RegExp(`\\.[\\s\\\\]*_*(?:${otherModules})\\b`)

/**
 * Patterns reach attributes without a dot. `match` and `case` may also be variables, so both must begin a line, and
 * `case` must not be used as one.
 */
const matchWord = /^match\b/
const caseWord = /^case\b(?!\s*(?:[,)\]]|\.\s*[^\W\d]|[-+*/%&|^@<>]*=))/

/**
 * Names that make classes, or reach names, by text that need not be in the source: metaclasses, frames, functions that
 * take names. `type` can also give an output a second buffer.
 */
const wordsOfNames =
  /\b(?:type|EnumType|make_dataclass|attrgetter|methodcaller|f_builtins|f_globals|f_locals)\b|Meta/

/** Outputs may be flushed more or less often, which a program's own method would notice. */
const flushNotCalled = /\.[\s\\]*flush\b(?!\s*\()/

const loud = [loudWords, furtherLoudWords, otherModuleReached, wordsOfNames, flushNotCalled]

/** Special names that do nothing at a program's end: a list, so that `__del__` and unknown names are loud. */
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

/** Another encoding could change what the source says. */
const otherEncoding = /^(?:[^\n]*\n)?[^\n]*coding[:=][ \t]*(?![ \t]|utf-?8(?![-\w.]))/i

const importWord = /\b(?:import|from)\b/g
/** Adjacent repetitions share no character, so that matching cannot backtrack for long. */
const importStatement =
  /import[ \t](?<names>[\w., \t]+)(?![^;\n])|from[ \t]+(?<module>[\w.]+)[ \t]+import\b(?:[ \t]*\([\w\s,]*\)[ \t]*|[ \t]*\*[ \t]*|[\w, \t]+)(?![^;\n])/y

/**
 * True when nobody outside sees what follows the script's end. Strings count only for special names.
 * @param source as submitted.
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
 * NFKC, as Python compares names. Only after strings and comments are found, and in small pieces: sorting thousands of
 * accents on one letter takes seconds. What a cut leaves apart is never ASCII, so in none of the words.
 */
function normalize(text: string): string {
  return text.replace(/\p{ASCII}?\P{ASCII}{1,32}/gu, (characters) => characters.normalize('NFKC'))
}

/** Null when an import is not recognised, or the program names something like one. */
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
    // `import a` has one of the words, `from a import b` two; other uses are not recognised.
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
