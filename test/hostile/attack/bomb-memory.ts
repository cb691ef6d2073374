// Bombs of memory: every kind of memory that the kernel or a runtime holds for a program.
import { bomb, stopped } from '../attack.ts'
import type { Attack } from '../attack.ts'

const raw = String.raw

export const memoryBombs: readonly Attack[] = [
  bomb('touched memory meets the limit', ['memory_limit'], {
    python: raw`
held = []
while True: held.append(bytearray(b"x") * (1 << 20))`,
    cpp: raw`for (;;) hold(1 << 20);`,
    java: raw`var held = new ArrayList<byte[]>(); while (true) held.add(new byte[1 << 20]);`,
  }),
  bomb('a program that catches its want of memory and goes on is stopped', ['memory_limit'], {
    java: raw`var held = new ArrayList<byte[]>(); while (true) { try { held.add(new byte[1 << 20]); } catch (OutOfMemoryError full) { } }`,
    python: raw`
held = []
while True:
    try: held.append(bytearray(b"x") * (1 << 20))
    except MemoryError: pass`,
  }),
  bomb('shared anonymous mappings meet the limit', ['memory_limit'], {
    python: raw`
import mmap
held = mmap.mmap(-1, 512 << 20)
for i in range(0, len(held), 4096): held[i] = 1`,
    cpp: raw`
char *held = (char *)mmap(nullptr, 512 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
for (long i = 0; i < 512 << 20; i += 4096) held[i] = 1;`,
  }),
  bomb('page tables meet the limit', ['memory_limit'], {
    cpp: raw`
long size = 1l << 40;
char *held = (char *)mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
if (held == MAP_FAILED) { perror("mmap"); return 9; }
madvise(held, size, MADV_NOHUGEPAGE);
// Reading maps the one zero page: what is charged is the tables.
for (long i = 0; i < size; i += 2 << 20) (void)*(volatile char *)(held + i);`,
  }),
  bomb('locked memory is bounded', ['exited', 'memory_limit'], {
    python: raw`
held = ctypes.create_string_buffer(512 << 20)
refused("mlock", lambda: call("mlock", ctypes.cast(held, ctypes.c_void_p), 512 << 20), errno.ENOMEM)`,
    cpp: raw`
refused("mlock", mlock(malloc(512 << 20), 512 << 20), ENOMEM);
mlockall(MCL_CURRENT | MCL_FUTURE);`,
  }),
  bomb('memory files meet the limit', ['memory_limit'], {
    python: raw`
while True:
    descriptor = os.memfd_create("x")
    try:
        while True: os.write(descriptor, b"x" * (1 << 20))
    except OSError: pass`,
    cpp: raw`
static char block[1 << 20]; signal(SIGXFSZ, SIG_IGN);
for (;;) { int file = memfd_create("x", 0); if (file < 0) return 9; while (write(file, block, sizeof block) > 0) ; }`,
  }),
  bomb('System V shared memory meets the limit', ['memory_limit'], {
    python: raw`
libc.shmat.restype = ctypes.c_void_p
while True:
    segment = call("shmget", 0, 16 << 20, 0o1600)
    address = libc.shmat(segment, None, 0)
    ctypes.memset(address, 1, 16 << 20)`,
    cpp: raw`
for (;;) {
  int segment = shmget(IPC_PRIVATE, 16 << 20, 0600);
  if (segment < 0) return 9;
  memset(shmat(segment, nullptr, 0), 1, 16 << 20);
}`,
  }),
  bomb('System V message queues and semaphores meet a limit', ['memory_limit', 'exited'], {
    cpp: raw`
static struct { long type; char text[8000]; } message = {1, {}};
long queues = 0, sets = 0;
for (; queues < 40000; queues++) {
  int queue = msgget(IPC_PRIVATE, 0600);
  if (queue < 0) break;
  while (msgsnd(queue, &message, sizeof message.text, IPC_NOWAIT) == 0) ;
}
for (; sets < 40000; sets++) if (semget(IPC_PRIVATE, 32000, 0600) < 0) break;
if (queues == 40000 && sets == 40000) escape("no limit");`,
  }),
  bomb('POSIX message queues meet a limit', ['memory_limit', 'exited'], {
    cpp: raw`

long made = 0;
for (; made < 100000; made++) {
  char name[32]; snprintf(name, sizeof name, "q%ld", made);
  if (syscall(SYS_mq_open, name, O_CREAT | O_RDWR, 0600, nullptr) < 0) break;
}
if (made == 100000) escape("no limit");`,
  }),
  bomb('full pipes meet a limit', ['memory_limit', 'exited'], {
    python: raw`
import fcntl
held = 0
try:
    while held < (256 << 20):
        reader, writer = os.pipe()
        try: fcntl.fcntl(writer, 1031, 1 << 20)
        except OSError: pass
        os.set_blocking(writer, False)
        try:
            while True: held += os.write(writer, b"x" * 65536)
        except BlockingIOError: pass
except OSError: pass
if held >= (256 << 20): escape("256 MiB in pipes")`,
    cpp: raw`
static char block[65536]; long held = 0; int ends[2];
while (held < 256 << 20 && pipe2(ends, O_NONBLOCK) == 0) {
  fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
  for (long n; (n = write(ends[1], block, sizeof block)) > 0;) held += n;
}
if (held >= 256 << 20) escape("256 MiB in pipes");`,
  }),
  bomb('full Unix sockets meet a limit', ['memory_limit', 'exited'], {
    python: raw`
held, pairs = 0, []
try:
    while held < (256 << 20):
        pair = socket.socketpair()
        pairs.append(pair)
        pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
        pair[0].setblocking(False)
        try:
            while True: held += pair[0].send(b"x" * 65536)
        except BlockingIOError: pass
except OSError: pass
if held >= (256 << 20): escape("256 MiB in sockets")`,
    cpp: raw`
static char block[32768]; long held = 0; int ends[2], size = 1 << 30;
while (held < 256 << 20 && socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends) == 0) {
  setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  for (long n; (n = write(ends[0], block, sizeof block)) > 0;) held += n;
}
if (held >= 256 << 20) escape("256 MiB in sockets");`,
  }),
  bomb('endless recursion ends', ['signaled', 'memory_limit', 'crashed', 'output_limit'], {
    python: raw`
sys.setrecursionlimit(1 << 30)
def f(n): return f(n + 1) + 1
f(0)`,
    cpp: raw`
struct deep { static long f(long n) { volatile char frame[4096]; frame[0] = n; return f(n + 1) + frame[0]; } };
printf("%ld\n", deep::f(0));`,
    java: raw`new Object() { long f(long n) { return f(n + 1) + 1; } }.f(0);`,
  }),
  bomb('thread stacks meet the limit', stopped, {
    cpp: raw`
pthread_attr_t big; pthread_attr_init(&big); pthread_attr_setstacksize(&big, 16 << 20);
for (;;) {
  pthread_t thread;
  pthread_create(&thread, &big, +[](void *) -> void * { volatile char frame[8 << 20]; for (long i = 0; i < 8 << 20; i += 4096) frame[i] = 1; for (;;) pause(); }, nullptr);
}`,
    java: raw`
while (true) {
  try { new Thread(null, new Runnable() { int n = 0; void f() { if (n++ < 400000) f(); else try { Thread.sleep(60000); } catch (InterruptedException e) { } } public void run() { f(); } }, "t", 256 << 20).start(); }
  catch (OutOfMemoryError full) { Thread.sleep(1); }
}`,
  }),
  bomb('a sparse file mapped and touched meets the size of the disk', ['signaled', 'exited'], {
    python: raw`
import mmap
with open("/tmp/sparse", "wb+") as file:
    try: os.ftruncate(file.fileno(), 1 << 40)
    except OSError as error: print("refused", error); print("held", flush=True); os._exit(0)
    held = mmap.mmap(file.fileno(), 1 << 30)
    for i in range(0, len(held), 4096): held[i] = 1
escape("1 GiB in a file")`,
    cpp: raw`
int file = open("/tmp/sparse", O_RDWR | O_CREAT, 0600);
signal(SIGXFSZ, SIG_IGN);
if (ftruncate(file, 1l << 40) != 0) { puts("held"); return 0; }
char *held = (char *)mmap(nullptr, 1 << 30, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
for (long i = 0; i < 1 << 30; i += 4096) held[i] = 1;
escape("1 GiB in a file");`,
  }),
  bomb('address space that is never touched costs nothing', ['exited'], {
    cpp: raw`
for (int i = 0; i < 64; i++) mmap(nullptr, 1l << 36, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);`,
  }),
  bomb('mappings are bounded in number', ['exited', 'memory_limit'], {
    cpp: raw`
long made = 0;
for (; made < 1000000; made++)
  if (mmap(nullptr, 4096, made % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) break;
if (made == 1000000) escape("no limit");`,
  }),
  bomb('growth by mremap meets the limit', ['memory_limit'], {
    cpp: raw`
long size = 1 << 20; char *held = (char *)mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
for (;;) { memset(held, 1, size); held = (char *)mremap(held, size, size * 2, MREMAP_MAYMOVE); size *= 2; if (held == MAP_FAILED) return 9; }`,
  }),
  bomb('a container that doubles meets the limit', ['memory_limit', 'crashed'], {
    python: raw`
held = [0]
while True: held += held`,
    java: raw`String held = "x".repeat(1 << 20); var list = new ArrayList<String>(); while (true) { list.add(held + list.size()); }`,
    cpp: raw`char *held = nullptr; for (size_t size = 1 << 20;; size *= 2) { held = (char *)realloc(held, size); if (!held) return 9; memset(held, 1, size); }`,
  }),
  bomb('memory outside the heap meets the limit', ['memory_limit', 'crashed'], {
    java: raw`var held = new ArrayList<ByteBuffer>(); while (true) { var one = ByteBuffer.allocateDirect(4 << 20); for (int i = 0; i < one.capacity(); i += 4096) one.put(i, (byte) 1); held.add(one); }`,
  }),
  bomb('classes made at run time meet the limit', stopped, {
    java: raw`
var held = new ArrayList<Object>();
while (true) {
  var loader = new ClassLoader(Main.class.getClassLoader()) { };
  held.add(java.lang.reflect.Proxy.newProxyInstance(loader, new Class<?>[] { Runnable.class }, (p, m, a) -> null).getClass());
}`,
  }),
  bomb('an out-of-memory score cannot be lowered', ['memory_limit'], {
    python: raw`
for path, value in (("/proc/self/oom_score_adj", "-1000"), ("/proc/self/oom_adj", "-17"), ("/proc/1/oom_score_adj", "-1000")):
    def write():
        with open(path, "w") as file: file.write(value)
        return "written"
    refused(path, write)
held = []
while not bad: held.append(bytearray(b"x") * (1 << 20))`,
    cpp: raw`
int score = open("/proc/self/oom_score_adj", O_WRONLY);
refused("score", score < 0 ? -1 : write(score, "-1000", 5));
while (bad == 0) hold(1 << 20);`,
    java: raw`
refused("score", () -> Files.writeString(Path.of("/proc/self/oom_score_adj"), "-1000"));
var held = new ArrayList<byte[]>(); while (bad == 0) held.add(new byte[1 << 20]);`,
  }),
  bomb('a decompression bomb meets a limit', stopped, {
    python: raw`
import zlib
packer = zlib.compressobj(9)
small = b"".join(packer.compress(bytes(1 << 20)) for _ in range(200)) + packer.flush()
while True: held = zlib.decompress(small)`,
    java: raw`
var bytes = new ByteArrayOutputStream();
try (var packer = new java.util.zip.GZIPOutputStream(bytes)) { for (int i = 0; i < 400; i++) packer.write(new byte[1 << 20]); }
new java.util.zip.GZIPInputStream(new ByteArrayInputStream(bytes.toByteArray())).readAllBytes();`,
  }),
  bomb('entities that multiply are refused or meet a limit', [...stopped, 'exited'], {
    python: raw`
import xml.parsers.expat
entities = "".join(f'<!ENTITY a{i} "{("&a%d;" % (i - 1)) * 10}">' for i in range(1, 12))
parser = xml.parsers.expat.ParserCreate()
parser.CharacterDataHandler = lambda text: None
try: parser.Parse(f'<!DOCTYPE x [<!ENTITY a0 "lol">{entities}]><x>&a11;</x>', True)
except xml.parsers.expat.ExpatError as error: print("refused", error)
else: escape("parsed")`,
    java: raw`
var text = new StringBuilder("<!DOCTYPE x [<!ENTITY a0 \"lol\">");
for (int i = 1; i < 12; i++) text.append("<!ENTITY a" + i + " \"" + ("&a" + (i - 1) + ";").repeat(10) + "\">");
text.append("]><x>&a11;</x>");
try { javax.xml.parsers.SAXParserFactory.newInstance().newSAXParser().parse(new ByteArrayInputStream(text.toString().getBytes()), new org.xml.sax.helpers.DefaultHandler()); escape("parsed"); }
catch (org.xml.sax.SAXException limit) { System.out.println("refused " + limit); }`,
  }),
]
