// The log never holds what a caller sent or a secret.
import t from 'tap'
import { createLog, redactedPaths } from '#log'

t.test('code, inputs, outputs and secrets are replaced wherever a field holds them', async (t) => {
  let text = ''
  const log = createLog('test', 'info', { write: (line: string) => (text += line) })
  const names = redactedPaths.filter((path) => !path.includes('*'))
  for (const name of names)
    log.info({ [name]: 'CANARY', nested: { [name]: 'CANARY' } }, 'test.logged')
  t.notMatch(text, 'CANARY')
  t.equal(text.match(/\[redacted\]/g)?.length, names.length * 2)
})

t.test('a line says when, where and what', async (t) => {
  let text = ''
  createLog('web', 'info', { write: (line: string) => (text += line) }).info(
    { port: 3000 },
    'web.started',
  )
  t.match(JSON.parse(text), {
    level: 'info',
    name: 'web',
    port: 3000,
    msg: 'web.started',
    time: /Z$/,
  })
})

t.test('the code of an error is shown', async (t) => {
  let text = ''
  const log = createLog('test', 'info', { write: (line: string) => (text += line) })
  log.error({ err: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) }, 'test.failed')
  t.match(JSON.parse(text), { err: { error_code: 'ECONNREFUSED', message: 'refused' } })
})
