// A worker starts with the languages that its host has, whichever they are.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { MissingLanguage } from '#executor'
import { createSuspension } from '#execute'
import { createLog } from '#log'
import { describeLanguages } from '../../src/http/languages.ts'
import { openTestDatabase } from '../helper/database.ts'
import { makeDirectory } from '../helper/directory.ts'
import { accelerated, execute, failsAt, run, startExecutor } from '../helper/executor.ts'
import { hello } from '../helper/program.ts'
import { startWorkerProcess } from '../helper/worker.ts'

t.test('without a JDK the others run, and Java is not offered', async (t) => {
  const missing: MissingLanguage[] = []
  const JAVA_HOME = makeDirectory(t)
  const executor = await startExecutor(t, {
    languages: accelerated,
    settings: { JAVA_HOME },
    onMissing: (one) => missing.push(one),
    accelerators: ['fork-server', 'resident-compiler'],
  })
  t.same(Object.keys(executor.runtimes), ['python', 'cpp'])
  t.match(missing, [
    {
      language: 'java',
      reason: new RegExp(`^no complete JDK in ${JAVA_HOME}`),
      remedy: 'apt-get install default-jdk-headless',
    },
  ])
  for (const language of ['python', 'cpp'] as const)
    t.match(await run(executor, language, hello[language]), { exitCode: 0, stdout: 'hello\n' })
  await t.rejects(execute(executor, 'java', hello.java), failsAt('language.missing'))
  t.equal(executor.slots, 2, 'and costs no slot')
})

t.test('each language runs where it is the only one', async (t) => {
  // Where each language is found, on a host without the tools of the others.
  const hosts = {
    python: { programs: ['python3'], libraryDirectory: '/nonexistent' },
    cpp: { programs: ['g++'], libraryDirectory: '/nonexistent' },
    java: { programs: [], libraryDirectory: '/usr/lib' },
  }
  for (const language of accelerated) {
    const { programs, libraryDirectory } = hosts[language]
    const directory = makeDirectory(t)
    for (const name of programs) symlinkSync(`/usr/bin/${name}`, join(directory, name))
    const reasons: string[] = []
    const executor = await startExecutor(t, {
      languages: accelerated,
      // A fork server is asked for by the name that programs are run by; a link's is another one's.
      accelerators: [],
      toolHost: { programDirectories: [directory], libraryDirectory },
      onMissing: ({ language: one }) => reasons.push(one),
    })
    t.same(Object.keys(executor.runtimes), [language])
    t.same(
      reasons,
      accelerated.filter((one) => one !== language),
    )
    if (language === 'python') continue
    t.match(await run(executor, language, hello[language]), { exitCode: 0, stdout: 'hello\n' })
  }
})

t.test('with none there is no executor, and every remedy is named', async (t) => {
  const toolHost = { programDirectories: [], libraryDirectory: '/nonexistent' }
  await t.rejects(
    startExecutor(t, { languages: accelerated, toolHost }),
    failsAt(
      'toolchain.find',
      /python3 not found; apt-get install python3.*g\+\+ not found; apt-get install g\+\+.*default-jdk-headless/,
    ),
  )
})

t.test(
  'one that is replaced is tried anew before it runs; one that is taken away is offered no more',
  async (t) => {
    // A directory outside /tmp, because a box has its own /tmp.
    const directory = mkdtempSync('/var/tmp/runledger-test-')
    t.teardown(() => rmSync(directory, { recursive: true, force: true }))
    chmodSync(directory, 0o755)
    const JAVA_HOME = join(directory, 'jdk')
    const own = resolve(realpathSync('/usr/bin/javac'), '../..')
    execFileSync('/bin/cp', ['-a', own, JAVA_HOME])
    const executor = await startExecutor(t, {
      settings: { JAVA_HOME },
      languages: ['python', 'java'],
      proves: true,
      accelerators: ['prestart'],
    })
    await executor.settled()
    const which =
      'class Main { public static void main(String[] a) { System.out.print(System.getProperty("release")); } }'
    // In every slot a JVM stands by.
    for (let n = 0; n < 4; n += 1)
      t.match(await run(executor, 'java', which), { exitCode: 0, stdout: 'null' })
    const before = executor.runtimes.java?.version
    // After an upgrade a run does not start, because it would be reported as a run of the old version.
    renameSync(`${JAVA_HOME}/bin/java`, `${JAVA_HOME}/bin/java.real`)
    const upgraded = [
      '#!/bin/sh',
      `case "$*" in *-version) echo 'openjdk version "99.1"' >&2; exit;; esac`,
      `exec ${JAVA_HOME}/bin/java.real -Drelease=99.1 "$@"`,
    ]
    writeFileSync(`${JAVA_HOME}/bin/java`, upgraded.join('\n'), { mode: 0o755 })
    await t.rejects(execute(executor, 'java', hello.java), failsAt('language.changed'))
    t.notOk(executor.runtimes.java, 'until it is tried anew')
    await executor.settled()
    t.not(executor.runtimes.java?.version, before)
    t.equal(executor.runtimes.java?.version, 'OpenJDK 99.1')
    for (let n = 0; n < 4; n += 1)
      t.match(await run(executor, 'java', which), { exitCode: 0, stdout: '99.1' })
    rmSync(JAVA_HOME, { recursive: true })
    const suspension = createSuspension({ executor, log: createLog('test', 'silent') })
    t.teardown(() => suspension.stop())
    await t.rejects(execute(executor, 'java', which), failsAt('language.changed'))
    t.notOk(await suspension.noteFailure('java'))
    t.notOk(suspension.suspended)
    await executor.settled()
    t.strictSame([Object.keys(executor.runtimes), Object.keys(executor.awaited)], [['python'], []])
  },
)

t.test('a worker registers what it has found, and logs what it has not', async (t) => {
  const { sql, url } = await openTestDatabase(t)
  const worker = await startWorkerProcess(t, url, {
    LANGUAGES: accelerated.join(),
    JAVA_HOME: makeDirectory(t),
  })
  t.equal(worker.logged.filter((message) => message === 'language.missing').length, 1)
  // A language is listed once its trial has passed, which may be after the worker's start.
  const list = async (): Promise<string[]> => (await describeLanguages(sql)).map(({ name }) => name)
  while ((await list()).length < 2) await delay(50)
  t.same(await list(), ['cpp', 'python'])
  worker.child.kill('SIGTERM')
  await worker.ended
})
