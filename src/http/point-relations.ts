// What is wrong between tests, their points and their groups, which are each right by themselves.
import type { Issue } from '#error'
import type { GroupOption, Options, TestOption } from '#options'

/** @param has whether a field of the submission is there, also one that is wrong by itself. */
export function* judgePoints(
  { tests, groups }: Pick<Options, 'tests' | 'groups'>,
  has: (name: string) => boolean,
): Generator<Issue> {
  if (has('groups') && !has('tests')) yield { path: 'groups', message: 'needs tests' }
  for (const [index, { points, group }] of tests?.entries() ?? []) {
    const at = `tests.${index}`
    if (points !== undefined && has('groups'))
      yield { path: `${at}.points`, message: 'cannot be combined with groups' }
    if (group === undefined) continue
    if (!has('groups')) yield { path: `${at}.group`, message: 'needs groups' }
    else if (groups?.every(({ name }) => name !== group) === true)
      yield { path: `${at}.group`, message: 'is not the name of a group' }
  }
  if (groups !== undefined) yield* judgeGroups(groups, tests)
}

function* judgeGroups(
  groups: readonly GroupOption[],
  tests: readonly TestOption[] | undefined,
): Generator<Issue> {
  const places = Map.groupBy(tests?.keys() ?? [], (index) => tests?.[index]?.group)
  const earlier = new Set<string>()
  for (const [index, { name, require_pass: required = [] }] of groups.entries()) {
    const at = `groups.${index}`
    if (earlier.has(name)) yield { path: `${at}.name`, message: 'is the name of an earlier group' }
    const [first] = places.get(name) ?? []
    if (tests !== undefined && first === undefined) yield { path: at, message: 'has no test' }
    for (const [place, other] of required.entries()) {
      const path = `${at}.require_pass.${place}`
      const last = places.get(other)?.at(-1)
      if (!earlier.has(other)) yield { path, message: 'is not the name of an earlier group' }
      else if (first !== undefined && last !== undefined && last > first)
        yield { path, message: 'has a test behind the first one of this group' }
    }
    earlier.add(name)
  }
}
