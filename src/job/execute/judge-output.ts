// Holds an output against the expected one: a small one at once, a large one in a thread, so that neither the lease nor the
// other slots wait for it.
import { check, openCheckThread } from '#checker'
import type { BuiltInChecker, CheckThread, Judgement } from '#checker'
import { describeError } from '#error-text'
import { SandboxError } from '#executor'

/** Of both together. The slowest checker takes some ten milliseconds for them, the way to the thread and back one. */
const bytesAtOnce = 256 * 1024

/** The process's. */
const ownThread = openCheckThread()

/**
 * @throws {SandboxError} step `checker.thread`: whether they are the same is not known then. The signal's reason when that
 * ends the wait for the thread.
 */
export async function judgeOutput(
  checker: BuiltInChecker,
  output: Uint8Array,
  expected: Uint8Array,
  signal?: AbortSignal,
  thread: CheckThread = ownThread,
): Promise<Judgement> {
  if (output.length + expected.length <= bytesAtOnce) return check(checker, output, expected)
  // Most are, and to every checker.
  if (Buffer.compare(output, expected) === 0) return { same: true }
  try {
    return await thread.check(checker, output, expected, signal)
  } catch (cause) {
    signal?.throwIfAborted()
    throw new SandboxError('checker.thread', describeError(cause), cause)
  }
}
