// What a tab keeps until it is closed: the key, the draft and the last run. Only the key may stay on the device, if the user
// asks for that. Open tabs of one browser share the key, so that a link opened in a new tab has it.
import { createStore } from './store.ts'

const names = { key: 'runledger.key', draft: 'runledger.draft', last: 'runledger.last' } as const
type Name = keyof typeof names

/** Reads a stored value; null when nothing is stored or storage is forbidden. */
export function recall(name: Name, store: () => Storage = () => sessionStorage): string | null {
  try {
    return store().getItem(names[name])
  } catch {
    return null
  }
}

/** Stores a value; null removes it. A browser without storage still shows the page. @returns false when there was no room. */
export function keep(
  name: Name,
  value: string | null,
  store: () => Storage = () => sessionStorage,
): boolean {
  try {
    if (value === null) store().removeItem(names[name])
    else store().setItem(names[name], value)
    return true
  } catch {
    // Full or forbidden.
    return false
  }
}

const onDevice = (): Storage => localStorage

export const key = createStore<string | null>(takeKey() ?? recall('key') ?? recall('key', onDevice))

/** True for an operator's key, which opens only the operators' view. */
export const isOperatorKey = (text: string | null): boolean => text?.startsWith('rl_oper_') === true

/** Why the page asks for a key again. */
export const keyNotice = createStore<string | null>(null)

/** @param isRemembered true: the key is kept for the next start of this browser. */
export function setKey(value: string, isRemembered = false): void {
  keep('key', value)
  keep('key', isRemembered ? value : null, onDevice)
  keyNotice.set(null)
  key.set(value)
  broadcast({ key: value })
}

/** Drops the key and the last run and keeps the draft. Other tabs drop the same key. */
export function dropKey(notice: string | null): void {
  const dropped = key.get()
  forgetKey(notice)
  if (dropped !== null) broadcast({ dropped })
}

function forgetKey(notice: string | null): void {
  if (recall('key', onDevice) === key.get()) keep('key', null, onDevice)
  keep('key', null)
  keep('last', null)
  keyNotice.set(notice)
  key.set(null)
}

/**
 * Takes the key of a link such as `make run` prints. The key is behind `#`, which is sent to no server, and is removed from the
 * address before anything is drawn. Only a service on this machine accepts such a link, because elsewhere a link could make
 * other people work under its sender's key.
 * @returns null when the address has none.
 */
export function takeKey(): string | null {
  const found = /^#key=([!-~]+)$/.exec(location.hash)?.[1]
  if (found === undefined) return null
  history.replaceState(null, '', `${location.pathname}#/`)
  if (!['localhost', '127.0.0.1', '[::1]'].includes(location.hostname)) return null
  keep('key', found)
  return found
}

interface Word {
  readonly isAsking?: true
  readonly key?: string
  readonly dropped?: string
}

// Only tabs of this origin receive these messages, and nothing stores them.
const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('runledger')
const broadcast = (word: Word): void => {
  // eslint-disable-next-line unicorn/require-post-message-target-origin -- a channel has its own origin alone
  channel?.postMessage(word)
}

channel?.addEventListener('message', ({ data }: MessageEvent<Word>) => {
  const own = key.get()
  if (data.isAsking === true && own !== null) broadcast({ key: own })
  if (data.key !== undefined && own === null) {
    keep('key', data.key)
    keyNotice.set(null)
    key.set(data.key)
  }
  if (data.dropped !== undefined && data.dropped === own) forgetKey(null)
})
if (key.get() === null) broadcast({ isAsking: true })
