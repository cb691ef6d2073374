// Makes a toolchain from a recipe (language/definition.ts), which is enough for most languages.
import { existsSync, globSync } from 'node:fs'
import { sharePath } from '#contract'
import type { Command, Source } from '#contract'
import type { LanguageDefinition, LanguageSettings, Recipe } from '#language'
import { hugeHeap, listSources } from './command.ts'
import type { Compiler, FindToolchain, Preparation, Toolchain } from './definition.ts'
import { keepClassArchive } from './java/archive.ts'
import type { Training } from './java/archive.ts'
import { findConfiguration, findHome } from './java/home.ts'
import { compilerOptions, examineJvm, programOptions, ranOutOfMemory } from './java/jvm.ts'
import type { Jvm } from './java/jvm.ts'
import { findProgram, findTool, ToolError } from './tool.ts'
import type { ToolHost } from './tool.ts'
import { identifyFile } from './version.ts'

const mebibyte = 1024 * 1024

/** A recipe and what its commands need from the host. */
interface RecipeContext {
  readonly recipe: Recipe
  /** Paths of the programs by name. */
  readonly programs: ReadonlyMap<string, string>
  readonly version: string
  readonly location: string
  /** Null unless the language runs on a JDK. */
  readonly jdk: Jvm | null
  /** Returns the options with which the JVM uses its class archive; none without one. */
  readonly archiveOptions: () => readonly string[]
}

export function findByRecipe(
  { title, tools, example }: Pick<LanguageDefinition, 'title' | 'tools' | 'example'>,
  recipe: Recipe,
): FindToolchain {
  return async (host, settings) => {
    const [tool] = await Promise.all(tools.map((one) => findTool(host, one)))
    if (tool === undefined) throw new ToolError('no tool is named')
    const jdk = recipe.archives === undefined ? null : await findJdk(host, settings)
    const commands = [...(recipe.compile?.commands ?? []), recipe.run]
    const programs = findPrograms(host, commands)
    if (jdk !== null) programs.set('java', jdk.java)
    const version = `${tools[0]?.title ?? title} ${tool.version}`.trim()
    const archiveOptions = (): string[] => []
    const context = { recipe, programs, version, location: tool.path, jdk, archiveOptions }
    const toolchain = buildToolchain(context)
    if (jdk === null) return toolchain
    return { ...toolchain, accelerators: { preparation: prepareArchive(context, jdk, example) } }
  }
}

async function findJdk(host: ToolHost, { JAVA_HOME }: LanguageSettings): Promise<Jvm> {
  // The default JDK is preferred, because a distribution tests its packages on it and not on the newest.
  const usual = `${host.libraryDirectory}/jvm/default-java`
  return examineJvm(await findHome(host, existsSync(usual) ? usual : JAVA_HOME))
}

/** Small, because an archive that is made with little memory can be used with any amount. */
const trainingBytes = 512 * mebibyte

/** Prepares a class archive. It only saves time: its classes are those that the JVM would read. */
function prepareArchive(context: RecipeContext, jdk: Jvm, example: string): Preparation {
  const { recipe, programs } = context
  const { archives, compile, run, source, paths = [] } = recipe
  const words = (archives === 'compile' ? compile?.commands[0] : run) ?? run
  const files = [jdk.java, `${jdk.home}/lib/modules`, `${jdk.home}/lib/server/libjvm.so`]
  const training: Training = {
    command: (options) => {
      const trained = { ...context, archiveOptions: () => options }
      return {
        argv: resolve(trained, words, trainingBytes),
        environment: describePlace(trained, trainingBytes, true).environment ?? {},
      }
    },
    source: { name: source, content: example },
    identity: [
      jdk.banner,
      ...[...files, ...programs.values()].map(identifyFile),
      ...programOptions(trainingBytes),
      ...compilerOptions(trainingBytes),
      JSON.stringify(recipe),
      example,
    ].join('\n'),
    paths,
  }
  return (workshop) => {
    const directory = `${workshop.directory}/class-archive`
    const { path, options } = keepClassArchive({ ...workshop, directory }, training)
    const toolchain = buildToolchain({ ...context, archiveOptions: options })
    return { ...toolchain, paths: [...toolchain.paths, path] }
  }
}

function buildToolchain(context: RecipeContext): Toolchain {
  const { recipe, programs, version, location, jdk } = context
  const { run, source, compile, outOfMemory, paths = [] } = recipe
  const shown = jdk === null ? paths : [...paths, jdk.home, ...findConfiguration(jdk.home)]
  const files = [...new Set([location, ...programs.values()])]
  return {
    version,
    location,
    compiler: describeCompiler(context),
    commandLine: recipe.typed?.run ?? run,
    paths: shown.flatMap((path) => globSync(path)).map(sharePath),
    files,
    warmPaths: files,
    run: ({ content }, memoryBytes) => ({
      argv: resolve(context, run, memoryBytes),
      files: [
        compile === undefined
          ? { path: `/box/${source}`, content, executable: false }
          : { path: `/box/${compile.makes}`, content, executable: true },
      ],
      ...describePlace(context, memoryBytes, false),
    }),
    ranOutOfMemory: (exitCode, stderr) =>
      jdk === null
        ? exitCode !== 0 && outOfMemory?.test(stderr.toString('latin1')) === true
        : ranOutOfMemory(exitCode, stderr),
    accelerators: {},
  }
}

function describeCompiler(context: RecipeContext): Compiler | null {
  const { recipe, programs, version, location } = context
  const { compile, source } = recipe
  if (compile === undefined) return null
  const { commands, makes } = compile
  return {
    commandLine:
      recipe.typed?.compile ??
      commands
        .flatMap((command, index) => (index === 0 ? command : ['&&', ...command]))
        .filter((word) => word !== '{arguments}' && word !== '{files}'),
    identity: [
      version,
      ...[location, ...programs.values()].map(identifyFile),
      JSON.stringify(recipe),
    ].join('\n'),
    command: (given, memoryBytes) => {
      // The shell keeps the compilers' stdout out of the artefact's pipe.
      const steps = commands.map((plain, index) => {
        const own = resolve(context, plain, memoryBytes)
        const words = index === 0 ? extend(recipe, own, given) : own.map(quote)
        return `${hugeHeap} ${words.join(' ')} 1>&2 </dev/null || exit $?`
      })
      const script = [...steps, `[ -e ${quote(makes)} ] || exit 1`, `exec cat ${quote(makes)}`]
      return {
        argv: ['/bin/sh', '-c', script.join('\n'), 'sh', ...given.arguments],
        files: [{ path: `/box/${source}`, content: given.code, executable: false }],
        ...describePlace(context, memoryBytes, true),
      }
    },
    readArtefact: (stdout) => ({ content: stdout, entry: '' }),
  }
}

function describePlace(
  { recipe, jdk, archiveOptions }: RecipeContext,
  memoryBytes: number,
  compiles: boolean,
): Pick<Command, 'unlimitedStack' | 'environment'> {
  if (jdk === null)
    return {
      unlimitedStack: recipe.usualStack !== true,
      ...(recipe.environment && { environment: recipe.environment }),
    }
  // The compilers' scripts pass the words of JAVA_OPTS to the JVM that they start.
  const archived = compiles && recipe.archives === 'compile' ? archiveOptions() : []
  const options = [...compilerOptions(memoryBytes), ...archived]
  return {
    unlimitedStack: false,
    environment: { ...recipe.environment, JAVA_HOME: jdk.home, JAVA_OPTS: options.join(' ') },
  }
}

/** Finds the programs that the commands name. @throws {ToolError} naming a missing program. */
function findPrograms(
  host: Pick<ToolHost, 'programDirectories'>,
  commands: readonly (readonly string[])[],
): Map<string, string> {
  const names = commands.map(([name = '']) => name).filter((name) => !name.includes('/'))
  return new Map(
    names.map((name) => {
      const path = findProgram(host, name)
      if (path === null) throw new ToolError(`${name} not found`)
      return [name, path]
    }),
  )
}

function resolve(
  { recipe, programs, jdk, archiveOptions }: RecipeContext,
  [name = '', ...words]: readonly string[],
  memoryBytes: number,
): string[] {
  const heap = String(Math.floor((memoryBytes * 3) / 4 / mebibyte))
  const archived = recipe.archives === 'run' ? archiveOptions() : []
  const options =
    jdk !== null && name === 'java' ? [...programOptions(memoryBytes), ...archived] : []
  return [programs.get(name) ?? name, ...options, ...words].map((word) =>
    word.replaceAll('{heap}', heap),
  )
}

/**
 * Returns the command's words quoted for a shell, with the submission's other sources before the main one, which uses them. The
 * submission's own arguments become "$@", because a word of quotation marks would grow when quoted in the script.
 */
function extend(
  { source, compile }: Recipe,
  command: readonly string[],
  { files }: Source,
): string[] {
  const sources = listSources(files, compile?.together ?? []).map(quote)
  const words = command.includes('{arguments}') ? command : [...command, '{arguments}']
  const hasPlace = command.includes('{files}')
  return words.flatMap((word) => {
    if (word === '{files}') return sources
    if (word === '{arguments}') return ['"$@"']
    return word === source && !hasPlace ? [...sources, quote(word)] : [quote(word)]
  })
}

function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
