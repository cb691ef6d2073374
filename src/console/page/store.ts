// A value that views can follow.
import { useEffect, useState } from 'preact/hooks'

export interface Store<T> {
  get(): T
  set(value: T): void
  /** @returns a function that stops following. */
  follow(follower: () => void): () => void
}

export function createStore<T>(first: T): Store<T> {
  const followers = new Set<() => void>()
  let value = first
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const follower of followers) follower()
    },
    follow(follower) {
      followers.add(follower)
      return () => followers.delete(follower)
    },
  }
}

export function useStore<T>({ get, follow }: Store<T>): T {
  const [value, setValue] = useState(get)
  useEffect(() => {
    // The value may have changed since the view was drawn.
    setValue(() => get())
    return follow(() => setValue(() => get()))
  }, [get, follow])
  return value
}
