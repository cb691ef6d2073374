// A submission's log as a line of steps: when each happened, how long it took, and the hash that its event has in the ledger.
import type { JSX } from 'preact'
import { formatSeconds, formatTime, share } from './format.ts'
import { Visible } from './output.tsx'
import type { Step } from './story.ts'

export function Timeline({ steps }: { readonly steps: readonly Step[] }): JSX.Element {
  const longest = Math.max(...steps.map(({ seconds }) => seconds ?? 0))
  return (
    <section>
      <h2>Timeline</h2>
      <ol class="timeline">
        {steps.map(({ at, title, detail, seconds, tone, hash }, index) => (
          <li key={index} class={`${tone}${at === null ? ' part' : ''}`}>
            <span class="when">
              {at !== null && <time datetime={at}>{formatTime(at).slice(11)}</time>}
            </span>
            <span class="what">
              <strong>
                <Visible text={title} />
              </strong>{' '}
              <span>{detail}</span>
              {hash !== null && (
                <>
                  {' '}
                  <code class="hash" title={`SHA-256 ${hash}`}>
                    {hash.slice(0, 12)}
                  </code>
                </>
              )}
            </span>
            <span class="took">
              {seconds !== null && (
                <>
                  <span class="bar" aria-hidden="true">
                    <span style={{ inlineSize: `${share(seconds, longest) * 100}%` }} />
                  </span>
                  {formatSeconds(seconds)}
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}
