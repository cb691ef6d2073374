// What surrounds the body of a hostile program in each language. Two rules: a program that does not find itself in a box
// stops at once, as these programs must be harmless on a machine whose sandbox has failed; and "refused" means refused
// for the right reason: an error that only shows a mistake in the attack (EFAULT, EINVAL) counts as doubt and is red.
//
// A body may call `refused(what, attempt)`: the attempt must fail by policy; `escape(what)`: something worked that must
// not; in C++ and Python `call(name, …)` makes a raw system call. A body that runs to its end prints `held`.
import { readFileSync } from 'node:fs'
import type { Language } from '#language'

/** The languages that bodies are written in; language/ has whole programs in further ones. */
export const attackers = ['python', 'cpp', 'java'] as const satisfies Language[]
export type Attacker = (typeof attackers)[number]

const read = (name: string): string =>
  readFileSync(new URL(`program/${name}`, import.meta.url), 'utf8')

const frames: Readonly<Record<Attacker, string>> = {
  python: read('frame.py'),
  cpp: read('frame.cpp'),
  java: read('frame.java'),
}

/** First in a body: what an interactor prints is its program's input, so its words go to stderr. */
export const toErrors: Readonly<Record<Attacker, string>> = {
  python: 'sys.stdout = sys.stderr',
  cpp: 'dup2(2, 1);',
  java: 'System.setOut(System.err);',
}

/** A whole program around a body. Declarations before a line `//main` stand outside the function (C++ and Java). */
export function wrapBody(language: Attacker, body: string): string {
  const [before, after] = body.split('//main')
  const [declarations, statements] = after === undefined ? ['', body] : [before!, after]
  if (language === 'python') return frames.python.replace('#BODY', () => statements)
  return frames[language]
    .replace('//DECLARATIONS', () => declarations)
    .replace('//BODY', () => statements)
}
