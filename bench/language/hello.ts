// A language's hello without a box: the words that the executor would start in one, in a directory in the place of the
// box's.
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { promisify } from 'node:util'
import { environment } from '#keeper'
import type { Command, HostPath } from '#contract'
import { catalogue, defaultLimits } from '#language'
import type { Language } from '#language'
import { findToolchains } from '#toolchain'
import type { Artefact, Compiler, Toolchain } from '#toolchain'
import type { BareRun } from '../bare.ts'

const execute = promisify(execFile)

/** A hello, and its bare run: both functions take the directory in place of the box's. */
export interface Hello {
  readonly compiles: boolean
  readonly source: string
  readonly stdout: string
  /** The same program with these words in a comment. */
  readonly change: (words: string) => string
  /** Compiles and runs. */
  readonly cold: (place: string) => BareRun
  /** Runs what was compiled. */
  readonly again: (place: string) => BareRun
}

const stdout = 'Hello, world!\n'

/**
 * Finds the language and compiles its example, bare.
 * @param directory of the bench's own.
 */
export async function describeHello(language: Language, directory: string): Promise<Hello> {
  const { toolchains } = await findToolchains(undefined, undefined, [language])
  const toolchain = toolchains.get(language)
  if (toolchain === undefined) throw new Error(`${language} is gone`)
  const { example, comment, recipe } = catalogue[language]
  const code = Buffer.from(example)
  const { compiler } = toolchain
  const limits = defaultLimits[language]
  const compileMemory = limits.compile?.memoryBytes ?? limits.run.memoryBytes
  const compilation = compiler?.command({ code, files: [], arguments: [] }, compileMemory)
  const artefact =
    compiler === null || compilation === undefined
      ? { content: code, entry: '' }
      : await compile(toolchain, compiler, compilation, code, `${directory}/${language}`)
  const run = toolchain.run(artefact, limits.run.memoryBytes)
  const again = (place: string): BareRun => {
    const here = moveTo(place, toolchain)
    return { ...describe(run, here), commands: [run.argv.map(here)] }
  }
  const cold = (place: string): BareRun => {
    if (compiler === null || compilation === undefined) return again(place)
    const here = moveTo(place, toolchain)
    const compiled = describe(compilation, here)
    // By a recipe the words themselves, as they are typed; else the script that the box starts, which does not leave what
    // it makes where it runs.
    const byRecipe = recipe !== undefined
    const commands = byRecipe ? splitCommands(compiler.commandLine) : [compilation.argv]
    return {
      ...compiled,
      files: { ...compiled.files, ...(byRecipe ? {} : describe(run, here).files) },
      commands: [...commands, run.argv].map((words) => words.map(here)),
    }
  }
  const change = (words: string): string => `${example}\n${comment[0]} ${words} ${comment[1]}\n`
  return { compiles: compiler !== null, source: example, stdout, change, cold, again }
}

async function compile(
  toolchain: Toolchain,
  compiler: Compiler,
  compilation: Command,
  code: Uint8Array,
  place: string,
): Promise<Artefact> {
  const here = moveTo(place, toolchain)
  const { files, environment: variables } = describe(compilation, here)
  mkdirSync(`${place}/tmp`, { recursive: true })
  for (const [name, content] of Object.entries(files)) writeFileSync(`${place}/${name}`, content)
  const [program = '', ...words] = compilation.argv.map(here)
  const made = await execute(program, words, {
    cwd: place,
    env: variables,
    encoding: 'buffer',
    maxBuffer: 1 << 28,
  })
  return compiler.readArtefact(made.stdout, { code, files: [], arguments: [] })
}

function describe(command: Command, here: (text: string) => string) {
  const variables = Object.entries({ ...environment, ...command.environment })
  return {
    stdout,
    files: Object.fromEntries(command.files.map(({ path, content }) => [basename(path), content])),
    environment: Object.fromEntries(variables.map(([name, value]) => [name, here(value)])),
  }
}

/** What a text of the box's is where there is none: its two directories, and what it shows under another name. */
function moveTo(place: string, { paths }: Toolchain): (text: string) => string {
  return (text) =>
    // Whole names first: a file beside another one may come from elsewhere.
    [...paths, ...paths.map(dropCommonEnd)]
      .filter(({ source, target }) => source !== target)
      // And the longer before what they begin with.
      .toSorted((a, b) => b.target.length - a.target.length)
      .reduce((moved, { source, target }) => moved.replaceAll(target, source), text)
      .replaceAll(/(?<![\w.-])\/box(?![\w-])/gu, place)
      .replaceAll(/(?<![\w.-])\/tmp(?=\/(?:go|nim|crystal|main)|$)/gu, `${place}/tmp`)
}

/** What stands above both, so that a word that names a directory on the way is moved, too. */
function dropCommonEnd({ source, target }: HostPath): HostPath {
  const end = basename(target)
  return end === basename(source) && end !== '' && source !== target
    ? dropCommonEnd({ source: dirname(source), target: dirname(target) })
    : { source, target }
}

function splitCommands(commandLine: readonly string[]): string[][] {
  return commandLine.reduce<string[][]>(
    (commands, word) => {
      if (word === '&&') commands.push([])
      else commands.at(-1)?.push(word)
      return commands
    },
    [[]],
  )
}
