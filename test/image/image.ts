// The image as an operator runs it: what fails without rights, the main job in every language, attacks over HTTP, the users
// of the processes, and that it stops, restarts and loses nothing. `make test-image` builds the image and runs this.
import { readdirSync } from 'node:fs'
import t from 'tap'
import type { Test } from 'tap'
import { issueKey } from '#account'
import { createClient } from '#client'
import type { Result } from '#client'
import { createDatabase } from '#database'
import { findPort } from '#embedded-postgres'
import { catalogue } from '#language'
import type { Language } from '#language'
import { openTestDatabase } from '../helper/database.ts'
import { accelerated } from '../helper/executor.ts'
import { copy } from '../helper/program.ts'
import { listLanguages } from '../hostile/attack.ts'
import type { Fate } from '../hostile/attack.ts'
import { attacks } from '../hostile/attack/attacks.ts'
import {
  begin,
  giveRights,
  hasCgroupV1,
  image,
  keepLimits,
  patientCompilers,
  plainRights,
  podman,
  startContainer,
  uncoveredProc,
  workerCapabilities,
  workerRights,
} from './container.ts'
import type { Container, Ended } from './container.ts'

type Submit = (
  language: Language,
  code: string,
  stdin?: string,
  network?: 'none' | 'loopback',
) => Promise<Result>

/** Returns a caller of the service at this port, with a new key. */
async function createSubmit(url: string, port: number): Promise<Submit> {
  const sql = createDatabase({ url, connections: 1, name: 'test image' })
  const { key } = await issueKey(sql, { account: 'image', tier: 'unlimited' }, 'test')
  await sql.end({ timeout: 2 })
  const client = createClient({ url: `http://127.0.0.1:${port}`, apiKey: key, retries: 20 })
  return (language, code, stdin = '', network = 'none') =>
    client.run({ language, code, stdin, network })
}

async function startAll(
  t: Test,
): Promise<{ all: Container; submit: Submit; url: string; origin: string }> {
  const { url } = await openTestDatabase(t)
  const port = await findPort(0)
  const environment = {
    DATABASE_URL: url,
    PORT: String(port),
    SLOTS: '2',
    CPP_PRECOMPILED_HEADERS: 'off',
    ...patientCompilers,
  }
  const begunAt = performance.now()
  const all = await startContainer(t, workerRights, environment, 'all')
  await all.logged(/worker\.started/)
  t.comment(`started after ${((performance.now() - begunAt) / 1000).toFixed(1)} s`)
  return { all, submit: await createSubmit(url, port), url, origin: `http://127.0.0.1:${port}` }
}

const askDoctor = (...rights: readonly string[]): Promise<Ended> =>
  podman('run', '--rm', '--network=host', ...keepLimits(), ...rights, ...image, 'doctor')

t.test('without rights the worker refuses, and the doctor names the missing flags', async (t) => {
  const { url } = await openTestDatabase(t)
  const worker = await podman(
    'run',
    '--rm',
    '--network=host',
    ...keepLimits(),
    `--env=DATABASE_URL=${url}`,
    ...image,
    'worker',
  )
  t.equal(worker.status, 69)
  t.match(worker.text, /does not start without isolation/)
  const doctor = await askDoctor()
  t.equal(doctor.status, 1)
  t.match(doctor.text, /✗ container cgroup +read-only/)
  t.match(doctor.text, /podman run --cap-add=SYS_PTRACE,SYS_ADMIN …/)
  t.match(doctor.text, /docker run --cap-add=SYS_PTRACE --cap-add=SYS_ADMIN …/)
})

t.test('with the rights that docs/deploy.md names the doctor lacks nothing', async (t) => {
  const { status, text } = await askDoctor(...workerRights)
  t.equal(status, 0)
  t.notMatch(text, /✗/, text)
})

t.test('the doctor names the one flag that is missing, for podman and for docker', async (t) => {
  // The rights are the same for each language, and a doctor that looks at Java compiles something.
  const ask = (...rights: readonly string[]): Promise<Ended> =>
    askDoctor('--env=LANGUAGES=python', ...rights)
  for (const capability of workerCapabilities) {
    const others = workerCapabilities.filter((other) => other !== capability)
    const { status, text } = await ask(...giveRights(others, uncoveredProc))
    const flag = `--cap-add=${capability}`
    t.equal(status, 1, `not without ${capability}`)
    t.match(text, RegExp(`✗ container caps +no ${capability} \\([^,]+\\)\n`), capability)
    t.match(text, `→ podman run ${flag} …; docker run ${flag} …\n`, `${flag} is the remedy`)
  }
  const { status, text } = await ask(...giveRights(workerCapabilities))
  t.equal(status, 1, 'not where /proc is covered')
  t.match(text, /! container proc +\d+ paths are masked/)
  const ofDocker = '--security-opt=systempaths=unconfined'
  t.match(text, `→ podman run ${uncoveredProc} …; docker run ${ofDocker} …\n`)
})

t.test('all in one', async (t) => {
  const { all, submit, origin } = await startAll(t)

  for (const language of accelerated)
    t.test(`${language} runs`, async (t) => {
      const { verdict, stdout } = await submit(language, copy[language], 'hello\n')
      t.strictSame({ verdict, stdout }, { verdict: 'AC', stdout: 'hello\n' })
    })

  t.test('javascript and typescript, which need no package, run', async (t) => {
    for (const language of ['javascript', 'typescript'] as const) {
      const { verdict, stdout } = await submit(language, catalogue[language].example)
      t.strictSame({ verdict, stdout }, { verdict: 'AC', stdout: 'Hello, world!\n' }, language)
    }
  })

  t.test('boxes are made by keepers', async (t) => {
    t.match(await all.log(), /"isolation":{"box":"keeper"/)
  })

  t.test('a javac stays up', async (t) => {
    t.notMatch(await all.log(), /executor\.fallback/)
  })

  t.test('it has the page that was built for it', async (t) => {
    const page = await (await fetch(origin)).text()
    const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(page) ?? []
    t.match(script, /^\/console\//)
    t.equal((await fetch(`${origin}${script}`)).status, 200)
  })

  t.test('it is healthy by its own check', async (t) => {
    t.strictSame(await all.checkHealth(), { status: 0, text: 'healthy\n' })
  })

  t.test('web is nobody, and the worker has no right to administer', async (t) => {
    const { text } = await podman(
      'exec',
      all.name,
      'sh',
      '-c',
      'for p in /proc/[0-9]*; do echo "$(tr "\\0" " " <$p/cmdline)" $(grep -E "^(Uid|CapBnd|CapEff)" $p/status); done',
    )
    const status = (entry: string): string =>
      text.split('\n').find((line) => /^(?:\/\S*\/)?node /.test(line) && line.includes(entry)) ?? ''
    t.match(status('src/server/server.ts'), /Uid: 10001 .*CapEff: 0+ CapBnd: 0+$/)
    const bounds = BigInt(
      `0x${/CapBnd: ([0-9a-f]+)/.exec(status('src/worker/worker.ts'))?.[1] ?? 'f'.repeat(10)}`,
    )
    const administration = 1n << 21n
    t.equal(bounds & administration, 0n)
  })

  t.test('attacks are held', async (t) => {
    const rows = listAttacks()
    t.ok(rows.length > 80)
    let escaped = 0
    const waiting = rows.values()
    const take = async (): Promise<void> => {
      for (const row of waiting) await hold(row)
    }
    const hold = async ({ attack, language }: (typeof rows)[number]): Promise<void> => {
      const { verdict, stdout, stderr } = await submit(
        language,
        attack.code[language]!,
        attack.stdin,
        attack.network,
      )
      const name = `${attack.name} [${language}]`
      const words = `${verdict} ${stdout?.slice(-500)} ${stderr?.slice(-500)}`
      t.ok(
        attack.fates.some((fate) => verdicts[fate] === verdict),
        `ends rightly: ${name}`,
        { words },
      )
      const isHeld = t.notMatch(stdout ?? '', /^(ESCAPED|UNSURE)/m, `held: ${name}`)
      if (!isHeld) escaped += 1
    }
    await Promise.all(Array.from({ length: 4 }, take))
    t.comment(`image: ${rows.length} attacks, ${escaped} escaped`)
    t.equal((await submit('python', copy.python, 'hello')).verdict, 'AC')
  })

  t.test('told to stop it ends well, and leaves no group', async (t) => {
    t.equal(await all.stop(), 0)
    t.match(await all.log(), /worker\.stopped/)
    t.strictSame(listGroups(), [])
  })

  t.test('started again it works', async (t) => {
    const again = await begin(all.name)
    await again.logged(/worker\.stopped[^]*worker\.started/)
    t.equal((await submit('cpp', copy.cpp, 'again')).stdout, 'again')
    t.equal((await again.checkHealth()).status, 0)
  })
})

t.test('a worker that is killed loses nothing: another container takes its run over', async (t) => {
  const { url } = await openTestDatabase(t)
  const port = await findPort(0)
  const environment = {
    DATABASE_URL: url,
    SLOTS: '1',
    CPP_PRECOMPILED_HEADERS: 'off',
    ...patientCompilers,
  }
  const migrate = await startContainer(t, plainRights, environment, 'migrate')
  const web = await startContainer(t, plainRights, { ...environment, PORT: String(port) }, 'web')
  const first = await startContainer(t, workerRights, environment, 'worker')
  await Promise.all([
    migrate.logged(/database\.migrated/),
    web.logged(/web\.started/),
    first.logged(/worker\.started/),
  ])
  const submit = await createSubmit(url, port)
  const nap = submit('python', 'import time\ntime.sleep(3)\nprint("slept")')
  await waitForStart(url)
  await podman('kill', '--signal=KILL', first.name)
  t.not((await first.checkHealth()).status, 0)
  const second = await startContainer(
    t,
    workerRights,
    { ...environment, FIRST_UID: '62000' },
    'worker',
  )
  t.equal((await nap).stdout, 'slept\n')
  t.strictSame(await second.checkHealth(), { status: 0, text: 'healthy\n' })
  t.strictSame(await web.checkHealth(), { status: 0, text: 'healthy\n' })
  t.equal(await web.stop(), 0)
  t.equal(await second.stop(), 0)
})

/**
 * Returns the attacks of the hostile suite that look for a way out, each in one language, except those that name things of a
 * host; and a few bombs.
 */
function listAttacks(): { attack: (typeof attacks)[number]; language: Language }[] {
  const bombs = /^(a fork bomb|touched memory|a flood of output|a comet that|daemons that)/
  return attacks
    .filter(({ name, profile }) => profile === 'probe' || bombs.test(name))
    .filter(({ code }) => !/@[A-Z_]+@/.test(Object.values(code).join('')))
    .filter(({ fates, name }) => fates.length === 1 || bombs.test(name))
    .flatMap((attack) =>
      listLanguages(attack.code)
        .slice(0, 1)
        .map((language) => ({ attack, language })),
    )
}

const verdicts: Readonly<Partial<Record<Fate, string>>> = {
  exited: 'AC',
  crashed: 'RE',
  signaled: 'RE',
  memory_limit: 'MLE',
  cpu_limit: 'TLE',
  wall_limit: 'TLE',
  output_limit: 'OLE',
}

async function waitForStart(url: string): Promise<void> {
  const sql = createDatabase({ url, connections: 1, name: 'test image' })
  while ((await sql`select from audit.event where type = 'execution.started'`).length === 0);
  await sql.end({ timeout: 2 })
}

/** Returns the cgroups of workers that are left anywhere below podman's. */
function listGroups(): string[] {
  const top = hasCgroupV1 ? '/sys/fs/cgroup/memory' : '/sys/fs/cgroup'
  return readdirSync(top, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /libpod.*\/runledger-\d/.test(path),
  )
}
