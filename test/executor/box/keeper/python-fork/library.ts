// Programs made of the installed standard library: an import of every module, the library's doctests, its files run as
// scripts. They are read when the test runs, so that the installed version is tested.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Programs } from './program.ts'

/** Modules that need something a box lacks, or that do something when they are imported: a window, a browser, printed text. */
const notImported = new Set(['antigravity', 'turtle', 'this'])

/** Modules whose doctests print no time, no size of memory and no order of a set of words. */
const doctested =
  'bisect calendar collections copy dataclasses datetime decimal difflib enum fractions functools heapq itertools json math operator pprint random re statistics string struct textwrap types zlib hashlib'

/** Scripts that run forever, measure, print the time or random values, or walk through all files. */
const notRun =
  /^(antigravity|compileall|gzip|platform|pydoc|random|smtpd|sysconfig|_sysconfigdata\w*|timeit|turtle|uuid|webbrowser)/

function listModules(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .map((entry) => (entry.isDirectory() ? entry.name : entry.name.replace(/\.py$/, '')))
    .filter((name) => /^[a-z]\w*$/i.test(name) && !notImported.has(name))
    .toSorted()
}

function group<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  )
}

function importOf(names: readonly string[]): string {
  return [
    'import importlib, sys',
    `for name in ${JSON.stringify(names)}:`,
    '    before = set(sys.modules)',
    '    try: module = importlib.import_module(name)',
    '    except BaseException as error: print(name, type(error), error)',
    '    else: print(name, sorted(dir(module)), module.__doc__)',
    '    print(sorted(set(sys.modules) - before))',
  ].join('\n')
}

function doctestOf(name: string): string {
  return `import doctest, ${name}\nprint(doctest.testmod(${name}))`
}

/** Lists the programs made of a standard library. @param directory of the library. */
export function listLibraryPrograms(directory: string): Programs {
  const scripts = readdirSync(directory)
    .filter((name) => name.endsWith('.py') && !notRun.test(name))
    .map((name) => [name, readFileSync(join(directory, name))] as const)
    .filter(([, source]) => /^if __name__ == ['"]__main__['"]/m.test(source.toString('latin1')))
  return {
    ...Object.fromEntries(
      group(listModules(directory), 6).map((names) => [
        `import ${names.join(', ')}`,
        importOf(names),
      ]),
    ),
    ...Object.fromEntries(
      doctested.split(' ').map((name) => [`doctests of ${name}`, doctestOf(name)]),
    ),
    ...Object.fromEntries(
      scripts.map(([name, code]) => [`${name} as a script`, { code, stdin: '1 + 1\n' }]),
    ),
  }
}
