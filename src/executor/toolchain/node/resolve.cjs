// Loaded before a TypeScript program of several files. The compiler accepts the name `./helper` for helper.ts or
// helper/index.ts and does not change it, but Node requires helper.js.
const { registerHooks } = require('node:module')

registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context)
    } catch (error) {
      if (!/^\.{1,2}(\/|$)/.test(specifier)) throw error
      for (const end of ['.js', '/index.js']) {
        try {
          return next(specifier + end, context)
        } catch {}
      }
      throw error
    }
  },
})
