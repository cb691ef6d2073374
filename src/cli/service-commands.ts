// The commands `submit` and `cancel`, which call a service as its customers do.
import { defineCommand, flag, misuse } from './command.ts'
import { readService, serviceOptions } from './service.ts'
import { requestOptions } from './submission-request.ts'
import { cancelSubmission, submitFile } from './submit.ts'

const verdictNotes =
  'One of FILE, --stdin and --expected may be - for standard input; with - as FILE, --language is required.\n' +
  'Give an argument that begins with - as --arg=-v. A test is named after its IN file.\n' +
  'The program’s stdout is printed on stdout, its stderr or the compiler’s messages on stderr, then the verdict and figures;\n' +
  'with tests, those of the first test that is not AC, after a line for each test: name, verdict, figures, difference.\n' +
  'Output files are saved whatever the verdict, and overwrite existing files; with --json they are only in the record.\n' +
  'Exit status: AC 0, WA 1, CE 2, RE 3, TLE 4, MLE 5, OLE 6, cancelled 7, IE 70; with --no-wait 0 when stored. On\n' +
  'failure: 64 wrong arguments, 65 refused by the service, 66 a file cannot be read, 69 the service is unreachable, 73 an output file\n' +
  'cannot be saved, 77 the key is not valid.'

export const serviceCommands = [
  defineCommand({
    name: 'submit',
    operands: ['FILE'],
    summary: 'run a program on a service, print its output, exit with its verdict',
    notes: verdictNotes,
    options: {
      ...requestOptions,
      wait: flag('print the id, and do not wait for the result', true),
      stream: flag(
        'print output as it comes; Ctrl-C cancels the submission, a second Ctrl-C exits at once',
      ),
      json: flag('print the record as JSON instead of the output'),
      ...serviceOptions,
    },
    run: ({ operands: [file = ''], values }) => {
      if ([file, values.stdin, values.expected].filter((name) => name === '-').length > 1)
        throw misuse('submit: only one of FILE, --stdin and --expected may be -')
      return submitFile({ ...values, file, onInterrupt, ...readService(values) }, process)
    },
  }),
  defineCommand({
    name: 'cancel',
    operands: ['ID'],
    summary: 'cancel a submission: it is killed if it runs, its output is kept',
    notes:
      'Prints `cancelled`, or the verdict if the submission had ended before. Exit status: 0; 65 the key has no such submission,\n' +
      '69 the service is unreachable, 77 the key is not valid.',
    options: { json: flag('print the record as JSON'), ...serviceOptions },
    run: ({ operands: [id = ''], values }) =>
      cancelSubmission({ id, json: values.json, ...readService(values) }, process),
  }),
]

function onInterrupt(listener: () => void): () => void {
  process.on('SIGINT', listener)
  return () => process.off('SIGINT', listener)
}
