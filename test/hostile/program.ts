// Wraps the body of a hostile program in each language. Two rules hold. A program that finds itself outside a box stops at
// once, so that it is harmless on a machine whose sandbox has failed. "Refused" means refused for the right reason: an error
// that only shows a mistake in the attack (EFAULT, EINVAL) counts as doubt and fails the test.
//
// A body may call `refused(what, attempt)`: policy must make the attempt fail; `escape(what)`: something worked that must
// not work; in C++ and Python `call(name, …)` makes a raw system call. A body that runs to its end prints `held`.
import { readFileSync } from 'node:fs'
import type { Language } from '#language'

/** The languages that bodies are written in. The files in language/ have whole programs in further languages. */
export const attackers = ['python', 'cpp', 'java'] as const satisfies Language[]
export type Attacker = (typeof attackers)[number]

const read = (name: string): string =>
  readFileSync(new URL(`program/${name}`, import.meta.url), 'utf8')

const frames: Readonly<Record<Attacker, string>> = {
  python: read('frame.py'),
  cpp: read('frame.cpp'),
  java: read('frame.java'),
}

/** The first statement of an interactor's body. Its output goes to stderr, because its stdout is its program's input. */
export const toErrors: Readonly<Record<Attacker, string>> = {
  python: 'sys.stdout = sys.stderr',
  cpp: 'dup2(2, 1);',
  java: 'System.setOut(System.err);',
}

/** Returns a whole program around a body. Declarations before a line `//main` go outside the function (C++ and Java). */
export function wrapBody(language: Attacker, body: string): string {
  const [before, after] = body.split('//main')
  const [declarations, statements] = after === undefined ? ['', body] : [before!, after]
  if (language === 'python') return frames.python.replace('#BODY', () => statements)
  return frames[language]
    .replace('//DECLARATIONS', () => declarations)
    .replace('//BODY', () => statements)
}
