// The resident javac makes the same class files as a javac started for one source, and refuses the same sources with the
// same messages.
import t from 'tap'
import { compareAll } from './comparison.ts'
import { accepted, refused } from './example.ts'

t.test('programs come out of the resident as out of a box', (t) => compareAll(t, accepted))
t.test('mistakes are answered by the resident as in a box', (t) => compareAll(t, refused))
