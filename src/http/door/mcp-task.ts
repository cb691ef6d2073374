// A task of the MCP door: a submission described by the extension io.modelcontextprotocol/tasks.
import { isFinal } from '#result'
import type { TrackedResult } from '#result'
import { ProtocolError } from './mcp-message.ts'
import { describeRecord } from './mcp-tools.ts'

/** The type of every result that is not a task. */
export const resultType = 'complete'
const pollMilliseconds = 1000

/** Describes a task that is not finished. */
export function describeTask(record: TrackedResult): object {
  const { id, created_at: created, started_at: started, finished_at: finished } = record
  return {
    taskId: id,
    status: 'working',
    statusMessage: record.status,
    createdAt: created,
    lastUpdatedAt: finished ?? started ?? created,
    ttlMs: null,
    pollIntervalMs: pollMilliseconds,
  }
}

/** Describes a task's current state; a finished task has its result or error. */
export function describeEnd(record: TrackedResult): object {
  const task = describeTask(record)
  if (!isFinal(record)) return task
  if (record.status === 'cancelled') return { ...task, status: 'cancelled' }
  try {
    return { ...task, status: 'completed', result: { resultType, ...describeRecord(record) } }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    const { code, message, data } = error
    return { ...task, status: 'failed', statusMessage: message, error: { code, message, data } }
  }
}
