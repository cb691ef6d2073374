// Loaded before a program.
//
// Its stdout and stderr are pipes, to which Node writes later than the program goes on, and not at all
// when it ends first. Here a write is over when it returns, as it is into a file.
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

// A module has none of these, and TypeScript's programs are modules.
globalThis.__dirname = '/box'
globalThis.__filename = '/box/main.js'
globalThis.require = require('node:module').createRequire(globalThis.__filename)
