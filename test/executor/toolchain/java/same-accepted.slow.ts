// The resident javac compiles what javac compiles, to the same class files, with the same warnings.
import t from 'tap'
import { compareAll, seconds } from './comparison.ts'
import { accepted } from './example.ts'

t.setTimeout(seconds * 1000)
t.test('programs come out of the resident as out of a box', { timeout: seconds * 1000 }, (t) =>
  compareAll(t, accepted),
)
