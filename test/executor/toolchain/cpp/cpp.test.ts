// Sources that attack their C++ compiler: every bomb ends within the compiler's own limits.
import t from 'tap'
import {
  execute,
  patientLimits,
  run,
  scaleLimits,
  startExecutor,
  timeFactor,
} from '../../../helper/executor.ts'

const mebibyte = 1024 * 1024
const executor = await startExecutor(t, {
  languages: ['cpp'],
  limits: scaleLimits(
    {},
    { cpuSeconds: 1, wallSeconds: 30, memoryBytes: 128 * mebibyte, stdoutBytes: 4 * mebibyte },
  ),
})

t.test('a template bomb passes the CPU or the memory limit', async (t) => {
  const code =
    'template <int N> struct F { static const int v = F<N - 1>::v + F<N - 2>::v * 1; };\n#include <regex>\n#include <bits/stdc++.h>\nconstexpr long f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\nstatic_assert(f(33) != 1);\nint main() {}'
  const outcome = await execute(executor, 'cpp', code)
  t.match(outcome.compile!.ending, /^(cpu_limit|memory_limit)$/)
  t.equal(outcome.run, null)
})

t.test('endless messages are stopped and the first 64 KiB kept', async (t) => {
  const code = '#error a line of words that the compiler repeats\n'.repeat(1300)
  const outcome = await execute(executor, 'cpp', code)
  t.equal(outcome.run, null)
  t.equal(outcome.compile!.stderr.length, 64 * 1024)
  t.equal(outcome.compile!.stderrTruncated, true)
})

t.test('a program too large to leave the box is stopped', async (t) => {
  const code = 'char big[20 << 20] = {1};\nint main() { return big[5]; }'
  const outcome = await execute(executor, 'cpp', code)
  t.equal(outcome.run, null)
  t.match(outcome.compile!.ending, /^(output_limit|cpu_limit|memory_limit|exited)$/)
})

t.test('an include of itself is a compile error', async (t) => {
  const outcome = await execute(executor, 'cpp', '#include __FILE__\nint main() {}')
  t.equal(outcome.run, null)
  t.not(outcome.compile!.exitCode, 0)
})

t.test('an include that never ends is stopped', async (t) => {
  const outcome = await execute(executor, 'cpp', '#include "/dev/zero"\nint main() {}')
  t.equal(outcome.run, null)
  t.ok(outcome.compile!.usage.wallSeconds < 31 * timeFactor)
})

t.test("a limit is not remembered as the code's fault", async (t) => {
  const code = '#include <bits/stdc++.h>\nint main() { std::puts("late"); }'
  const limits = scaleLimits({}, { memoryBytes: 24 * mebibyte }).cpp
  for (let round = 0; round < 2; round += 1) {
    const outcome = await execute(executor, 'cpp', code, '', { limits })
    t.match(outcome, { compileCached: false, compile: { ending: 'memory_limit' } })
  }
})

t.test('a compile error is remembered', async (t) => {
  const first = await execute(executor, 'cpp', 'int main() { return nothing; }')
  const second = await execute(executor, 'cpp', 'int main() { return nothing; }')
  t.equal(first.compileCached, false)
  t.equal(second.compileCached, true)
  t.equal(second.compile!.stderr, first.compile!.stderr)
})

t.test('C++20 with its threads and its library works', async (t) => {
  const code =
    '#include <bits/stdc++.h>\nint main() { std::vector<int> v(1000); std::iota(v.begin(), v.end(), 0); long sum = 0; { std::jthread t([&] { for (int x : v | std::views::filter([](int n) { return n % 2; })) sum += x; }); } std::cout << sum << "\\n"; }'
  const expected = { exitCode: 0, stdout: '250000\n', stderr: '' }
  t.match(await run(executor, 'cpp', code, '', { limits: patientLimits.cpp }), expected)
})
