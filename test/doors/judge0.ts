// The Judge0 door with third-party clients.
import t from 'tap'
import { ask } from './clients.ts'
import { startDoorService } from './service.ts'

const { service, key } = await startDoorService(t, 'python,cpp,c')
const environment = { SERVER: `${service}/judge0`, KEY: key }

t.test('judge0 of PyPI, the official one', async (t) => {
  const script = `
import json, os, judge0
from judge0 import Client, Submission, LanguageAlias, File, Filesystem, TestCase
client = Client(os.environ["SERVER"], headers={"X-Auth-Token": os.environ["KEY"]})
one = judge0.run(client=client, source_code="print('Hello, ' + input() + '!')", language=LanguageAlias.PYTHON, stdin="Bob")
cases = judge0.run(client=client, source_code="print(int(input()) ** 2)", language=LanguageAlias.PYTHON3,
  test_cases=[TestCase("2", "4"), TestCase("3", "9"), TestCase("3", "8")])
bad = judge0.run(client=client, source_code="int main( {", language=LanguageAlias.CPP)
late = judge0.run(client=client, source_code="while True: pass", language=LanguageAlias.PYTHON, cpu_time_limit=0.5)
files = Submission(source_code="print(open('data/a.txt').read())", language=LanguageAlias.PYTHON,
  additional_files=Filesystem(content=[File(name="data/a.txt", content="from a file")]))
files = judge0.run(client=client, submissions=files)
c = judge0.run(client=client, source_code='#include <stdio.h>\\nint main(int n, char **v) { printf("%s %d", v[1], N); }',
  language=LanguageAlias.C, compiler_options="-DN=3", command_line_arguments="'a b'")
print(json.dumps({"version": client.version, "one": [one.stdout, str(one.status), one.time >= 0, one.memory > 0, one.exit_code],
  "source": one.source_code, "cases": [c.status for c in cases], "bad": [bad.status, "error" in bad.compile_output],
  "late": late.status, "files": files.stdout, "c": c.stdout, "batch": client.config.max_submission_batch_size}))`
  t.match(await ask('python', script, environment), {
    version: '1.13.1',
    one: ['Hello, Bob!\n', 'Accepted', true, true, 0],
    source: "print('Hello, ' + input() + '!')",
    cases: [3, 3, 4],
    bad: [6, true],
    late: 5,
    files: 'from a file\n',
    c: 'a b 3',
    batch: 20,
  })
})

t.test('judge0-client of PyPI', async (t) => {
  const script = `
import asyncio, json, os
from judge0_client import Judge0Client, SingleFileSubmission
async def main():
    async with Judge0Client(os.environ["SERVER"], auth_token=os.environ["KEY"]) as client:
        created = await client.create_submission(SingleFileSubmission(source_code="import sys; print(input() + open('b').read()); sys.exit(3)",
            language_id=71, stdin="é", additional_files={"b": "two"}))
        while (found := await client.get_submission(created.token)).status.id < 3: await asyncio.sleep(0.1)
        try: await client.create_submission(SingleFileSubmission(source_code="", language_id=1000)); error = None
        except Exception as e: error = str(e)
        print(json.dumps({"status": found.status.id, "out": found.stdout, "message": found.message, "error": error,
            "about": (await client.get_about()).version, "workers": (await client.get_workers())[0].available,
            "isolate": await client.get_isolate(), "license": await client.get_license()}))
asyncio.run(main())`
  t.match(await ask('python', script, environment), {
    status: 11,
    out: 'étwo\n',
    message: 'Exited with error status 3',
    error: /HTTP 422: .*language with id 1000 doesn't exist/,
    about: '1.13.1',
    workers: Number,
    isolate: /Runledger/,
    license: /MIT/,
  })
})
