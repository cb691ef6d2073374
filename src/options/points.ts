// Points: either each test has points, or groups of tests have points that are given when all tests of the group pass.
import * as v from 'valibot'
import { described } from '#schema'
import { fields, list } from './fields.ts'
import { fits, isNotEmpty, wellFormedTextWithoutNul } from './text.ts'

const pointsMost = 1_000_000
const groupsMost = 50
const nameBytesMost = 64

const points = v.pipe(
  v.number('must be a number'),
  v.minValue(0, 'must be at least 0'),
  v.maxValue(pointsMost, `must be at most ${pointsMost}`),
)

const name = v.pipe(
  wellFormedTextWithoutNul,
  isNotEmpty,
  fits(nameBytesMost),
  v.metadata({ maxLength: nameBytesMost }),
)

/** The fields of a test that concern points. All are optional. */
export const testPointEntries = {
  points: v.optional(
    described(
      points,
      'The points for passing the test; the record has the sum as score. Not together with groups.',
    ),
  ),
  group: v.optional(
    described(name, 'The name of the group to which the test belongs; it must be in groups.'),
  ),
} as const

const group = fields(
  {
    name,
    points: described(points, 'The group’s points, given when all of its tests pass.'),
    require_pass: v.optional(
      described(
        list(name, 'names', groupsMost),
        'Names of earlier groups. Unless all of them have passed, the tests of this group are not run and it gets no points.',
      ),
    ),
  },
  'a group',
)

export const groupsSchema = v.pipe(
  list(group, 'groups', groupsMost),
  v.minLength(1, 'holds no group'),
  v.description(
    'Groups of tests, each with its points. With stop_on_failure the tests of a group after the first one that is not AC are not run; the tests of other groups are. Tests without a group have no points.',
  ),
)
