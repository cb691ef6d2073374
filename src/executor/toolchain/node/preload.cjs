// Loaded before a program. Node writes to pipes asynchronously, and loses what is left when the program ends first.
// Here a write is over when it returns, as into a file.
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

// A box's /proc has no processors to list: as many as it may run on, without a model, a speed or times.
const os = require('node:os')
os.cpus = () =>
  Array.from({ length: os.availableParallelism() }, () => ({
    model: 'unknown',
    speed: 0,
    times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 },
  }))

// TypeScript's programs are modules, which lack these.
globalThis.__dirname = '/box'
globalThis.__filename = '/box/main.js'
globalThis.require = require('node:module').createRequire(globalThis.__filename)

// A Node that was up before its program has waited: its clocks begin with the program, as they do elsewhere. What another
// thread begins with is later anyway.
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

// What a pipe's stream is made of takes half a hello's time to load, and has it behind it where Node is up before its program.
process.getBuiltinModule('node:net')
