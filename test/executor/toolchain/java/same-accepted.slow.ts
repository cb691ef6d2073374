// The resident javac compiles what javac compiles, to the same class files, with the same warnings.
import t from 'tap'
import { compareAll } from './comparison.ts'
import { accepted } from './example.ts'

t.test('programs come out of the resident as out of a box', (t) => compareAll(t, accepted))
