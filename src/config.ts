// The only reader of settings in the environment. Each entry point reads its part at start. All mistakes are printed together,
// and the process exits with 78 (EX_CONFIG of sysexits). docs/configuration.md says what each variable means.
import { availableParallelism } from 'node:os'
import * as v from 'valibot'
import {
  defaultLimits,
  defaultSettings,
  findLanguage,
  findNearestLanguage,
  languages,
  limitSpellings,
  settingEntries,
  toggle,
} from '#language'
import type { Language, LanguageSettings, Limits, PhaseLimits } from '#language'

const wholeNumber = (least: number, most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d+$/, 'must be a whole number'),
    v.transform(Number),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(most, `must be at most ${most}`),
  )

const positiveNumber = v.pipe(
  v.string(),
  v.regex(/^\d+(\.\d+)?$/, 'must be a number'),
  v.transform(Number),
  v.minValue(0.001, 'must be greater than 0'),
)

const flag = v.pipe(
  v.picklist(['true', 'false'], 'must be true or false'),
  v.transform((text) => text === 'true'),
)

const database = {
  DATABASE_URL: v.pipe(
    v.string(
      'is not set: give the address of a PostgreSQL ≥ 15, such as postgres://user@host/name',
    ),
    v.regex(/^postgres(ql)?:\/\//, 'must start with postgres://'),
    v.check(
      isAddress,
      'is not a URL: in a name or a password, write / as %2F, @ as %40, : as %3A, # as %23',
    ),
  ),
  LOG_LEVEL: v.optional(
    v.picklist(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'must be trace, debug, info, warn, error, fatal or silent',
    ),
    'info',
  ),
}

/** Where webhooks may go: web processes refuse other addresses, and workers send nothing to them. */
const webhookRules = {
  WEBHOOK_ALLOWED_RANGES: v.optional(v.string(), ''),
  WEBHOOK_ALLOWED_PORTS: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d+(,\d+)*$/, 'must be port numbers separated by commas'),
      v.transform((text) => text.split(',').map(Number)),
      v.everyItem((port) => port >= 1 && port <= 65_535, 'must be port numbers from 1 to 65535'),
    ),
    '443',
  ),
}

function suggest(name: string): string {
  const nearest = findNearestLanguage(name)
  return nearest === undefined ? name : `${name} (did you mean ${nearest}?)`
}

const web = {
  ...database,
  PORT: v.optional(wholeNumber(0, 65_535), '3000'),
  HOST: v.optional(v.string()),
  TRUST_PROXY: v.optional(flag, 'false'),
  TLS_CERT: v.optional(v.string()),
  TLS_KEY: v.optional(v.string()),
  RECEIPT_KEY: v.optional(v.string()),
  CORS_ORIGINS: v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => text.split(/[\s,]+/).filter((origin) => origin !== '')),
      v.everyItem(
        (origin) => URL.parse(origin)?.origin === origin && /^https?:/.test(origin),
        'must be origins separated by commas, such as https://app.example.com',
      ),
    ),
    '',
  ),
  SYNC_WAIT_SECONDS: v.optional(positiveNumber, '30'),
  QUEUE_CAPACITY: v.optional(wholeNumber(1, 1_000_000), '1000'),
  DATABASE_CONNECTIONS: v.optional(wholeNumber(1, 1000), '10'),
  ...webhookRules,
  DOORS: v.optional(v.string()),
}

/** The limits by the end of a variable's name: `CPU_SECONDS` is `cpuSeconds`. */
export const limitsByEnding: ReadonlyMap<string, keyof PhaseLimits> = new Map(
  (Object.keys(limitSpellings) as (keyof PhaseLimits)[]).map((limit) => [
    limit.replaceAll(/[A-Z]/g, '_$&').toUpperCase(),
    limit,
  ]),
)

const worker = {
  ...database,
  RETENTION_DAYS: v.optional(wholeNumber(1, 99_999), '30'),
  /** The worker renews its lease thirty times in this time. */
  LEASE_SECONDS: v.optional(positiveNumber, '15'),
  SLOTS: v.optional(wholeNumber(1, 1000), String(availableParallelism())),
  /** The first host uid that the worker tries to claim; see executor/uid-range.ts. */
  FIRST_UID: v.optional(wholeNumber(1000, 4_000_000_000), '61000'),
  /** With `off`, every program runs without accelerators. */
  ACCELERATORS: v.optional(toggle, 'on'),
  CACHE_DIRECTORY: v.optional(v.string(), '/var/cache/runledger'),
  CACHE_BYTES: v.optional(wholeNumber(0, 1e12), String(512 * 1024 * 1024)),
  BLOB_CACHE_BYTES: v.optional(wholeNumber(0, 1e13), String(1024 * 1024 * 1024)),
  DATABASE_CONNECTIONS: v.optional(wholeNumber(1, 1000), '4'),
  LANGUAGES: v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => text.split(/[\s,]+/).filter(Boolean)),
      v.everyItem(
        (name) => findLanguage(name) !== undefined,
        ({ input }) =>
          `has unknown languages: ${input
            .filter((name) => findLanguage(name) === undefined)
            .map(suggest)
            .join(', ')}`,
      ),
      v.transform((names) => [...new Set(names.flatMap((name) => findLanguage(name) ?? []))]),
    ),
  ),
  WEBHOOK_CONCURRENCY: v.optional(wholeNumber(1, 10_000), '50'),
  WEBHOOK_PER_HOST: v.optional(wholeNumber(1, 10_000), '10'),
  /** The default is the schedule that Standard Webhooks suggests. */
  WEBHOOK_SCHEDULE_SECONDS: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/, 'must be numbers separated by commas'),
      v.transform((text) => text.split(',').map(Number)),
      v.maxLength(50, 'must not be more than 50 numbers'),
      v.everyItem((seconds) => seconds <= 604_800, 'must not have a number above 604800, a week'),
    ),
    '5,300,1800,7200,18000,36000,36000',
  ),
  /** After 60 s the reconciler takes an attempt for lost (runledger.reconcile_queue). */
  WEBHOOK_TIMEOUT_SECONDS: v.optional(
    v.pipe(positiveNumber, v.maxValue(45, 'must be at most 45')),
    '15',
  ),
  WEBHOOK_CONNECT_SECONDS: v.optional(positiveNumber, '5'),
  ...webhookRules,
  WEBHOOK_CA: v.optional(v.string()),
}

/** A variable with a mistake counts as its default here, because reading the worker's configuration reports the mistake. */
const doctor = {
  FIRST_UID: v.fallback(worker.FIRST_UID, () => v.parse(worker.FIRST_UID, undefined)),
  CACHE_DIRECTORY: worker.CACHE_DIRECTORY,
  LANGUAGES: v.fallback(worker.LANGUAGES, undefined),
  DATABASE_URL: v.fallback(v.optional(database.DATABASE_URL), undefined),
  TLS_CERT: web.TLS_CERT,
  TLS_KEY: web.TLS_KEY,
}

/** Thrown for a wrong environment; the message lists every mistake. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** The values of the variables. */
type Values<Variables extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<Variables, undefined>>
type DoctorConfig = Values<typeof doctor> & { readonly settings: LanguageSettings }
export type WebConfig = Values<typeof web>
export type WorkerConfig = Values<typeof worker> & {
  /** The default limits, where no variable such as `JAVA_RUN_MEMORY_BYTES=1073741824` replaces one. */
  readonly limits: Readonly<Record<Language, Limits>>
  readonly settings: LanguageSettings
}

/** Reads the configuration of a client of the service; flags override it. @throws {ConfigError} */
export const readClientConfig = createReader({
  RUNLEDGER_URL: v.optional(v.string(), 'http://localhost:3000'),
  /** Never an argument, because every user of a machine can list arguments. */
  RUNLEDGER_API_KEY: v.optional(v.string()),
  /** An operator's key, for the commands that call the operator API. */
  RUNLEDGER_OPERATOR_KEY: v.optional(v.string()),
})

/** Reads the configuration of a command that uses the database. @throws {ConfigError} */
export const readCommandConfig = createReader({
  /** Defaults to the database that `make run` keeps. */
  DATABASE_URL: v.optional(database.DATABASE_URL),
})

/** Reads what every process needs: database and log level. @throws {ConfigError} */
export const readDatabaseConfig = createReader(database)

/** Reads the configuration of `migrate`, which also creates the database roles. @throws {ConfigError} */
export const readMigrateConfig = createReader({
  ...database,
  ADMIN_DATABASE_URL: v.optional(database.DATABASE_URL),
  WEB_PASSWORD: v.optional(v.string()),
  WORKER_PASSWORD: v.optional(v.string()),
})

/** @throws {ConfigError} */
export const readRetentionConfig = createReader({ RETENTION_DAYS: worker.RETENTION_DAYS })

/** Reads the configuration of `make run`. Nothing is required; the processes that it starts get the whole environment. */
export const readDevConfig = createReader({
  DATABASE_URL: v.optional(database.DATABASE_URL),
  PORT: v.optional(web.PORT.wrapped),
  /** Defaults to a key that `make run` creates and keeps. */
  RECEIPT_KEY: web.RECEIPT_KEY,
})

/** Reads the configuration of `make doctor`. Nothing is required. */
export function readDoctorConfig(environment = process.env): DoctorConfig {
  const settings = Object.entries(settingEntries).flatMap(([name, entry]) => {
    const text = environment[name] ?? ''
    const given = v.safeParse(entry, text)
    return text !== '' && given.success ? [[name, given.output]] : []
  })
  return {
    ...parse(v.object(doctor), environment),
    settings: { ...defaultSettings, ...Object.fromEntries(settings) },
  }
}

/** Returns the environment, with a placeholder DATABASE_URL if none is set, so that the other variables can be checked. */
export function assumeDatabase(environment = process.env): NodeJS.ProcessEnv {
  const { DATABASE_URL: given } = environment
  return { ...environment, DATABASE_URL: given || 'postgres://localhost/none' }
}

/** @throws {ConfigError} */
export function readWebConfig(environment = process.env): WebConfig {
  const schema = v.pipe(
    v.object(web),
    // A partial check also runs when another variable is wrong.
    v.partialCheck(
      [['TLS_CERT'], ['TLS_KEY']],
      (config) => (config.TLS_CERT === undefined) === (config.TLS_KEY === undefined),
      'TLS_CERT and TLS_KEY: set both or neither',
    ),
  )
  return parse(schema, environment)
}

/** @throws {ConfigError} */
export function readWorkerConfig(environment = process.env): WorkerConfig {
  const limits: Record<Language, Limits> = { ...defaultLimits }
  const issues: string[] = []
  for (const [name, text] of Object.entries(environment)) {
    const [, prefix, phaseName, suffix] = /^([A-Z\d]+)_(RUN|COMPILE)_(\w+)$/.exec(name) ?? []
    const language = languages.find((one) => one.toUpperCase() === prefix)
    if (language === undefined || text === undefined) continue
    const phase = phaseName === 'RUN' ? 'run' : 'compile'
    const before = limits[language][phase]
    const limit = limitsByEnding.get(suffix ?? '')
    const value = v.safeParse(
      limit?.endsWith('Seconds') ? positiveNumber : wholeNumber(1, 1e15),
      text,
    )
    if (limit === undefined || before === null) {
      issues.push(`${name}: no such limit`)
    } else if (!value.success) {
      issues.push(`${name}: ${value.issues[0].message}`)
    } else {
      limits[language] = { ...limits[language], [phase]: { ...before, [limit]: value.output } }
    }
  }
  // One schema, so that the mistakes of both are listed.
  const read = parse(v.object({ ...worker, ...settingEntries }), environment, issues)
  return { ...read, limits, settings: parse(v.object(settingEntries), environment) }
}

/** Reads a configuration, or prints all mistakes to stderr and exits with 78. For entry points only. */
export function readOrExit<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return exitForConfig(error.message)
  }
}

/** Exits with 78 over a well-formed value that does not work, such as a refused login. For entry points only. */
export function exitForConfig(message: string): never {
  process.stderr.write(`The configuration is wrong:\n  ${message.trimStart()}\n`)
  process.exit(78)
}

/** True for a URL that the database drivers can read; it may name several hosts. */
function isAddress(text: string): boolean {
  const from = Math.max(text.indexOf('://') + 2, text.lastIndexOf('@')) + 1
  const hosts = text.slice(from).split(/[/?]/)[0] ?? ''
  const [before, after] = [text.slice(0, from), text.slice(from + hosts.length)]
  return hosts.split(',').every((host) => URL.canParse(before + host + after))
}

/** Returns a function that reads these variables. */
function createReader<const Variables extends v.ObjectEntries>(
  variables: Variables,
): (environment?: NodeJS.ProcessEnv) => Values<Variables> {
  return (environment = process.env) => parse(v.object(variables), environment)
}

function parse<const TSchema extends v.GenericSchema>(
  schema: TSchema,
  environment: NodeJS.ProcessEnv,
  furtherIssues: readonly string[] = [],
): v.InferOutput<TSchema> {
  // Many platforms express "not set" as an empty variable.
  const given = Object.fromEntries(Object.entries(environment).filter(([, text]) => text !== ''))
  const result = v.safeParse(schema, given)
  const issues = (result.issues ?? []).map((issue) => {
    const name = v.getDotPath(issue)
    return name === null
      ? issue.message
      : `${name}: ${issue.message.replace(/^Invalid key.*/, 'is not set')}`
  })
  const all = [...issues, ...furtherIssues]
  if (!result.success || all.length > 0)
    throw new ConfigError(all.map((text) => `  ${text}`).join('\n'))
  return result.output
}
