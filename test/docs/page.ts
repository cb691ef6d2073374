// The pages of the documentation, split into the parts that the tests check: fenced blocks, links, headings.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

/** A fenced block. */
export interface Block {
  /** The number of its first line, from 1. */
  readonly line: number
  /** The word after the fence, such as `sh`. */
  readonly language: string
  readonly text: string
  /** The reason in a `<!-- not run: reason -->` before the block; null without one. */
  readonly notRun: string | null
}

export interface Page {
  /** Relative to the repository. */
  readonly path: string
  readonly text: string
  readonly blocks: readonly Block[]
  /** The text outside all blocks. */
  readonly prose: string
}

const others = [
  'README.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'bench/README.md',
  'bench/history/README.md',
  'bench/language/README.md',
  'sql/README.md',
  'clients/typescript/README.md',
  'clients/python/README.md',
]

/** Reads every page. */
export function readPages(): readonly Page[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .toSorted()
    .map((name) => `docs/${name}`)
  return [...others.filter((path) => existsSync(join(root, path))), ...docs].map(readPage)
}

export function readPage(path: string): Page {
  const text = readFileSync(join(root, path), 'utf8')
  const blocks: Block[] = []
  const prose: string[] = []
  let open: { line: number; language: string; lines: string[] } | null = null
  let notRun: string | null = null
  for (const [index, line] of text.split('\n').entries()) {
    if (open === null) {
      const language = /^```(\w*)/.exec(line)?.[1]
      if (language === undefined) {
        prose.push(line)
        // An empty line between the mark and the block changes nothing.
        if (line !== '') notRun = /^<!-- not run: (.+) -->$/.exec(line)?.[1] ?? null
      } else open = { line: index + 2, language, lines: [] }
    } else if (line.startsWith('```')) {
      const { lines, ...rest } = open
      blocks.push({ ...rest, text: lines.join('\n'), notRun })
      open = notRun = null
    } else open.lines.push(line)
  }
  return { path, text, blocks, prose: prose.join('\n') }
}

/** Returns the anchors of a page's headings, as GitHub makes them. */
export function listAnchors({ prose }: Page): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of prose.matchAll(/^#+ +(.+)$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    let name = slug
    for (let again = 1; anchors.has(name); again += 1) name = `${slug}-${again}`
    anchors.add(name)
  }
  return anchors
}

/** Returns the targets of links and pictures, including those of other sites. */
export function listLinks({ prose }: Page): readonly string[] {
  return [...prose.replaceAll(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)].map(
    ([, target = '']) => target,
  )
}
