// What a tab keeps until it is closed: the key, the draft, the last run. Nothing outlives the tab, and no other tab sees it.
import { createStore } from './store.ts'

const names = { key: 'runledger.key', draft: 'runledger.draft', last: 'runledger.last' } as const

/** Null where nothing is kept, or may be. */
export function recall(name: keyof typeof names): string | null {
  try {
    return sessionStorage.getItem(names[name])
  } catch {
    return null
  }
}

/** Null removes it. A browser that keeps nothing still shows the page. */
export function keep(name: keyof typeof names, value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(names[name])
    else sessionStorage.setItem(names[name], value)
  } catch {
    // Full or forbidden.
  }
}

export const key = createStore<string | null>(recall('key'))

/** It opens the view of operators, and no other. */
export const isOperatorKey = (text: string | null): boolean => text?.startsWith('rl_oper_') === true

/** Why the key is asked for again. */
export const keyNotice = createStore<string | null>(null)

export function setKey(value: string): void {
  keep('key', value)
  keyNotice.set(null)
  key.set(value)
}

/** The last run goes with its key; the draft stays. */
export function dropKey(notice: string | null): void {
  keep('key', null)
  keep('last', null)
  keyNotice.set(notice)
  key.set(null)
}
