// The thread that apart.ts starts. It answers each question with a judgement. An error ends it.
import { parentPort } from 'node:worker_threads'
import type { Question } from './apart.ts'
import { check } from './checker.ts'

parentPort?.on('message', ({ checker, output, expected }: Question) => {
  parentPort?.postMessage(check(checker, output, expected), [])
})
