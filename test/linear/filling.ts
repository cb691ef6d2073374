// Texts that are the worst case for a reader that goes back: one unit repeated, which starts something that never ends.

/** The repeated unit, and the texts before and after it. */
type Filling = readonly [unit: string, head?: string, tail?: string]

/** Returns the name and the text of each filling. A text repeats its unit as often as the bytes allow. */
export function fill(bytes: number, fillings: readonly Filling[]): (readonly [string, string])[] {
  return fillings.map(([unit, head = '', tail = '']) => {
    const room = Math.max(0, bytes - Buffer.byteLength(head + tail))
    const text = head + unit.repeat(Math.floor(room / Buffer.byteLength(unit))) + tail
    // A test's name must be one line, and readers differ in which characters end a line.
    const name = JSON.stringify([head.slice(0, 20), unit, tail])
    return [encodeURI(name.toWellFormed()), text]
  })
}

const alone = (...units: string[]): Filling[] => units.map((unit) => [unit])

const blanks = [' ', '\n', '\t', '\r', '\r\n', '\f', ' \n', '\u2028', '\0']

/** Fillings for source code in any language. */
const sources: readonly Filling[] = [
  ...alone('"', "'", '\\"', "\\'", '"\\', "'\\", '"""', '"""\\', '"""a""', "'''\\", '\\', '\\\\"'),
  ...alone(
    '/',
    '*',
    '/*',
    '//',
    '//\n',
    '/**/',
    '/*\n',
    '*/',
    '#',
    '#\n',
    '(',
    '{',
    '}',
    '{"',
    '[',
  ),
  ...[...blanks, ';', '; ', '.', '_', 'a', 'a '].map((unit): Filling => [unit, '', '!']),
  ...alone('\ufdfa', '\u{1d41a}', 'é'),
  ['\u0315\u0300', 'a'],
  // Combining marks on one letter in the wrong order.
  ['\u0300', `a${'\u0315'.repeat(1 << 14)}`],
]

export const pythonSources: readonly Filling[] = [
  ...sources,
  ...[
    'import',
    'import a',
    'from',
    'from a import',
    'from a import (',
    '.flush',
    'match a:\ncase',
  ].flatMap((head) => [' ', '\t ', '\n'].map((unit): Filling => [unit, head, '!'])),
  ...alone(
    'import ',
    ' import',
    'import a\n',
    'import a;',
    'from ',
    'from . ',
    'from math import a\n',
  ),
  ['a ', 'import ', '!'],
  ['a, ', 'import ', '!'],
  [',', 'import ,'],
  ['a.', 'from ', '!'],
  ...alone(
    'coding: ',
    '. ',
    '._',
    '.\\ ',
    '.flush ',
    'a.a_',
    'a_ ',
    '_a',
    '\n ',
    '__init__ ',
    '"__init__"',
  ),
  [' ', '#coding:', '!'],
  ...alone('Met', 'Meta_', 'loade', 'IOBas', 'find_spe', 'Stream ', 'ForwardRe'),
  ...alone("f'{", "f'}{", 'rf', '\nmatch', '\nmatch -', '\nmatch a:\n case '),
  ['{', 'f"'],
  ['f', '', '"'],
  ['\ncase ', 'match a:'],
]

export const outputs: readonly Filling[] = [
  ...alone(...blanks, '\n ', 'a ', 'a\n', '"', '\\', '\u001b[', '\ufffd'),
  [' ', 'a', 'a'],
  ['\n', '', 'a'],
  ...alone('\nTerminating due to java.lang.OutOfMemoryErro', '\nException in thread "main" '),
]

/** Outputs that are compared with expected ones. */
export const judgedOutputs: readonly Filling[] = [
  ...outputs,
  ...alone('0', '9', '1 ', '1e9 ', '9\n', '+', '1e', 'nan '),
  ['0', '1.', '1'],
  ['9', '1e', '9'],
  ['\n', 'a', 'b'],
  ['a\n', 'b', 'c'],
]

export const headers: readonly Filling[] = [
  ...[' ', '\t', ',', ' ,', 'a', '0', '-', ';wait=', 'wait=1', 'wait=999999a'].map(
    (unit): Filling => [unit, '', '!'],
  ),
  ...alone('9', 'a-', 'v1,', `v1,${'A'.repeat(43)}= `),
  ['0', 'rl_live_'],
  ['/', 'v1,'],
]

/** What a webhook's URL may contain, before and after the end of its host. */
export const addresses: readonly Filling[] = [
  ...[
    'a',
    'ü',
    '\ufdfa',
    '\u0315\u0300',
    'a.',
    '.',
    '@',
    'a@',
    ':',
    '%41',
    '\t',
    '/',
    '\\',
    '9',
    '[',
    ':0',
  ].map((unit): Filling => [unit, 'https://a', '/']),
  ['\u0300', `https://a${'\u0315'.repeat(2000)}`, '/'],
  ['9', 'https://xn--'],
  ['\ufdfa', 'https:'],
  ...['/a/..', '/%2e%2e', '\ufdfa', '\u0315\u0300', '?', '#'].map((unit): Filling => [
    unit,
    'https://a.test/',
  ]),
]
