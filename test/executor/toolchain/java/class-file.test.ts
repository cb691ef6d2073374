// Class files cut short or made up must be refused, never believed: they come out of a box.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import {
  findMainClass,
  readClassFiles,
} from '../../../../src/executor/toolchain/java/class-file.ts'
import { writeJar } from '../../../../src/executor/toolchain/java/jar.ts'

const directory = mkdtempSync(join(tmpdir(), 'runledger-test-'))
t.teardown(() => rmSync(directory, { recursive: true }))
writeFileSync(
  join(directory, 'Main.java'),
  'class Late { static long wide = 1L << 40; static double real = 2.5; }\nclass Main { static int x; public static void main(String[] a) { Runnable r = () -> x++; r.run(); } record Größe(int n) { } }',
)
execFileSync('/usr/bin/javac', ['-encoding', 'UTF-8', 'Main.java'], {
  cwd: directory,
  env: { LC_ALL: 'C.UTF-8' },
})
const files = readdirSync(directory).filter((name) => name.endsWith('.class'))
const bytes = Buffer.concat(files.map((name) => readFileSync(join(directory, name))))

t.test('class files one after the other are told apart and named', (t) => {
  const classes = readClassFiles(bytes)
  t.same(
    classes.map(({ name }) => `${name}.class`),
    files,
  )
  t.same(Buffer.concat(classes.map((found) => found.bytes)), bytes)
  t.equal(findMainClass(classes, ['Late', 'Main']), 'Main')
  t.end()
})

t.test('the class to run has a main or inherits one, and is not nested', (t) => {
  const find = (source: string, order: string[]): string | null => {
    const place = mkdtempSync(join(directory, 'main-'))
    writeFileSync(join(place, 'Main.java'), source)
    execFileSync('/usr/bin/javac', ['Main.java'], { cwd: place })
    const compiled = readdirSync(place).filter((name) => name.endsWith('.class'))
    const classes = compiled.map((name) => readFileSync(join(place, name)))
    return findMainClass(readClassFiles(Buffer.concat(classes)), order)
  }
  const main = 'public static void main(String[] a) { }'
  t.equal(find(`class A { } class AB { ${main} }`, ['A', 'AB']), 'AB', 'a name that begins alike')
  t.equal(find(`class A { static class B { ${main} } }`, ['A']), null, 'a nested class alone')
  t.equal(
    find(`class C extends B { } class B extends A { } class A { ${main} }`, ['C', 'B', 'A']),
    'C',
  )
  t.equal(
    find(`class Z { ${main} } class A { ${main} }`, ['Z', 'A']),
    'Z',
    'the first in the source',
  )
  t.equal(find('class A extends B { } class B { }', ['A', 'B']), null)
  t.end()
})

t.test('what is cut short anywhere is refused', (t) => {
  const whole = new Set<number>()
  let length = 0
  for (const found of readClassFiles(bytes)) whole.add((length += found.bytes.length))
  for (let end = 1; end < bytes.length; end += 1) {
    if (!whole.has(end)) t.throws(() => readClassFiles(bytes.subarray(0, end)))
  }
  t.end()
})

t.test('what is no class file is refused', (t) => {
  t.throws(() => readClassFiles(Buffer.from('#!/bin/sh\n')))
  t.throws(() => readClassFiles(Buffer.concat([bytes, bytes])), /two class files have one name/)
  t.throws(() => readClassFiles(Buffer.alloc(64)))
  t.same(readClassFiles(Buffer.alloc(0)), [])
  t.end()
})

t.test('any damaged byte is either refused or read, and never loops', (t) => {
  for (let index = 0; index < bytes.length; index += 3) {
    const damaged = Buffer.from(bytes)
    damaged[index] = 0xff
    try {
      readClassFiles(damaged)
    } catch (error) {
      t.ok(error instanceof Error)
    }
  }
  t.end()
})

t.test('a jar of ours is one that the JDK reads', (t) => {
  const jar = join(directory, 'main.jar')
  writeFileSync(jar, writeJar(readClassFiles(bytes)))
  const listed = execFileSync('/usr/bin/jar', ['--list', '--file', jar], {
    env: { LC_ALL: 'C.UTF-8' },
  })
  t.same(listed.toString().trim().split('\n'), files)
  t.end()
})
