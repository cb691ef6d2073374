// `submit` and `cancel`: they call a service as its customers do.
import { languages } from '#language'
import { CommandError, defineCommand, exitStatuses } from './command.ts'
import type { Option } from './command.ts'
import { readService, serviceOptions } from './service.ts'
import { checkerNames, limitNames } from './submission-request.ts'
import { cancelSubmission, submitFile } from './submit.ts'

const program = {
  language: {
    type: 'string',
    value: 'LANGUAGE',
    help: `${languages.join(', ')}; default: by the file’s name`,
  },
  stdin: { type: 'string', value: 'FILE', help: 'becomes the program’s standard input' },
} as const satisfies Record<string, Option>

const detail = {
  arg: { type: 'string', multiple: true, value: 'WORD', help: 'an argument of the program' },
  'compile-arg': {
    type: 'string',
    multiple: true,
    value: 'WORD',
    help: 'comes after the compiler’s own arguments',
  },
  env: { type: 'string', multiple: true, value: 'NAME=VALUE', help: 'a variable of the program' },
  with: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    help: 'placed next to the program under the same relative path',
  },
  test: {
    type: 'string',
    multiple: true,
    value: 'IN:OUT',
    help: 'two files, input and expected output; IN: accepts any output',
  },
  'output-file': {
    type: 'string',
    multiple: true,
    value: 'NAME',
    help: 'a file the program writes; it is returned and saved under the same name',
  },
  'output-directory': {
    type: 'string',
    value: 'DIRECTORY',
    help: 'where they are saved (default: here)',
  },
  'stop-on-failure': { type: 'boolean', help: 'run no test after the first that is not AC' },
  checker: {
    type: 'string',
    value: 'CHECKER',
    help: `${checkerNames.join(', ')}, or floats:1e-6: numbers may differ by so much, absolute or relative`,
  },
  limit: {
    type: 'string',
    multiple: true,
    value: 'NAME=NUMBER',
    help: `${limitNames.join(', ')}; seconds, bytes`,
  },
  'compile-limit': {
    type: 'string',
    multiple: true,
    value: 'NAME=NUMBER',
    help: 'the same for the compiler',
  },
  network: { type: 'string', value: 'NETWORK', help: 'none, or loopback: 127.0.0.1 and ::1' },
  low: { type: 'boolean', help: 'run after all normal submissions' },
  tag: {
    type: 'string',
    value: 'TEXT',
    help: 'in the record, and a filter of lists',
  },
} as const satisfies Record<string, Option>

const verdictNotes =
  'One of FILE, --stdin and --expected may be -, which is standard input; as FILE it needs --language.\n' +
  'An argument that begins with - is given as --arg=-v. A test is named after its IN.\n' +
  'The program’s stdout is printed on stdout, its stderr or the compiler’s messages on stderr, then the verdict and figures;\n' +
  'with tests those of the first that is not AC, after a line for each test: name, verdict, figures, difference.\n' +
  'Output files are saved however the program ended, and overwrite; with --json they are only in the record.\n' +
  'Exit status: AC 0, WA 1, CE 2, RE 3, TLE 4, MLE 5, OLE 6, cancelled 7, IE 70; with --no-wait 0 when stored. Without a\n' +
  'run: 64 wrong call, 65 refused by the service, 66 a file cannot be read, 69 the service is away, 73 an output file cannot be saved,\n' +
  '77 the key is not valid.'

export const serviceCommands = [
  defineCommand({
    name: 'submit',
    operands: ['FILE'],
    summary: 'run a program at a service, print its output, end with its verdict',
    notes: verdictNotes,
    options: {
      ...program,
      expected: { type: 'string', value: 'FILE', help: 'what the program should print' },
      ...detail,
      wait: { type: 'boolean', default: true, help: 'print the id, and do not wait for the end' },
      stream: {
        type: 'boolean',
        help: 'print output as it comes; Ctrl-C cancels the submission, a second one leaves it',
      },
      json: { type: 'boolean', help: 'print the record as JSON instead of the output' },
      ...serviceOptions,
    },
    run: ({ operands: [file = ''], values }) => {
      const { language, stdin: stdinFile, expected: expectedFile, wait, stream, json } = values
      const asked = { file, language, stdinFile, expectedFile, wait, stream, json, onInterrupt }
      const words = {
        args: values.arg,
        compileArgs: values['compile-arg'],
        env: values.env,
        with: values.with,
        tests: values.test,
        outputFiles: values['output-file'],
        outputDirectory: values['output-directory'],
        stopOnFailure: values['stop-on-failure'],
        checker: values.checker,
        limits: values.limit,
        compileLimits: values['compile-limit'],
        network: values.network,
        isLow: values.low,
        tag: values.tag,
      }
      if ([file, stdinFile, expectedFile].filter((name) => name === '-').length > 1)
        throw new CommandError('submit: standard input can be one file only', exitStatuses.usage)
      return submitFile({ ...asked, ...words, ...readService(values) }, process)
    },
  }),
  defineCommand({
    name: 'cancel',
    operands: ['ID'],
    summary: 'cancel a submission: it is killed if it runs, its output is kept',
    notes:
      'Prints `cancelled`, or the verdict if it had ended before. Exit status: 0; 65 the key has no such submission, 69 the service\n' +
      'is away, 77 the key is not valid.',
    options: {
      json: { type: 'boolean', help: 'print the record as JSON' },
      ...serviceOptions,
    },
    run: ({ operands: [id = ''], values }) =>
      cancelSubmission({ id, json: values.json, ...readService(values) }, process),
  }),
]

function onInterrupt(listener: () => void): () => void {
  process.on('SIGINT', listener)
  return () => process.off('SIGINT', listener)
}
