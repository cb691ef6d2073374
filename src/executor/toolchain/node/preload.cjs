// Loaded before a program. Node writes to pipes asynchronously, and loses unwritten output when the program ends first. Here a
// write is complete when it returns, as with a file.
for (const name of ['stdout', 'stderr']) {
  const usual = Object.getOwnPropertyDescriptor(process, name)
  Object.defineProperty(process, name, {
    ...usual,
    get() {
      const stream = usual.get.call(process)
      stream._handle?.setBlocking?.(true)
      Object.defineProperty(process, name, usual)
      return stream
    },
  })
}

// A box's /proc lists no processors. So this reports as many as the program may run on, without model, speed or times.
const os = require('node:os')
os.cpus = () =>
  Array.from({ length: os.availableParallelism() }, () => ({
    model: 'unknown',
    speed: 0,
    times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 },
  }))

// TypeScript programs are modules, which do not have these variables.
globalThis.__dirname = '/box'
globalThis.__filename = '/box/main.js'
globalThis.require = require('node:module').createRequire(globalThis.__filename)

// A prestarted Node has waited for its program. Its clocks are shifted so that they start with the program, as in a fresh Node.
// In a thread that starts later the wait is 0.
const { statSync } = require('node:fs')
const findWait = (since) => {
  let wait
  const compute = () =>
    Math.max(0, (statSync(globalThis.__filename, { throwIfNoEntry: false })?.ctimeMs ?? 0) - since)
  return () => (wait ??= compute())
}
const { uptime } = process
const findProcessWait = findWait(Date.now() - uptime() * 1000)
process.uptime = () => uptime() - findProcessWait() / 1000
const clocks = Object.getPrototypeOf(performance)
const { now, timeOrigin } = Object.getOwnPropertyDescriptors(clocks)
const findThreadWait = findWait(performance.timeOrigin)
Object.defineProperties(clocks, {
  now: {
    ...now,
    value() {
      return now.value.call(this) - findThreadWait()
    },
  },
  timeOrigin: {
    ...timeOrigin,
    get() {
      return timeOrigin.get.call(this) + findThreadWait()
    },
  },
})

// Loading the module of pipe streams takes half the time of a hello world. A prestarted Node does it before its program comes.
process.getBuiltinModule('node:net')
