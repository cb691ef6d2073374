// Java: our program Compiler.java runs javac in the box and finds the class to run. So the worker reads neither the source nor
// a class file.
import { sharePath } from '#contract'
import type { BoxFile, PrestartedRuntime } from '#contract'
import { java } from '#language'
import { listSources } from '../command.ts'
import type { Artefact, Compiler, FindToolchain } from '../definition.ts'
import { compileCompiler, createResidentJavac, ownDirectory, startCompiler } from './compiler.ts'
import { findConfiguration, findHome } from './home.ts'
import { clientCompiler, examineJvm, programOptions, ranOutOfMemory } from './jvm.ts'
import type { Jvm } from './jvm.ts'

const jarPath = '/box/main.jar'

const javacOptions = ['-proc:none', '-encoding', 'UTF-8', '-d', 'out']

export const findJava: FindToolchain = async (host, settings) => {
  const home = await findHome(host, settings.JAVA_HOME)
  const [jvm, program] = await Promise.all([examineJvm(home), compileCompiler(home)])
  const version = /version "([^"]+)"/.exec(jvm.banner)?.[1] ?? 'unknown'
  return {
    version: `OpenJDK ${version}`,
    location: home,
    compiler: describeCompiler(jvm, program),
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
    accelerators: {
      ...(settings.JAVA_RESIDENT_COMPILER && {
        'resident-compiler': createResidentJavac(jvm, program, javacOptions),
      }),
      ...(settings.JAVA_STARTS_AHEAD && {
        prestart: (memoryBytes) => describePrestarted(jvm, memoryBytes),
      }),
    },
  }
}

function describeRun(jvm: Jvm, entry: string, memoryBytes: number): string[] {
  return [jvm.java, ...programOptions(memoryBytes), '-cp', 'main.jar', entry]
}

/** Describes a JVM that waits for its jar. It has already loaded the JDK's own classes: 22 of 26 ms (measured, JDK 25). */
function describePrestarted(jvm: Jvm, memoryBytes: number): PrestartedRuntime {
  return {
    name: 'JVM',
    // Judges ask for the class Main. A program with another main class starts its own JVM.
    argv: describeRun(jvm, 'Main', memoryBytes),
    unlimitedStack: false,
    awaits: jarPath,
    // A JVM looks for these files at its start and warns about them.
    looksForBefore: ['/box/.hotspotrc', '/box/.hotspot_compiler'],
  }
}

function describeCompiler(jvm: Jvm, program: BoxFile): Compiler {
  return {
    commandLine: ['javac', ...javacOptions, 'Main.java'],
    identity: [jvm.banner, ...clientCompiler, ...javacOptions].join(' '),
    command: ({ code, files, arguments: args }, memoryBytes) => {
      const others = listSources(files, java.extensions)
      const compiler = startCompiler(jvm, memoryBytes)
      return {
        argv: [...compiler, String(others.length), ...others, ...javacOptions, ...args],
        files: [
          program,
          { path: `/box/${ownDirectory}/Main.java`, content: code, executable: false },
        ],
        unlimitedStack: false,
      }
    },
    readArtefact: readProgram,
  }
}

/** PATH_MAX, because javac writes each class into a file with the class's name. */
const nameBytesMost = 4096

/**
 * Reads the program that Compiler.java wrote.
 * @throws when its class name cannot be an argument: the submission's annotation processor may have written it.
 */
function readProgram(bytes: Buffer): Artefact {
  const end = bytes.subarray(0, nameBytesMost).indexOf('\n')
  const entry = bytes.toString('utf8', 0, end)
  if (end < 1 || entry.includes('\0')) throw new Error('no name of a class')
  return { content: bytes.subarray(end + 1), entry }
}
