// Makes programs of LiveCodeBench's solutions that are a function or a method. Such a program reads its arguments as lines of
// JSON and prints the value as JSON tokens, so that a checker can compare them as numbers and words.

/** The modules that the benchmark's own runner imports before a solution. */
const modules = ['string', 're', 'datetime', 'collections', 'heapq', 'bisect', 'copy', 'math', 'random', 'statistics', 'itertools', 'functools', 'operator', 'io', 'sys', 'json', 'builtins', 'typing'] // prettier-ignore
const imports = modules.map((module) => `from ${module} import *`)

/** Returns a Python program that calls a solution. @param called the name of a method of `class Solution` or of a function. */
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

/** Returns a JSON value in the form in which a functional program prints it. @throws {Error} for a text that is no JSON. */
export function readJsonTokens(json: string): string {
  const value: unknown = JSON.parse(json)
  // Python's json.dumps escapes every character outside ASCII.
  const ascii = JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `${(ascii.match(token) ?? []).join(' ')}\n`
}
