// Loads the operators' view when an operator opens it, so that it costs other users nothing.
import { RunledgerError } from '#client'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../call.ts'
import type { ServiceRoute } from '../route.ts'
import { isOperatorKey, key } from '../session.ts'
import { readLanguages } from '../service.ts'
import { useStore } from '../store.ts'

/** Resolves when the key is valid. @throws {RunledgerError} */
export async function tryKey(text: string): Promise<void> {
  // No header can hold other characters.
  if (!/^[!-~]+$/.test(text)) {
    const message = 'This is not an API key.'
    throw new RunledgerError(0, { error: 'invalid_key', message }, null)
  }
  if (isOperatorKey(text)) await call('GET', '/api/operator/overview', { apiKey: text })
  else await readLanguages(undefined, text)
}

export function Service({ route }: { readonly route: ServiceRoute }): JSX.Element {
  const ownKey = useStore(key)
  const [View, setView] = useState<
    ((given: { readonly route: ServiceRoute }) => JSX.Element) | null
  >(null)
  const [isLost, setLost] = useState(false)
  const isOperators = isOperatorKey(ownKey)
  useEffect(() => {
    if (!isOperators) return
    // After an update of the service the view's file has another name.
    import('./overview.tsx').then(
      ({ OverviewView }) => setView(() => OverviewView),
      () => setLost(true),
    )
  }, [isOperators])
  if (!isOperators || View === null) {
    return (
      <>
        <h1>Service</h1>
        {!isOperators && <p>This view is for operators’ keys: they begin with rl_oper_.</p>}
        {isOperators && isLost && (
          <p class="failure" role="alert">
            This view could not be fetched: reload the page.
          </p>
        )}
      </>
    )
  }
  return <View route={route} />
}
