// Programs around solutions that are a function or a method, as LiveCodeBench has them: arguments come as lines of JSON, and
// the value goes out as tokens of JSON, which compare as numbers and words do.

/** As the benchmark's own runner imports them before a solution. */
const modules = ['string', 're', 'datetime', 'collections', 'heapq', 'bisect', 'copy', 'math', 'random', 'statistics', 'itertools', 'functools', 'operator', 'io', 'sys', 'json', 'builtins', 'typing'] // prettier-ignore
const imports = modules.map((module) => `from ${module} import *`)

/** @param called its name, of `class Solution` or of the module. */
export function functionalProgram(solution: string, called: string): string {
  return [
    ...imports,
    `import ${modules.join(', ')}`,
    solution,
    'import json, re, sys',
    `_call = Solution().${called} if 'Solution' in globals() else ${called}`,
    '_value = _call(*[json.loads(line) for line in sys.stdin.read().split("\\n") if line.strip()])',
    `print(' '.join(re.findall(r'''${token.source}''', json.dumps(_value))))`,
    '',
  ].join('\n')
}

const token = /"(?:[^"\\]|\\.)*"|[^\s[\]{},:"]+|[[\]{},:]/g

/** @param json a value. @throws {Error} when it is none. */
export function readJsonTokens(json: string): string {
  const value: unknown = JSON.parse(json)
  // Python writes what is not ASCII by its number.
  const ascii = JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `${(ascii.match(token) ?? []).join(' ')}\n`
}
