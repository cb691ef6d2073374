// What was submitted: code, input and files, as long as the service keeps them.
import type { RunledgerError, SubmissionRequest } from '#client'
import type { JSX } from 'preact'
import { Failure } from './failure.tsx'
import { nameTest } from './format.ts'
import { Output } from './output.tsx'
import { fromRequest, listLeftOut } from './draft.ts'
import { formatRoute } from './route.ts'
import { readRequest } from './service.ts'
import { keep } from './session.ts'
import { useFollowed } from './work.ts'

export function Received({ id }: { readonly id: string }): JSX.Element | null {
  const { value: request, failure } = useFollowed<SubmissionRequest>(
    async (signal, update) => update(await readRequest(id, signal)),
    [id],
  )
  if (failure !== null) return <Missing failure={failure} />
  if (request === null) return null
  const {
    code,
    stdin = '',
    stdin_encoding: encoding = 'utf8',
    tests = [],
    files = [],
    args = [],
  } = request
  const leftOut = listLeftOut(request)
  const open = (): void => {
    keep('draft', JSON.stringify(fromRequest(request)))
    location.hash = formatRoute({ view: 'playground' })
  }
  return (
    <section class="received" aria-label="What was submitted">
      <p class="row">
        <button type="button" onClick={open}>
          Open in playground
        </button>
        {leftOut.length > 0 && <small class="hint">Without {leftOut.join(', ')}.</small>}
      </p>
      <Output title="Code" text={code} name="code.txt" />
      {args.length > 0 && <Output title="Arguments" text={args.join('\n')} name="arguments.txt" />}
      {stdin !== '' && (
        <Output
          title={encoding === 'utf8' ? 'Input' : `Input in ${encoding}`}
          text={stdin}
          name="input.txt"
        />
      )}
      {(tests.length > 0 || files.length > 0) && (
        <details>
          <summary>Inputs of tests, and files</summary>
          {tests.map((test, index) => (
            <Output
              key={index}
              title={`Input of ${nameTest(test.name ?? null, index)}`}
              text={test.stdin ?? ''}
              name={`input-${index + 1}.txt`}
            />
          ))}
          {files.map(({ name, content }) => (
            <Output key={name} title={name} text={content} name={name.split('/').at(-1) ?? name} />
          ))}
        </details>
      )}
    </section>
  )
}

function Missing({ failure }: { readonly failure: RunledgerError }): JSX.Element {
  if (failure.status !== 410) return <Failure of={failure} />
  return <p class="hint">What was submitted was removed after the retention period.</p>
}
