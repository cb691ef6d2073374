// A channel is a way in which one run might leave a message for another. A row has, in each language where it makes sense,
// the statements of a sender and of a receiver. One program plays either end, selected by its argument or its input, so that
// it compiles once. `send` stays for some time after it has sent, `leave` ends at once. A receiver looks repeatedly for some
// time. `open` says whether the channel works inside one box. That case runs first, because a receiver that cannot receive
// would prove nothing.
import type { Network } from '#executor'
import { toErrors, wrapBody } from './program.ts'
import type { Attacker } from './program.ts'

export interface Ends {
  /** Declarations that both ends share (C++ and Java: outside functions). */
  readonly shared?: string
  /** Statements that leave the message. */
  readonly send: string
  /** Statements (C++ and Java) or an expression (Python) whose value is true once the message has arrived. */
  readonly receive: string
}

export interface Channel {
  readonly name: string
  /** True when the channel works between two ends in one box. */
  readonly open: boolean
  /** The network of both ends; `none` by default. */
  readonly network?: Network | undefined
  readonly code: Partial<Record<Attacker, Ends>>
}

const bodies: Readonly<Record<Attacker, (ends: Ends) => string>> = {
  python: ({ shared = '', send, receive }) => `
role = sys.argv[1] if len(sys.argv) > 1 else sys.stdin.read()
${shared}
def send():
    try:
${indent(send, 8)}
    except (OSError, ValueError) as error: print("send refused", error, flush=True)
    print("sent", flush=True)
def receive():
    try: return bool(${receive})
    except (OSError, ValueError): return False
if role != "receive": send()
if role == "send": time.sleep(0.9)
elif role != "leave":
    end = time.monotonic() + 0.6
    while not receive() and time.monotonic() < end and role != "both": time.sleep(0.02)
    print("RECEIVED" if receive() else "nothing", flush=True)
`,
  cpp: ({ shared = '', send, receive }) => `
${shared}
static void do_send() { ${send} }
static bool do_receive() { ${receive} }
//main
char role[16] = ""; if (count > 1) strncpy(role, words[1], 15); else read(0, role, 15); bool both = !strcmp(role, "both");
if (strcmp(role, "receive")) { do_send(); puts("sent"); }
if (!strcmp(role, "send")) usleep(900000);
else if (strcmp(role, "leave")) {
  bool got = false;
  for (int i = 0; i < 30 && !(got = do_receive()) && !both; i++) usleep(20000);
  puts(got ? "RECEIVED" : "nothing");
}
`,
  java: ({ shared = '', send, receive }) => `
${shared}
static void send() throws Exception { try { ${send} } catch (IOException | RuntimeException error) { System.out.println("send refused " + error); } System.out.println("sent"); }
static boolean receive() { try { ${receive} } catch (Exception error) { return false; } }
//main
String role = words.length > 0 ? words[0] : new String(System.in.readAllBytes()); boolean both = role.equals("both");
if (!role.equals("receive")) send();
if (role.equals("send")) Thread.sleep(900);
else if (!role.equals("leave")) {
  boolean got = false;
  for (int i = 0; i < 30 && !(got = receive()) && !both; i++) Thread.sleep(20);
  System.out.println(got ? "RECEIVED" : "nothing");
}
`,
}

function indent(text: string, width: number): string {
  return text
    .trim()
    .split('\n')
    .map((line) => ' '.repeat(width) + line)
    .join('\n')
}

/** Returns the program that plays both ends. As an interactor it prints to stderr. */
export function wrapChannel(language: Attacker, ends: Ends, isInteractor = false): string {
  const body = bodies[language](ends)
  if (!isInteractor) return wrapBody(language, body)
  const first = toErrors[language]
  const spoken = body.includes('//main\n')
    ? body.replace('//main\n', `//main\n${first}\n`)
    : `${first}\n${body}`
  return wrapBody(language, spoken)
}
