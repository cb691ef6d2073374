// Sources that take their reader more time than their length suggests. Only compilers and interpreters in boxes read sources.
// A slow reader on the worker's one event loop would delay every submission; event-loop.ts measures such a delay.
import type { Attack, Fate } from '../attack.ts'
import type { Attacker } from '../program.ts'

/** The length of the largest accepted source. */
const most = 65_536

/** Repeats a piece as often as fits between a beginning and an end. */
function fill(piece: string, begin = '', end = ''): string {
  return begin + piece.repeat(Math.floor((most - begin.length - end.length) / piece.length)) + end
}

/** Any fate of the compiler or the interpreter is allowed. */
const anyEnd: readonly Fate[] = [
  ...(['exited', 'crashed', 'signaled', 'memory_limit', 'output_limit'] as const),
  ...(['cpu_limit', 'wall_limit'] as const),
]

function source(language: Attacker, name: string, text: string): Attack {
  return {
    name: `${name} hold up nobody`,
    profile: language === 'python' ? 'probe' : 'compile',
    phase: language === 'python' ? 'run' : 'compile',
    code: { [language]: text },
    fates: anyEnd,
  }
}

/** The end of a source that keeps a pattern from matching to the end, because no language has this word. */
const broken = '\n?!\n'

const python: Readonly<Record<string, string>> = {
  'an import and blanks': `import${' '.repeat(2400)}!`,
  'blanks between an import and its name': fill(' ', 'import', '!'),
  'blanks and commas after an import': fill(' ,', 'import a', '!'),
  'many imports in a line': fill('import ', '', broken),
  'names in brackets after a from': fill('a, ', 'from os import (', broken),
  'dots after a from': fill('.', 'from ', broken),
  'lines that go on': fill('\\\n', 'import a', broken),
  'quotes of three': fill('"""\'\'\'', '', broken),
  'escapes in a string that does not end': fill('\\"', 'a = "', ''),
  'brackets that are not closed': fill('(', 'a = ', broken),
  'signs of comments': fill('# import os; ', '', broken),
  'white space of many kinds': fill(' \t\f\r', 'import os', broken),
  'a name of 64 KiB': fill('a', '', broken),
  semicolons: fill(';import a', 'import a', broken),
}

const java: Readonly<Record<string, string>> = {
  'escaped quotes in a string that does not end': `class Main{}//\n"${'\\"'.repeat(32_700)}`,
  'backslashes in a string that does not end': fill('\\', 'class Main{} String s="', ''),
  'comments that are not closed': fill('/*', 'class Main{}', ''),
  'ends of comments': fill('*/', 'class Main{}/*', broken),
  'quotes of a text block': fill('"""', 'class Main{}', ''),
  'quotes of a letter': fill("'", 'class Main{}', broken),
  'words for a class': fill('class ', '', broken),
  'a class and blanks': fill(' ', 'public class', '!'),
  'modifiers before a class': fill('public ', '', 'class Main{}'),
  'annotations before a class': fill('@A ', '', 'class Main{}'),
  'braces that are not closed': fill('{', 'class Main', broken),
  'type parameters that are not closed': fill('<', 'class Main', '{}'),
  'dots of a package': fill('a.', 'package ', ';class Main{}'),
  'escapes by number': fill('\\u005c', 'class Main{} String s="', ''),
}

const cpp: Readonly<Record<string, string>> = {
  'a sign of a directive and blanks': fill(' ', '#', 'include'),
  'directives without a name': fill('#include <', '', broken),
  'lines that are continued': fill('\\\n', '#include <vector>', broken),
  'directives for one header': fill('#include <vector>\n', '', broken),
  'comments between directives': fill('/**/', '#include ', broken),
  'raw strings that are not closed': fill('R"(', '', broken),
}

const list = (language: Attacker, texts: Readonly<Record<string, string>>): Attack[] =>
  Object.entries(texts).map(([name, text]) => source(language, name, text))

export const sourceTimeAttacks: readonly Attack[] = [
  ...list('python', python),
  ...list('java', java),
  ...list('cpp', cpp),
]
