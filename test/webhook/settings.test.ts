// The defaults of sending, and which authorities are trusted.
import t from 'tap'

import { createDeliverySettings, trustAuthorities } from '#webhook'
import { ownAddresses } from '#webhook-address'

import { createAuthority } from './certificate.ts'

t.test('the defaults are the limits of the contract', async (t) => {
  const settings = createDeliverySettings({ version: '1.0.0' })
  t.match(settings, {
    totalSeconds: 15,
    dnsSeconds: 5,
    connectSeconds: 5,
    snippetBytes: 4096,
    version: '1.0.0',
  })
  t.same(settings.allowedPorts, [443])
  t.same(settings.allowedRanges, [])
  t.equal(settings.deniedRanges, ownAddresses)
  t.equal(createDeliverySettings({ version: '1', totalSeconds: 1 }).totalSeconds, 1)
})

t.test('text that holds no readable certificate is refused at start', async (t) => {
  t.throws(() => trustAuthorities('certificate'), { name: 'TypeError' })
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'
  t.throws(() => trustAuthorities(broken), /certificate 1 cannot be read/)
  const authority = createAuthority()
  t.teardown(() => authority.remove())
  t.throws(() => trustAuthorities(`${authority.pem}\n${broken}`), /certificate 2 cannot be read/)
  t.doesNotThrow(() => trustAuthorities(authority.pem))
  t.doesNotThrow(() => trustAuthorities(''))
})
