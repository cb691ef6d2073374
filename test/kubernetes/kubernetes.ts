// `make test-kubernetes`: deploy/kubernetes renders, fits the published schemas, and says what the code says: rights, ends,
// probes, slots, and a query that the database answers. No cluster runs here.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { workerCapabilities } from '../image/container.ts'
import { openTestDatabase } from '../helper/database.ts'
import { findFaults, installSchemas, readSeconds, render } from './manifests.ts'
import type { Resource } from './manifests.ts'

const root = resolve(import.meta.dirname, '../..')
await installSchemas()
const base = await render('base')
const keda = await render('keda')

interface Container {
  readonly args: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
  readonly envFrom: readonly { readonly secretRef: { readonly name: string } }[]
  readonly securityContext: Record<string, unknown> & {
    readonly capabilities: { readonly drop: readonly string[]; readonly add?: readonly string[] }
  }
  readonly resources: { readonly requests: object; readonly limits: object }
  readonly [probe: string]: unknown
}
interface Pod {
  readonly automountServiceAccountToken: boolean
  readonly hostUsers?: boolean
  readonly runtimeClassName?: string
  readonly terminationGracePeriodSeconds: number
  readonly securityContext?: Record<string, unknown>
  readonly containers: readonly Container[]
}

function find(resources: readonly Resource[], kind: string, name: string): Resource {
  const found = resources.find((one) => one.kind === kind && one.metadata.name === name)
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
  return found
}

function podOf(kind: string, name: string): Pod & { container: Container } {
  const { template } = find(base, kind, name)['spec'] as { template: { spec: Pod } }
  const pod = template.spec
  return { ...pod, container: pod.containers[0]! }
}
const web = podOf('Deployment', 'web')
const worker = podOf('Deployment', 'worker')
const migrate = podOf('Job', 'migrate')

t.test('they fit the schemas of Kubernetes and KEDA', async (t) => {
  t.strictSame(await findFaults(keda), [])
  t.equal(keda.length, base.length + 2)
})

t.test('a field, a value or a kind that there is not is found', async (t) => {
  const breaks: readonly [
    RegExp,
    (pod: Record<string, unknown>, whole: { kind: string }) => void,
  ][] = [
    [/hostUser/, (pod) => Object.assign(pod, { hostUser: false })],
    [/must be/, (pod) => Object.assign(pod, { terminationGracePeriodSeconds: '35 s' })],
    [/required property/, (pod) => delete pod['containers']],
    [/no such kind/, (_pod, whole) => Object.assign(whole, { kind: 'Deploymint' })],
  ]
  for (const [words, damage] of breaks) {
    const damaged = structuredClone(find(base, 'Deployment', 'worker'))
    const spec = damaged['spec'] as { template: { spec: Record<string, unknown> } }
    damage(spec.template.spec, damaged)
    t.match((await findFaults([damaged])).join('\n'), words)
  }
})

t.test('web and migrate keep to the level restricted', async (t) => {
  for (const { securityContext, container, hostUsers } of [web, migrate]) {
    t.match(securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    t.match(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
    })
    t.strictSame(container.securityContext.capabilities, { drop: ['ALL'] })
    t.equal(hostUsers, undefined, 'it needs no node of its own')
  }
  t.match(readFileSync(join(root, 'deploy/Containerfile'), 'utf8'), /useradd --uid 10001 /)
  t.equal(web.securityContext?.['runAsUser'], 10001)
})

t.test('a worker has the rights of docs/deploy.md in a user namespace, no more', async (t) => {
  t.equal(worker.hostUsers, false)
  t.equal(worker.runtimeClassName, 'runledger')
  find(base, 'RuntimeClass', 'runledger')
  const { capabilities: given, ...others } = worker.container.securityContext
  t.strictSame([...(given.add ?? [])].toSorted(), [...workerCapabilities].toSorted())
  t.strictSame(given.drop, ['ALL'])
  t.strictSame(others, {
    runAsUser: 0,
    runAsGroup: 0,
    readOnlyRootFilesystem: true,
    procMount: 'Unmasked',
    seccompProfile: { type: 'Localhost', localhostProfile: 'runledger/worker.json' },
    appArmorProfile: { type: 'Unconfined' },
  })
  t.notMatch(JSON.stringify(base), /"privileged":true|hostPath|hostNetwork|hostPID/)
  t.strictSame(worker.container.resources.requests, worker.container.resources.limits)
})

t.test('each ends before it is killed', async (t) => {
  const seconds = async (file: string): Promise<number> =>
    readSeconds(`src/${file}.ts`, 'lastSeconds')
  const { preStop } = web.container['lifecycle'] as { preStop: { sleep: { seconds: number } } }
  t.ok(web.terminationGracePeriodSeconds > (await seconds('server/server')) + preStop.sleep.seconds)
  t.ok(worker.terminationGracePeriodSeconds > (await seconds('worker/worker')))
})

t.test('what is probed is there', async (t) => {
  const routes = readFileSync(join(root, 'src/http/http.ts'), 'utf8')
  const probes = ['startupProbe', 'livenessProbe', 'readinessProbe']
    .map((name) => web.container[name] as { httpGet: { path: string } })
    .map((probe) => probe.httpGet.path)
  t.strictSame(probes, ['/healthz', '/healthz', '/readyz'])
  for (const path of probes) t.ok(routes.includes(`['GET', '${path}'`), path)
  const { exec } = worker.container['readinessProbe'] as { exec: { command: string[] } }
  t.ok(readFileSync(join(root, exec.command[1]!), 'utf8').length > 0)
  t.equal(worker.container['livenessProbe'], undefined)
})

t.test('secrets are named and never written, each process has its own', async (t) => {
  t.strictSame(
    keda.filter(({ kind }) => kind === 'Secret'),
    [],
  )
  t.notMatch(JSON.stringify(keda), /postgres:\/\//)
  for (const [name, pod] of Object.entries({ web, worker, migrate })) {
    t.strictSame(pod.container.envFrom, [{ secretRef: { name: `runledger-${name}` } }])
    t.equal(pod.automountServiceAccountToken, false, name)
    t.strictSame(pod.container.args, [name])
  }
})

t.test('everything is denied that no policy lets through', async (t) => {
  const policies = base.filter(({ kind }) => kind === 'NetworkPolicy')
  const policy = (name: string): unknown => find(base, 'NetworkPolicy', name)['spec']
  t.strictSame(policies.map(({ metadata }) => metadata.name).toSorted(), [
    'database',
    'ingress',
    'metrics',
    'nothing',
    'webhooks',
  ])
  t.strictSame(policy('nothing'), { podSelector: {}, policyTypes: ['Ingress', 'Egress'] })
  for (const name of ['ingress', 'metrics'])
    t.match(
      policy(name),
      { podSelector: { matchLabels: { 'app.kubernetes.io/name': 'web' } } },
      'nobody calls a worker',
    )
})

t.test('the database answers KEDA, and a worker has the slots it is counted with', async (t) => {
  const { triggers } = find(keda, 'ScaledObject', 'worker')['spec'] as {
    triggers: { metadata: Record<string, string> }[]
  }
  const { query = '', targetQueryValue } = triggers[0]!.metadata
  t.equal(targetQueryValue, worker.container.env?.find(({ name }) => name === 'SLOTS')?.value)
  t.match(worker.container.resources.limits, { cpu: targetQueryValue })
  t.notOk('replicas' in (find(keda, 'Deployment', 'worker')['spec'] as object))
  const { sql } = await openTestDatabase(t)
  t.strictSame([...(await sql.unsafe(query).values())], [[0]])
})

t.test('the seccomp profile lets through what makes a box', async (t) => {
  const profile = JSON.parse(
    readFileSync(join(root, 'deploy/kubernetes/node/worker.json'), 'utf8'),
  ) as { defaultAction: string; syscalls: { names: string[]; action: string }[] }
  t.equal(profile.defaultAction, 'SCMP_ACT_ALLOW')
  const actions = profile.syscalls.map(({ action }) => action)
  t.strictSame(actions, ['SCMP_ACT_ERRNO'])
  const denied = profile.syscalls[0]!.names
  t.strictSame(denied, [...new Set(denied)].toSorted())
  for (const name of [
    'unshare',
    'clone',
    'mount',
    'pivot_root',
    'move_mount',
    'fsopen',
    'open_tree',
    'seccomp',
    'ptrace',
    'setns',
  ])
    t.notOk(denied.includes(name), name)
})
