// Reads the kernel log while attacks run. The kernel logs the names of processes that crash or run out of memory, and
// programs choose these names. A reader would believe a forged record, or a record whose level the program chose.
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { readErrorCode } from '#error-text'

/** Part of the names that attacks give to processes, after a line break and the mark of a level. */
const forged = 'FORGED'
// The OOM killer logs at level 3 (error); no message that a program can cause is graver.
const gravestLevel = 3
const bufferBytes = 8192 // the kernel's largest record

/**
 * Returns why a reader would believe a forged record; null when the record is harmless. Format:
 * Documentation/ABI/testing/dev-kmsg of Linux.
 */
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
  /** Returns the faults in the records since the last call. */
  inspect(): string[]
  close(): void
}

/** Follows the kernel log. Without the right to read the log it finds nothing. */
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

/** Reads all available records; one read(2) returns one record. */
function readRecords(descriptor: number): string[] {
  const records: string[] = []
  const buffer = Buffer.alloc(bufferBytes)
  for (;;) {
    try {
      const length = readSync(descriptor, buffer)
      if (length === 0) return records
      records.push(buffer.toString('latin1', 0, length))
    } catch (error) {
      // EPIPE: the next record was overwritten; the read after it returns the following one.
      if (readErrorCode(error) !== 'EPIPE') return records
    }
  }
}
