// The details of a submission as the queue takes them, of fields that have been judged.
import type { Detail, DetailFile, OwnLimits, Test } from '#enqueue'
import type { PhaseLimits } from '#language'
import { spellings } from './options.ts'
import type { Given, GivenChecker, GivenFile, GivenTest, LimitName } from './options.ts'
import { decode } from './text.ts'

/** What was asked, of fields that have been judged. */
export function readDetail(given: Partial<Given>): Detail {
  const files = given.files?.map(readFile)
  const own: OwnLimits = {
    ...(given.compile_limits && { compile: readLimits(given.compile_limits) }),
    ...(given.limits && { run: readLimits(given.limits) }),
  }
  return {
    ...(given.args && given.args.length > 0 && { arguments: given.args }),
    ...(given.compile_args &&
      given.compile_args.length > 0 && { compileArguments: given.compile_args }),
    ...(files && files.length > 0 && { files }),
    ...(Object.keys(own).length > 0 && { limits: own }),
    ...(given.tests && { tests: given.tests.map((one) => readTest(one, given.stdin_encoding)) }),
    ...(given.output_files && given.output_files.length > 0 && { outputFiles: given.output_files }),
    ...(given.stop_on_failure === true && { stopOnFailure: true }),
    ...(given.checker && { checker: readChecker(given.checker) }),
    ...readBlobNames(given),
  }
}

function readTest(
  { name, stdin, expected_stdout: expected, args, ...given }: GivenTest,
  encoded: 'utf8' | 'base64' | undefined,
): Test {
  return {
    ...(name !== undefined && { name }),
    stdin: decode(stdin ?? '', encoded) ?? Buffer.alloc(0),
    expectedStdout: expected === undefined ? null : Buffer.from(expected),
    ...(args !== undefined && { arguments: args }),
    ...readBlobNames(given),
  }
}

function readChecker(given: GivenChecker): NonNullable<Detail['checker']> {
  if (given.type === 'program') {
    const { type, language, code, compile_args: words, files } = given
    return {
      type,
      language,
      code: Buffer.from(code),
      ...(words !== undefined && { compileArguments: words }),
      ...(files !== undefined && { files: files.map(readFile) }),
    }
  }
  if (given.type !== 'floats') return { type: given.type }
  const { type, absolute, relative } = given
  return {
    type,
    ...(absolute !== undefined && { absolute }),
    ...(relative !== undefined && { relative }),
  }
}

function readBlobNames({
  stdin_sha256: stdinBlob,
  expected_stdout_sha256: expectedStdoutBlob,
}: Pick<Given, 'stdin_sha256' | 'expected_stdout_sha256'>): {
  readonly stdinBlob?: string
  readonly expectedStdoutBlob?: string
} {
  return {
    ...(stdinBlob !== undefined && { stdinBlob }),
    ...(expectedStdoutBlob !== undefined && { expectedStdoutBlob }),
  }
}

function readFile({ name, content, encoding: encoded }: GivenFile): DetailFile {
  return { name, content: decode(content, encoded) ?? Buffer.alloc(0) }
}

function readLimits(
  given: Readonly<Partial<Record<LimitName, number | undefined>>>,
): Partial<PhaseLimits> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [spellings[name as LimitName], value]),
  )
}
