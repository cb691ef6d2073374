// Bundles the console: the browser's code in page/ becomes dist/console.json. `make setup` and the image's build run it, so
// that no process of the service needs a bundler, and a release serves the bundle that it was built with.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { Metafile } from 'esbuild'
import { assetPrefix, bundleFile } from './console.ts'
import type { BundledFile } from './console.ts'

const folder = join(import.meta.dirname, 'page')

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Builds into a file and replaces it as a whole, so that a process that reads it meanwhile sees the previous bundle. */
export async function buildConsole(file = bundleFile): Promise<void> {
  const files = await bundle()
  mkdirSync(dirname(file), { recursive: true })
  const next = `${file}.${process.pid}`
  writeFileSync(next, JSON.stringify(files))
  renameSync(next, file)
}

async function bundle(): Promise<BundledFile[]> {
  const { outputFiles, metafile } = await build({
    entryPoints: ['main.tsx', 'style.css', 'icon.svg'].map((name) => join(folder, name)),
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2024',
    minify: true,
    legalComments: 'none',
    loader: { '.svg': 'copy' },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    publicPath: assetPrefix,
    outdir: folder,
    write: false,
    metafile: true,
    logLevel: 'warning',
  })
  const assets = outputFiles.map(({ path, contents }) =>
    describe(`${assetPrefix}${basename(path)}`, contents),
  )
  return [describe('/', writePage(metafile)), ...assets]
}

/** Returns the page with the hashed names of its files, and links that fetch the files of its first view at once. */
function writePage({ outputs }: Metafile): Buffer {
  const names = new Map<string, string>()
  for (const [path, { entryPoint, imports }] of Object.entries(outputs)) {
    if (entryPoint === undefined) continue
    const name = basename(entryPoint)
    names.set(name, `${assetPrefix}${basename(path)}`)
    if (name !== 'main.tsx') continue
    const needed = imports.filter(({ kind }) => kind === 'import-statement')
    const links = needed.map(
      (one) => `<link rel="modulepreload" href="${assetPrefix}${basename(one.path)}">`,
    )
    names.set('needed', links.join(''))
  }
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  return Buffer.from(
    html.replaceAll(/\{\{([\w.]+)\}\}/g, (_all, name: string) => {
      const found = names.get(name)
      if (found === undefined) throw new Error(`index.html names ${name}, which was not built`)
      return found
    }),
  )
}

function describe(path: string, contents: Uint8Array): BundledFile {
  const extension = path === '/' ? '.html' : extname(path)
  const contentType = contentTypes[extension]
  if (contentType === undefined) throw new Error(`${path} has no content type`)
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  return {
    path,
    contentType,
    tag: `"${createHash('sha256').update(contents).digest('base64url').slice(0, 22)}"`,
    bytes: {
      br: brotliCompressSync(contents, { params }).toString('base64'),
      gzip: gzipSync(contents, { level: 9 }).toString('base64'),
      identity: Buffer.from(contents).toString('base64'),
    },
  }
}

if (import.meta.main) await buildConsole()
