// The frame of all views: navigation, the key, and trouble with the service. A new view needs a row in route.ts and a case in
// View.
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { trouble } from './call.ts'
import { Boundary, Fault } from './failure.tsx'
import { Check } from './field.tsx'
import { History } from './history.tsx'
import { languages, loadLanguages } from './languages.ts'
import { Service, tryKey } from './operator/lazy.tsx'
import { Playground } from './playground.tsx'
import { formatRoute, parseRoute } from './route.ts'
import type { Route } from './route.ts'
import { forget } from './run.ts'
import { dropKey, isOperatorKey, key, keyNotice, setKey, takeKey } from './session.ts'
import { createStore, useStore } from './store.ts'
import { Submission } from './submission.tsx'
import { useWork } from './work.ts'

const hash = createStore(location.hash)
addEventListener('hashchange', () => {
  const given = takeKey()
  if (given !== null) setKey(given)
  hash.set(location.hash)
})

const titles: Readonly<Record<Route['view'], string>> = {
  playground: 'Playground',
  submissions: 'Submissions',
  submission: 'Submission',
  service: 'Service',
  unknown: 'Not found',
}

export function App(): JSX.Element {
  const ownKey = useStore(key)
  const asked = parseRoute(useStore(hash))
  // An operator's key opens this view and no other.
  const route: Route =
    isOperatorKey(ownKey) && asked.view !== 'service' ? { view: 'service' } : asked
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  const shown = route.view === 'submission' ? route.id : route.view
  useEffect(() => {
    loadLanguages()
    if (ownKey === null) forget()
  }, [ownKey])
  useEffect(() => {
    document.title = `${titles[route.view]} · Runledger`
    // A screen reader announces the new view when the focus moves. A fresh page keeps the focus at its top.
    if (!isFirst.current) main.current?.focus()
    isFirst.current = false
  }, [shown])
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => skip(event, main.current)}>
        To the content
      </a>
      <Header view={route.view} />
      <Trouble />
      <Fault />
      {ownKey === null && <KeyForm />}
      <main id="main" ref={main} tabIndex={-1}>
        <Boundary key={shown}>
          <View route={route} />
        </Boundary>
      </main>
    </>
  )
}

// Moves the focus without changing the address, because the address names the view.
function skip(event: Event, main: HTMLElement | null): void {
  event.preventDefault()
  main?.focus()
}

// Remounts views for a new key, so that it does not show what the old one showed.
function View({ route }: { readonly route: Route }): JSX.Element {
  const ownKey = useStore(key)
  switch (route.view) {
    case 'playground':
      return <Playground />
    case 'submissions':
      return <History key={ownKey} filter={route.filter} />
    case 'submission':
      return <Submission key={`${route.id} ${ownKey}`} id={route.id} />
    case 'service':
      return <Service route={route} />
    case 'unknown':
      return (
        <>
          <h1>There is no such page</h1>
          <p>
            <a href="#/">Playground</a>
          </p>
        </>
      )
  }
}

function Header({ view }: { readonly view: Route['view'] }): JSX.Element {
  const ownKey = useStore(key)
  const link = (route: Route, text: string): JSX.Element => (
    <a href={formatRoute(route)} aria-current={route.view === view ? 'page' : undefined}>
      {text}
    </a>
  )
  return (
    <header class="top row">
      <span class="name">Runledger</span>
      <nav aria-label="Views">
        {isOperatorKey(ownKey) ? (
          link({ view: 'service' }, 'Service')
        ) : (
          <>
            {link({ view: 'playground' }, 'Playground')}
            {link({ view: 'submissions', filter: {} }, 'Submissions')}
          </>
        )}
      </nav>
      {ownKey !== null && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            languages.set(null)
            dropKey(null)
          }}
        >
          Sign out
        </button>
      )}
    </header>
  )
}

function Trouble(): JSX.Element {
  const message = useStore(trouble)
  return (
    <div role="status" class="trouble">
      {message !== null && <p>{message}</p>}
    </div>
  )
}

function KeyForm(): JSX.Element {
  const notice = useStore(keyNotice)
  const [text, setText] = useState('')
  const { isWorking, failure, begin } = useWork()
  const [isRemembered, setRemembered] = useState(false)
  const signIn = (): void =>
    begin(async () => {
      await tryKey(text.trim())
      setKey(text.trim(), isRemembered)
    })
  return (
    <form
      class="key"
      aria-label="Key"
      onSubmit={(event) => {
        event.preventDefault()
        signIn()
      }}
    >
      <label for="key">API key</label>
      <input
        id="key"
        type="password"
        value={text}
        autocomplete="off"
        spellcheck={false}
        placeholder="rl_live_…"
        required
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="primary" disabled={isWorking}>
        Sign in
      </button>
      <Check label="Remember on this device" checked={isRemembered} onInput={setRemembered} />
      <small class="hint">
        The operator of this service issues keys: <code>runledger keys issue --account NAME</code>.{' '}
        <code>make run</code> prints a link that signs in. Unless it is remembered, the key is gone
        with the last open tab.
      </small>
      <p role="alert">{failure?.message ?? notice ?? ''}</p>
    </form>
  )
}
