// `runledger languages packages`: prints the packages of a language for installation elsewhere, as deploy/build.sh does it.
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import t from 'tap'
import { catalogue } from '#language'
import { bareEnvironment } from '../helper/bare-environment.ts'

const root = resolve(import.meta.dirname, '../..')

const call = (
  program: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): { status: number | null; stdout: string; stderr: string } =>
  spawnSync(program, words, {
    cwd: root,
    encoding: 'utf8',
    env: { ...bareEnvironment, ...environment },
  })

const listPackages = (...words: readonly string[]): string[] => {
  const { status, stdout, stderr } = call('./runledger', ['languages', 'packages', ...words])
  t.strictSame([status, stderr], [0, ''])
  return stdout.trim().split(' ')
}

t.test('it prints on one line what languages come in, each package once', async (t) => {
  const java = catalogue.java.packages
  t.strictSame(listPackages('java, Kotlin'), [...new Set([...java, ...catalogue.kotlin.packages])])
  t.strictSame(listPackages('py'), catalogue.python.packages, 'by any of its names')
  const all = listPackages()
  t.equal(new Set(all).size, all.length)
  for (const { packages } of Object.values(catalogue))
    for (const name of packages) t.ok(all.includes(name), name)
})

t.test('a language that needs no package has none', async (t) => {
  t.strictSame(listPackages('javascript'), [''])
})

t.test('what is no language is named, and no image is built of it', async (t) => {
  const expected = {
    status: 64,
    stdout: '',
    stderr: /no such language: g\+\+-12; there are python/,
  }
  t.match(call('./runledger', ['languages', 'packages', 'python g++-12']), expected)
  t.match(call('deploy/build.sh', [], { LANGUAGES: 'python g++-12' }), expected)
})
