// The limits that the playground offers: their labels, and mistakes in what was typed, in each limit's unit.
import type { RequestIssue } from '#client'
import type { Draft } from './draft.ts'
import { formatBytes, formatSeconds } from './format.ts'

export type LimitField = 'cpuTime' | 'wallTime' | 'memory'
/** Mistakes by field, in words. */
export type Mistakes = Readonly<Partial<Record<LimitField, string>>>

interface Kind {
  /** The limit's path in the request. */
  readonly path: string
  readonly label: string
  readonly example: string
  readonly format: (figure: number) => string
}

const seconds = { example: '1.5', format: formatSeconds } as const

/** The fields in the order in which they are shown. */
export const limitFields: Readonly<Record<LimitField, Kind>> = {
  cpuTime: { path: 'limits.cpu_time', label: 'CPU time, s', ...seconds },
  wallTime: { path: 'limits.wall_time', label: 'Time, s', ...seconds },
  memory: { path: 'limits.memory', label: 'Memory, MiB', example: '256', format: formatBytes },
}

const names = Object.keys(limitFields) as readonly LimitField[]

/** Finds mistakes before the request is sent. */
export function findMistakes(draft: Pick<Draft, LimitField>): Mistakes {
  return collect((name) => {
    const text = draft[name].trim()
    if (text === '' || Number(text) > 0) return null
    return `A number above 0, such as ${limitFields[name].example}.`
  })
}

/** Translates the mistakes that the service has found. */
export function showIssues(issues: readonly RequestIssue[]): Mistakes {
  return collect((name) => {
    const { path, format } = limitFields[name]
    const found = issues.find((issue) => issue.path === path)
    if (found === undefined) return null
    // The service's figures are seconds and bytes.
    const words = found.message.replaceAll(/\d+(\.\d+)?/g, (figure) => format(Number(figure)))
    return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
  })
}

/** Returns the page's name of a request's path; null when it has none. */
export function nameField(path: string): string | null {
  const kind = Object.values(limitFields).find((one) => one.path === path)
  return kind?.label.replace(/,.*/, '') ?? null
}

function collect(find: (name: LimitField) => string | null): Mistakes {
  const found = names.flatMap((name) => {
    const words = find(name)
    return words === null ? [] : [[name, words] as const]
  })
  return Object.fromEntries(found)
}
