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

// TypeScript's programs are modules, which lack these.
globalThis.__dirname = '/box'
globalThis.__filename = '/box/main.js'
globalThis.require = require('node:module').createRequire(globalThis.__filename)

// What a pipe's stream is made of takes half a hello's time to load, and has it behind it where Node is up before its program.
process.getBuiltinModule('node:net')
