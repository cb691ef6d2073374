// The offered languages, loaded once for each key.
import { RunledgerError } from '#client'
import type { Language } from '#client'
import { complain } from './call.ts'
import { readLanguages } from './service.ts'
import { isOperatorKey, key } from './session.ts'
import { createStore, useStore } from './store.ts'

/** Null until they are known. */
export const languages = createStore<readonly Language[] | null>(null)

/** Returns a language; undefined while it is not known or not offered. */
export function useLanguage(name: string): Language | undefined {
  return useStore(languages)?.find((one) => one.name === name)
}

let asking = new AbortController()

export function loadLanguages(): void {
  asking.abort()
  asking = new AbortController()
  complain(languages, null)
  if (key.get() === null || isOperatorKey(key.get())) return
  readLanguages(asking.signal).then(
    (found) => languages.set(found),
    (error: unknown) => {
      if (error instanceof RunledgerError && error.status !== 401)
        complain(languages, error.message)
    },
  )
}
