// Tells the Python programs whose end can be cut short: when the script is over, exit functions have run and outputs are
// flushed, CPython still clears every module and frees every object, which is most of a short program's time and is
// seen only by programs whose objects do something when they die. Decided from the source, and in doubt against it: a
// program that is not recognised is taken down in full.

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
 * Words through which a class is put together, or a name reached, by text that need not stand in the source: classes of
 * classes, frames, functions that take names. `type` is also how an output gets a second buffer.
 */
const wordsOfNames =
  /\b(?:type|\w*Meta\w*|EnumType|make_dataclass|attrgetter|methodcaller|f_builtins|f_globals|f_locals)\b/

/** Outputs are flushed once more or once less: a method of the program's own would be seen. */
const flushNotCalled = /\.[\s\\]*flush\b(?!\s*\()/

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

/**
 * Strings and comments. What a string says matters only to the words above, which are looked for outside of it; but what
 * stands in an f-string's braces is code. A string without an end goes to the end of its line, or of all: such a source is
 * no program, and to look for the end again from every quotation mark would take seconds.
 */
const notCode =
  /(?:\b[rR]?[fF][rR]?)?(?:"""(?:\\[\s\S]?|[^\\])*?(?:"""|$)|'''(?:\\[\s\S]?|[^\\])*?(?:'''|$)|"(?:\\[\s\S]?|[^"\\\n])*"?|'(?:\\[\s\S]?|[^'\\\n])*'?)|#[^\n]*/g

function keepCode(token: string): string {
  if (token.startsWith('#')) return ''
  const isFormatted = /^[rf]/i.test(token)
  return isFormatted ? `""${token.slice(token.indexOf('{'), token.lastIndexOf('}') + 1)}` : '""'
}

/** A source in another encoding says something else than it seems to. */
const otherEncoding = /^(?:[^\n]*\n)?[^\n]*coding[:=][ \t]*(?![ \t]|utf-?8(?![-\w.]))/i

const importWord = /\b(?:import|from)\b/g
const importStatement =
  /(?:^|;)[ \t]*(?:import[ \t]+(?<names>[\w., \t]+)|from[ \t]+(?<module>[\w.]+)[ \t]+import[ \t]*(?:\([\w\s,]*\)|[\w, \t]+|\*))[ \t]*(?=;|\r?$)/gm

/**
 * True when nothing that happens after the script's end can be seen from outside.
 * @param source of the program, as it was submitted.
 */
export function endsQuietly(source: Uint8Array): boolean {
  const text = Buffer.from(source).toString('utf8').replace(/\r\n?/g, '\n')
  if (otherEncoding.test(text)) return false
  // Names are compared by Python in the form NFKC; in strings and comments nothing is changed before their ends are known.
  const withStrings = text
    .replace(notCode, (token) => (token.startsWith('#') ? '' : token))
    .normalize('NFKC')
  for (const [name] of withStrings.matchAll(/__\w*/g)) if (!quietNames.has(name)) return false
  const code = text.replace(notCode, keepCode).normalize('NFKC')
  if ([loudWords, wordsOfNames, flushNotCalled].some((words) => words.test(code))) return false
  const statements = [...code.matchAll(importStatement)].map(({ groups }) => groups ?? {})
  const words = [...code.matchAll(importWord)].length
  // `import a` has one of the words, `from a import b` two: any other use of them is not recognised.
  const expected = statements.reduce((sum, { module }) => sum + (module === undefined ? 1 : 2), 0)
  return (
    words === expected && statements.flatMap(listModules).every((name) => quietModules.has(name))
  )
}

function listModules({ names, module }: Record<string, string | undefined>): string[] {
  if (module !== undefined) return [module]
  return (names ?? '').split(',').map((part) => part.trim().split(/[ \t]/)[0] ?? '')
}
