// nginx with the configuration of deploy/cells, with loopback addresses and without the certificate.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { findPort } from '#embedded-postgres'
import { findLibraries, findTree } from '../helper/packages.ts'

const configuration = resolve(import.meta.dirname, '../../deploy/cells/nginx.conf')
const program = 'usr/sbin/nginx'

/**
 * Starts nginx.
 * @param ports of the web process of each cell, in the order of the file.
 * @returns its port; it ends with the test.
 */
export async function startRouter(t: Test, ports: readonly number[]): Promise<number> {
  const tree = findTree(program, 'nginx', ['nginx'])
  const directory = mkdtempSync(join(tmpdir(), 'runledger-cells-'))
  const port = await findPort(0)
  const left = [...ports]
  const shown = readFileSync(configuration, 'utf8')
    .replaceAll(/^ {2}ssl_certificate.*\n/gm, '')
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replaceAll(/server 10\.0\.\d+\.1:3000;/g, () => `server 127.0.0.1:${left.shift()};`)
  if (left.length > 0) throw new Error('deploy/cells/nginx.conf has not a cell for each port')
  writeFileSync(
    join(directory, 'nginx.conf'),
    `daemon off; master_process off; pid ${directory}/pid; error_log stderr crit;
     events {}
     http {
       access_log off;
       ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}
       ${shown}
     }`,
  )
  const child = spawn(join(tree, program), ['-p', directory, '-c', join(directory, 'nginx.conf')], {
    stdio: 'inherit',
    env: { ...(tree !== '/' && { LD_LIBRARY_PATH: findLibraries(tree) }) },
  })
  t.teardown(() => {
    child.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  })
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error('nginx did not start')
    await sleep(20)
  }
  return port
}

function isListening(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => done(true)).once('error', () => done(false))
    socket.once('connect', () => socket.destroy())
  })
}
