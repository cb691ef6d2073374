// Java: javac in the box. Its class files leave over a pipe in sequence and return as one jar.
import { sharePath } from '#contract'
import { java } from '#language'
import type { AheadStart, Compiler, FindToolchain } from '../definition.ts'
import { listSources } from '../source-file.ts'
import { findMainClass, readClassFiles } from './class-file.ts'
import { findConfiguration, findHome } from './home.ts'
import { writeJar } from './jar.ts'
import { brief, examineJvm, ranOutOfMemory } from './jvm.ts'
import type { Jvm } from './jvm.ts'
import { createResidentJavac } from './resident.ts'
import { findTypes, nameSource } from './source.ts'
import type { DeclaredType } from './source.ts'

const jarPath = '/box/main.jar'

const compilerOptions = ['-proc:none', '-encoding', 'UTF-8', '-d', 'out']

const readTypes = (code: Uint8Array): DeclaredType[] =>
  findTypes(Buffer.from(code).toString('utf8'))

export const findJava: FindToolchain = async (host, settings) => {
  const home = await findHome(host, settings.JAVA_HOME)
  const jvm = await examineJvm(home)
  const version = /version "([^"]+)"/.exec(jvm.banner)?.[1] ?? 'unknown'
  return {
    version: `OpenJDK ${version}`,
    location: home,
    compiler: describeCompiler(home, jvm),
    commandLine: ['java', '-cp', 'main.jar', 'Main'],
    paths: [home, ...findConfiguration(home)].map(sharePath),
    files: [`${home}/bin/java`, `${home}/lib/modules`],
    warmPaths: [`${home}/bin`, `${home}/lib`, `${home}/lib/server`],
    run: ({ content, entry }, memoryBytes) => ({
      argv: describeRun(jvm, entry, memoryBytes),
      files: [{ path: jarPath, content, executable: false }],
      unlimitedStack: false,
    }),
    ranOutOfMemory,
    accelerators: [
      ...(settings.JAVA_RESIDENT_COMPILER
        ? [createResidentJavac(home, jvm.compilerOptions, compilerOptions)]
        : []),
      ...(settings.JAVA_STARTS_AHEAD ? [startAhead(jvm)] : []),
    ],
  }
}

function describeRun(jvm: Jvm, entry: string, memoryBytes: number): string[] {
  return [jvm.java, ...jvm.programOptions(memoryBytes), '-cp', 'main.jar', entry]
}

/** A JVM that waits for its jar has loaded and checked all that it needs itself: 22 of 26 ms (measured, JDK 25). */
function startAhead(jvm: Jvm): AheadStart {
  return {
    kind: 'ahead-start',
    runtime: (memoryBytes) => ({
      name: 'JVM',
      // What judges ask for. Another class is started by itself.
      argv: describeRun(jvm, 'Main', memoryBytes),
      unlimitedStack: false,
      awaits: jarPath,
      // A JVM warns of these.
      looksForBefore: ['/box/.hotspotrc', '/box/.hotspot_compiler'],
    }),
  }
}

function describeCompiler(home: string, jvm: Jvm): Compiler {
  const script =
    'mkdir -p out && "$@" 1>&2 || exit $?; exec find out -type f -name "*.class" -exec cat {} +'
  return {
    commandLine: ['javac', ...compilerOptions, 'Main.java'],
    identity: [jvm.banner, ...brief, ...compilerOptions].join(' '),
    command: ({ code, files, arguments: words }, memoryBytes) => {
      const jvmOptions = jvm.compilerOptions(memoryBytes).map((option) => `-J${option}`)
      const source = nameSource(readTypes(code))
      const sources = [...listSources(files, java.extensions), source]
      const javac = [`${home}/bin/javac`, ...jvmOptions, ...compilerOptions, ...sources, ...words]
      return {
        argv: ['/bin/sh', '-c', script, 'sh', ...javac],
        files: [{ path: `/box/${source}`, content: code, executable: false }],
        unlimitedStack: false,
      }
    },
    readArtefact: (stdout, { code }) => {
      // Directories have no order, and the jar must not depend on one.
      const classes = readClassFiles(stdout).toSorted((left, right) =>
        left.name < right.name ? -1 : 1,
      )
      const order = readTypes(code).map(({ name }) => name)
      // Without any main, the launcher itself reports that of some class.
      const entry = findMainClass(classes, order) ?? classes[0]?.name.replaceAll('/', '.') ?? 'Main'
      return { content: writeJar(classes), entry }
    },
  }
}
