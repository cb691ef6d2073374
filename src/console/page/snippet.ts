// Writes a request as code to paste. The code runs as it is and takes the key from the environment, never from the page.
import type { SubmissionRequest } from '#client'

export const snippetKinds = ['curl', 'Python', 'TypeScript'] as const
export type SnippetKind = (typeof snippetKinds)[number]

/** @param origin of the service, such as `https://runledger.example.com`. */
export function writeSnippet(
  kind: SnippetKind,
  request: SubmissionRequest,
  origin: string,
): string {
  const url = `${origin}/api/submit?wait=true`
  switch (kind) {
    case 'curl':
      return [
        `curl -s ${quoteShell(url)} \\`,
        `  -H "X-API-Key: $RUNLEDGER_API_KEY" \\`,
        `  -H 'Content-Type: application/json' \\`,
        `  -d ${quoteShell(JSON.stringify(request))}`,
      ].join('\n')
    case 'Python':
      return [
        'import json, os, urllib.request',
        '',
        `body = ${toPython(request, '')}`,
        'request = urllib.request.Request(',
        `    ${toPython(url, '')},`,
        '    json.dumps(body).encode(),',
        '    {"X-API-Key": os.environ["RUNLEDGER_API_KEY"], "Content-Type": "application/json"},',
        ')',
        'with urllib.request.urlopen(request) as response:',
        '    print(json.load(response))',
      ].join('\n')
    case 'TypeScript':
      return [
        `const response = await fetch(${JSON.stringify(url)}, {`,
        "  method: 'POST',",
        '  headers: {',
        "    'X-API-Key': process.env.RUNLEDGER_API_KEY ?? '',",
        "    'Content-Type': 'application/json',",
        '  },',
        `  body: JSON.stringify(${JSON.stringify(request, null, 2).replaceAll('\n', '\n  ')}),`,
        '})',
        'console.log(await response.json())',
      ].join('\n')
  }
}

/** Quotes a text as one word of a POSIX shell. */
function quoteShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

// JSON's strings and numbers are valid in Python; true, false and null are not.
function toPython(value: unknown, indent: string): string {
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (typeof value !== 'object' || value === null)
    return value === null ? 'None' : JSON.stringify(value)
  const deeper = `${indent}    `
  const items = Array.isArray(value)
    ? value.map((item) => toPython(item, deeper))
    : Object.entries(value).map(
        ([name, item]) => `${JSON.stringify(name)}: ${toPython(item, deeper)}`,
      )
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (items.length === 0) return `${open}${close}`
  return `${open}\n${items.map((item) => `${deeper}${item},\n`).join('')}${indent}${close}`
}
