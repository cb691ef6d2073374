// The real worker with another executor: `node bench/http/empty-worker.ts` runs src/worker/worker.ts, but #executor resolves
// to empty-executor.ts. https://nodejs.org/docs/latest-v24.x/api/module.html#moduleregisterhooksoptions
import { registerHooks } from 'node:module'

const replacement = new URL('empty-executor.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === '#executor'
      ? { url: replacement, shortCircuit: true }
      : nextResolve(specifier, context),
})

await import('../../src/worker/worker.ts')
