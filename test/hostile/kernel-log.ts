// Reads what the kernel logs while attacks run. It writes names of crashed processes and of those that ran out of memory, which
// programs choose. A record of a program's own, or one that it gave a level, would be believed.
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { readErrorCode } from '#error-text'

/** Part of the names that attacks give to processes, behind a line break and the mark of a level. */
const forged = 'FORGED'
// The killer of processes writes errors (3); nothing that a program can cause is more than that.
const gravestLevel = 3
const bufferBytes = 8192 // of the kernel's largest record

/** Why a record is believed; null for one that is not. Format: Documentation/ABI/testing/dev-kmsg of Linux. */
export function judgeRecord(record: string): string | null {
  if (!record.includes(forged)) return null
  const [line = '', ...dictionary] = record.split('\n')
  const text = line.slice(line.indexOf(';') + 1)
  const level = Number.parseInt(line, 10) & 7
  if (dictionary.some((entry) => entry.includes(forged)))
    return `a line of the kernel log is a program's: ${record}`
  if (/[^ -~]/u.test(text))
    return `what a program wrote is not escaped in the kernel log: ${record}`
  return level < gravestLevel ? `a program's name is logged as grave: ${record}` : null
}

export interface KernelLog {
  /** What is wrong with the records since the last call. */
  inspect(): string[]
  close(): void
}

/** Without the right to read it nothing is found. */
export function followKernelLog(): KernelLog {
  let descriptor: number | null = null
  try {
    descriptor = openSync('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return { inspect: () => [], close: () => {} }
  }
  const log = descriptor
  readRecords(log)
  return {
    inspect: () => readRecords(log).flatMap((record) => judgeRecord(record) ?? []),
    close: () => closeSync(log),
  }
}

/** One read(2) gives one record. */
function readRecords(descriptor: number): string[] {
  const records: string[] = []
  const buffer = Buffer.alloc(bufferBytes)
  for (;;) {
    try {
      const length = readSync(descriptor, buffer)
      if (length === 0) return records
      records.push(buffer.toString('latin1', 0, length))
    } catch (error) {
      // EPIPE: what was next is overwritten; the one after it follows.
      if (readErrorCode(error) !== 'EPIPE') return records
    }
  }
}
