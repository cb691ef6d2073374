// Started by untraced.test.ts without a capability; prints what it can do as one JSON object.
import { createExecutor } from '#executor'
import { firstUid, run, scaleLimits } from '../helper/executor.ts'

// Whoever runs every file of this folder starts this one without a directory.
const directory = process.argv[2]
if (directory === undefined) process.exit(0)
const fallbacks: string[] = []
const executor = await createExecutor({
  slots: 1,
  firstUid,
  limits: scaleLimits({ wallSeconds: 60 }),
  cacheBytes: 0,
  box: 'bubblewrap',
  languages: ['python'],
  cacheDirectory: directory,
  onFallback: (reason) => fallbacks.push(reason),
})
const { stdout } = await run(executor, 'python', 'print("works")')
console.log(JSON.stringify({ reads: executor.readsOutputFiles, fallbacks, stdout }))
await executor.close()
