// Shortens a completion whose account has used up its quota of the day (output-quota.ts): keeps the beginning of each output,
// marked as truncated. The verdict is that of the whole output.
import { digestBody } from '#event'
import { decodeReport, encodeReport } from '#report'
import type { Report, TestReport } from '#report'
import type { Completion } from './completion.ts'
import { digestOutput } from './verdict.ts'

/** Bytes kept of each output, and of all tests' outputs together. */
const leastBytes = 4096

export function shorten(completion: Completion): Completion {
  const { data } = completion
  const stdout = completion.stdout.subarray(0, leastBytes)
  const stderr = completion.stderr.subarray(0, leastBytes)
  const compileOutput = completion.compileOutput?.subarray(0, leastBytes) ?? null
  const report = encodeReport(shortenReport(decodeReport(completion.report)))
  return {
    data: {
      ...data,
      stdout: digestOutput(stdout, data.stdout.truncated || isCut(stdout, completion.stdout)),
      stderr: digestOutput(stderr, data.stderr.truncated || isCut(stderr, completion.stderr)),
      compile_output:
        compileOutput === null
          ? null
          : digestOutput(
              compileOutput,
              data.compile_output?.truncated === true ||
                isCut(compileOutput, completion.compileOutput),
            ),
      ...(report !== null && { report: digestBody(report) }),
      ...(data.files && { files: data.files.map(({ name, bytes }) => ({ name, bytes })) }),
    },
    stdout,
    stderr,
    compileOutput,
    report,
  }
}

/** Shortens a report. The contents of files are dropped, as if they did not fit; so are the tests' facts, which may be large. */
function shortenReport({ tests, files, ...rest }: Report): Report {
  const left = { stdout: leastBytes, stderr: leastBytes }
  const cut = (name: keyof typeof left, output: Uint8Array | null): Uint8Array | null => {
    const part = output?.subarray(0, left[name]) ?? null
    left[name] -= part?.length ?? 0
    return part
  }
  const shortenTest = (test: TestReport): TestReport => {
    const stdout = cut('stdout', test.stdout)
    const stderr = cut('stderr', test.stderr)
    const { stdout_truncated: wasStdoutCut, stderr_truncated: wasStderrCut } = test
    return {
      ...test,
      stdout,
      stderr,
      stdout_truncated: wasStdoutCut === false ? isCut(stdout, test.stdout) : wasStdoutCut,
      stderr_truncated: wasStderrCut === false ? isCut(stderr, test.stderr) : wasStderrCut,
    }
  }
  return {
    ...rest,
    tests: tests?.map(shortenTest) ?? null,
    files: files?.map((file) => ({ ...file, sha256: null, content: null })) ?? null,
  }
}

function isCut(part: Uint8Array | null, whole: Uint8Array | null): boolean {
  return (part?.length ?? 0) < (whole?.length ?? 0)
}
