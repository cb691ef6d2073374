// Shows why the service refused a request, in the service's words.
import type { RunledgerError } from '#client'
import type { JSX } from 'preact'
import { nameField } from './limit-field.ts'

/** Shows everything that is wrong with a request at once. */
export function Failure({ of }: { readonly of: RunledgerError }): JSX.Element {
  return (
    <div class="failure" role="alert">
      {of.issues.length === 0 ? (
        <p>{of.message}</p>
      ) : (
        <ul>
          {of.issues.map(({ path, message }) => (
            <li key={path}>
              {nameField(path) ?? <code>{path}</code>} {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
