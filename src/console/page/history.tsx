// The list of the account's submissions, newest first. Its filters are in the address, so that back, reload and a link work.
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { Failure } from './failure.tsx'
import { Choice, Field } from './field.tsx'
import { formatBytes, formatSeconds, formatTime, statuses, verdictNames } from './format.ts'
import { languages, useLanguage } from './languages.ts'
import { Badge } from './part.tsx'
import { Visible } from './output.tsx'
import { formatFilter, formatRoute } from './route.ts'
import type { Filter } from './route.ts'
import { list } from './service.ts'
import type { Page, Summary } from './service.ts'
import { key } from './session.ts'
import { useStore } from './store.ts'
import { Table } from './table.tsx'
import type { Column } from './table.tsx'
import { useFollowed } from './work.ts'

export function History({ filter }: { readonly filter: Filter }): JSX.Element {
  const id = useId()
  const ownKey = useStore(key)
  const { value: page, failure } = useFollowed<Page>(
    async (signal, update) => {
      if (ownKey !== null) update(await list(filter, signal))
    },
    [formatFilter(filter), ownKey],
  )
  const next = page?.next_cursor ?? null
  const go = (part: Filter): void => {
    const { cursor: _cursor, ...rest } = filter
    location.hash = formatRoute({ view: 'submissions', filter: { ...rest, ...part } })
  }
  return (
    <div class="history">
      <h1 id={id}>Submissions</h1>
      <Filters filter={filter} onChange={go} />
      {ownKey === null && (
        <p class="empty">Sign in with an API key above to see its submissions.</p>
      )}
      {failure !== null && <Failure of={failure} />}
      <p class="unseen" role="status">
        {page === null ? '' : `${page.submissions.length} shown`}
      </p>
      {page !== null && (
        <Table
          heading={id}
          rows={page.submissions}
          columns={columns}
          empty={<Empty filter={filter} hasOlder={next !== null} />}
        />
      )}
      <nav class="row" aria-label="Pages">
        {filter.cursor !== undefined && (
          <a href={formatRoute({ view: 'submissions', filter: { ...filter, cursor: '' } })}>
            Newest
          </a>
        )}
        {next !== null && (
          <a
            href={formatRoute({
              view: 'submissions',
              filter: { ...filter, cursor: next },
            })}
          >
            Older
          </a>
        )}
      </nav>
    </div>
  )
}

function Empty({
  filter,
  hasOlder,
}: {
  readonly filter: Filter
  readonly hasOlder: boolean
}): JSX.Element {
  if (hasOlder) return <>None of these matches: look at older ones.</>
  if (formatFilter(filter) !== '') return <>No submission matches.</>
  return (
    <>
      Nothing was submitted yet. Run a program in the{' '}
      <a href={formatRoute({ view: 'playground' })}>playground</a>, or send one to{' '}
      <code>POST /api/submit</code> (<code>/openapi.json</code> describes it).
    </>
  )
}

function Filters({
  filter,
  onChange,
}: {
  readonly filter: Filter
  onChange(part: Filter): void
}): JSX.Element {
  const offered = useStore(languages) ?? []
  const known = offered.map(({ name, title }) => [name, title] as const)
  const { language = '' } = filter
  // The filter may name a language that no worker offers now.
  const missing = language === '' || known.some(([name]) => name === language) ? [] : [language]
  return (
    <form
      class="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        const tag = new FormData(event.currentTarget).get('tag')
        onChange({ tag: typeof tag === 'string' ? tag : '' })
      }}
    >
      <Choice
        label="Status"
        value={filter.status ?? ''}
        options={[['', 'Any'], ...statuses.map((name) => [name, name] as const)]}
        onInput={(status) => onChange({ status })}
      />
      <Choice
        label="Verdict"
        value={filter.verdict ?? ''}
        options={[['', 'Any'], ...Object.entries(verdictNames)]}
        onInput={(verdict) => onChange({ verdict })}
      />
      <Choice
        label="Language"
        value={language}
        options={[['', 'Any'], ...missing.map((name) => [name, name] as const), ...known]}
        onInput={(name) => onChange({ language: name })}
      />
      <Field
        label="Day"
        type="date"
        value={filter.day ?? ''}
        onInput={(day) => onChange({ day })}
      />
      <p class="field">
        <label for="tag">Tag</label>
        <input
          key={filter.tag ?? ''}
          id="tag"
          name="tag"
          defaultValue={filter.tag ?? ''}
          autocomplete="off"
          placeholder="Enter applies it"
        />
      </p>
    </form>
  )
}

/** Shows a language's title, or its name until the titles are known. */
function Title({ of }: { readonly of: string }): JSX.Element {
  return <>{useLanguage(of)?.title ?? of}</>
}

const columns: readonly Column<Summary>[] = [
  {
    head: 'Received',
    draw: (one) => (
      <a href={formatRoute({ view: 'submission', id: one.id })}>
        <time datetime={one.created_at}>{formatTime(one.created_at)}</time>
      </a>
    ),
  },
  { head: 'Outcome', draw: (one) => <Badge of={one} isJudged={one.judged !== false} /> },
  { head: 'Language', draw: (one) => <Title of={one.language} /> },
  {
    head: 'Program',
    draw: ({ preview = null }) =>
      preview !== null && (
        <code class="preview">
          <Visible text={preview} />
        </code>
      ),
  },
  {
    head: 'Time',
    isFigure: true,
    draw: (one) => (one.wall_time === null ? '' : formatSeconds(one.wall_time)),
  },
  {
    head: 'Memory',
    isFigure: true,
    draw: (one) => (one.memory_peak === null ? '' : formatBytes(one.memory_peak)),
  },
  { head: 'Tag', draw: (one) => <Visible text={one.tag ?? ''} /> },
]
