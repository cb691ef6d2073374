// Escapes to the kernel: calls that no program needs, foreign system call tables, arguments with high bits.
import { probe } from '../attack.ts'
import type { Attack } from '../attack.ts'

const raw = String.raw

/** Makes one call with harmless arguments. The call must be refused before the kernel looks at them. */
function refusedCall(name: string, cpp: string, python?: string): Attack {
  return probe(name, {
    cpp: `refused("the call", ${cpp});`,
    ...(python === undefined ? {} : { python: `refused("the call", lambda: ${python})` }),
  })
}

export const kernelEscapes: readonly Attack[] = [
  refusedCall('io_uring is refused', 'call(425, 8, nullptr)'),
  refusedCall('bpf is refused', 'call(SYS_bpf, 0, nullptr, 0)'),
  refusedCall('userfaultfd is refused', 'call(SYS_userfaultfd, 1)'),
  refusedCall('perf_event_open is refused', 'call(SYS_perf_event_open, nullptr, 0, -1, -1, 0)'),
  refusedCall('keyrings are refused', 'call(SYS_keyctl, 0, -3, 1)'),
  refusedCall('keys are refused', 'call(SYS_add_key, "user", "hostile", "x", 1, -3)'),
  refusedCall('key requests are refused', 'call(SYS_request_key, "user", "hostile", nullptr, -3)'),
  refusedCall('kexec is refused', 'call(SYS_kexec_load, 0, 0, nullptr, 0)'),
  refusedCall(
    'modules are refused',
    'call(SYS_init_module, nullptr, 0, "")',
    'call("init_module", None, 0, b"")',
  ),
  refusedCall('modules from a file are refused', 'call(SYS_finit_module, -1, "", 0)'),
  refusedCall(
    'removing modules is refused',
    'call(SYS_delete_module, "no_such_module", 0)',
    'call("delete_module", b"no_such_module", 0)',
  ),
  refusedCall('reboot is refused', 'call(SYS_reboot, 1, 2, 3, nullptr)'),
  refusedCall(
    'swap is refused',
    'call(SYS_swapon, "/nonexistent", 0)',
    'call("swapon", b"/nonexistent", 0)',
  ),
  refusedCall(
    'accounting is refused',
    'call(SYS_acct, "/nonexistent")',
    'call("acct", b"/nonexistent")',
  ),
  refusedCall(
    'the clock cannot be set',
    '({ timespec odd{0, -1}; call(SYS_clock_settime, CLOCK_REALTIME, &odd); })',
    'time.clock_settime(time.CLOCK_REALTIME, time.time()) or "set"',
  ),
  refusedCall(
    'the clock cannot be adjusted',
    '({ static char zero[256]; call(SYS_adjtimex, zero); })',
  ),
  refusedCall(
    'the host name cannot be set',
    'sethostname("other", 5)',
    'socket.sethostname("other") or "set"',
  ),
  refusedCall(
    "the kernel's log cannot be read",
    'call(SYS_syslog, 10, nullptr, 0)',
    'call("klogctl", 10, None, 0)',
  ),
  refusedCall('quotas are refused', 'call(SYS_quotactl, 0, nullptr, 0, nullptr)'),
  refusedCall('NUMA calls are refused', 'call(SYS_get_mempolicy, nullptr, nullptr, 0, nullptr, 0)'),
  refusedCall(
    'moving pages is refused',
    'call(SYS_move_pages, 1, 0, nullptr, nullptr, nullptr, 0)',
  ),
  refusedCall('secret memory is refused', 'call(447, 0)'),
  refusedCall('asking for the page cache is refused', 'call(451, 0, nullptr, nullptr, 0)'),
  refusedCall(
    'splice is refused',
    'call(SYS_splice, 0, nullptr, 1, nullptr, 1, 0)',
    'os.splice(0, 1, 1)',
  ),
  refusedCall('vmsplice is refused', 'call(SYS_vmsplice, 1, nullptr, 0, 0)'),
  refusedCall('fanotify is refused', 'call(SYS_fanotify_init, 0, 0)'),
  refusedCall(
    'file handles are refused',
    '({ static int handle[40] = {128}; int mount; call(SYS_name_to_handle_at, AT_FDCWD, "/", handle, &mount, 0); })',
  ),
  refusedCall(
    'opening by handle is refused',
    '({ static int handle[40] = {8, 1, 2}; call(SYS_open_by_handle_at, AT_FDCWD, handle, 0); })',
  ),
  refusedCall(
    'asynchronous I/O contexts are refused',
    '({ unsigned long context = 0; call(SYS_io_setup, 1, &context); })',
  ),
  refusedCall('calls newer than the table are refused', 'call(470, 0, 0, 0, 0, 0)'),
  refusedCall('calls that do not exist are refused', 'call(100000, 0)'),
  probe('ports and descriptor tables are refused', {
    cpp: raw`
#ifdef __x86_64__
refused("iopl", call(SYS_iopl, 3)); refused("ioperm", call(SYS_ioperm, 0x80, 1, 1)); refused("modify_ldt", call(SYS_modify_ldt, 0, nullptr, 0));
#endif`,
  }),
  probe('the other table of calls (x32) is refused', {
    cpp: raw`
#ifdef __x86_64__
for (long number : {39, 101, 165, 41, 250, 512, 521, 539}) refused("x32", call(number | 0x40000000l, 0, 0, 0, 0, 0));
#endif`,
  }),
  probe('32-bit calls kill', {
    cpp: raw`
#ifdef __x86_64__
static void enter(int number) { long result; __asm__ volatile("int $0x80" : "=a"(result) : "a"((long)number), "b"(0), "c"(0), "d"(0) : "memory", "r8", "r9", "r10", "r11"); }
#endif
//main
#ifdef __x86_64__
in_child("keyctl", [] { enter(288); }, SIGSYS);
in_child("socketcall", [] { enter(102); }, SIGSYS);
in_child("getpid", [] { enter(20); }, SIGSYS);
in_child("ptrace", [] { enter(26); }, SIGSYS);
#endif`,
  }),
  probe('a 32-bit program is killed at its first call', {
    // Calls getpid, then exit(0). A processor or kernel without 32-bit programs refuses it.
    python: raw`
import platform, subprocess
machine, flags, code = {
    "x86_64": (3, 0, "b814000000cd80b80100000031dbcd80"),
    "aarch64": (40, 0x5000200, "1470a0e3000000ef0170a0e30000a0e3000000ef"),
}[platform.machine()]
code, address = bytes.fromhex(code), 0x8000000
head = struct.pack("<16s2H5I6H", b"\x7fELF\1\1\1", 2, machine, 1, address + 84, 52, 0, flags, 52, 32, 1, 0, 0, 0)
segment = struct.pack("<8I", 1, 0, address, address, 84 + len(code), 84 + len(code), 5, 4096)
with open("/box/small", "wb") as file: file.write(head + segment + code)
os.chmod("/box/small", 0o755)
def start():
    status = subprocess.run(["/box/small"]).returncode
    if status == -signal.SIGSYS: raise OSError(errno.EPERM, "killed")
    return status
refused("32-bit program", start, errno.ENOEXEC)`,
  }),
  probe('a 32-bit code segment gives no other calls', {
    cpp: raw`
#ifdef __x86_64__
static void jump() {
  char *low = (char *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  // mov eax, 288; int 0x80; mov eax, 1; xor ebx, ebx; int 0x80
  memcpy(low, "\xb8\x20\x01\x00\x00\xcd\x80\xb8\x01\x00\x00\x00\x31\xdb\xcd\x80", 16);
  struct { unsigned address; unsigned short segment; } __attribute__((packed)) far_pointer = {(unsigned)(unsigned long)low, 0x23};
  __asm__ volatile("ljmp *%0" : : "m"(far_pointer));
}
#endif
//main
#ifdef __x86_64__
in_child("far jump", jump, SIGSYS);
#endif`,
  }),
  probe('machine code made at run time meets the same filter', {
    cpp: raw`
#ifdef __x86_64__
char *code = (char *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
memcpy(code, "\xb8\x65\x00\x00\x00\x31\xff\x0f\x05\xc3", 10);
errno = EPERM; refused("ptrace", ((long (*)())code)() < 0 ? -1 : 0);
#endif
#ifdef __aarch64__
// mov x8, #117; mov x0, #0; svc #0; ret
const unsigned words[] = {0xd2800ea8, 0xd2800000, 0xd4000001, 0xd65f03c0};
char *code = (char *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
memcpy(code, words, sizeof words);
__builtin___clear_cache(code, code + sizeof words);
errno = EPERM; refused("ptrace", ((long (*)())code)() < 0 ? -1 : 0);
#endif`,
    python: raw`
import mmap, platform
if platform.machine() == "x86_64":
    code = mmap.mmap(-1, 4096, prot=7)
    code.write(b"\xb8\x65\x00\x00\x00\x31\xff\x0f\x05\xc3")
    result = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
    if result >= 0: escape("ptrace")`,
  }),
  probe('a program in a memory file meets the same filter', {
    python: raw`
import subprocess
file = os.memfd_create("x", 0)
os.write(file, open("/usr/bin/grep", "rb").read())
words = subprocess.run([f"/proc/self/fd/{file}", "-E", "^(Seccomp|NoNewPrivs):", "/proc/self/status"], pass_fds=[file], capture_output=True, text=True).stdout.split()
if words != ["NoNewPrivs:", "1", "Seccomp:", "2"]: escape(words)`,
    cpp: raw`
int file = memfd_create("x", 0), from = open("/usr/bin/grep", O_RDONLY); static char block[1 << 16];
for (long n; (n = read(from, block, sizeof block)) > 0;) write(file, block, n);
fflush(stdout); pid_t child = fork();
if (child == 0) { char *words[] = {(char *)"grep", (char *)"-q", (char *)"^Seccomp:.2", (char *)"/proc/self/status", nullptr}; fexecve(file, words, environ); _exit(9); }
int status; waitpid(child, &status, 0); if (status != 0) escape("no filter");`,
  }),
  probe('arguments with high bits meet the same rows', {
    cpp: raw`
const unsigned long high = 0x100000000ul;
refused("socket", call(SYS_socket, high | 16, 3, 0)); refused("socketpair", call(SYS_socketpair, high | 30, 1, 0, nullptr));
refused("socket type", call(SYS_socket, high | 2, high | 5, 0));
refused("ioctl", call(SYS_ioctl, 0, high | 0x5412, "x")); refused("fcntl", call(SYS_fcntl, 1, high | 1024, 1));
refused("memfd_create", call(SYS_memfd_create, "x", high | 4), EINVAL); refused("madvise", call(SYS_madvise, 0, 0, high | 12), EINVAL);`,
  }),
  probe('terminals of others cannot be typed into', {
    cpp: raw`
char letter = 'x';
refused("tty", open("/dev/tty", O_RDWR));
for (int i = 0; i < 3; i++) { refused("TIOCSTI", ioctl(i, TIOCSTI, &letter)); refused("TIOCLINUX", ioctl(i, 0x541c, &letter)); refused("TIOCSETD", ioctl(i, TIOCSETD, &letter)); }
int own = posix_openpt(O_RDWR | O_NOCTTY); if (own >= 0) refused("TIOCSTI on its own", ioctl(own, TIOCSTI, &letter));`,
    python: raw`
import fcntl
refused("tty", lambda: look("/dev/tty", os.O_RDWR))
for i in range(3): refused("TIOCSTI", lambda: fcntl.ioctl(i, 0x5412, b"x"))`,
    java: raw`refused("tty", () -> look("/dev/tty"));`,
  }),
  probe('attributes and freezing of file systems are refused', {
    cpp: raw`
int file = open("/tmp/x", O_RDWR | O_CREAT, 0600); long flags = 0x10;
refused("immutable", ioctl(file, 0x40086602, &flags), ENOTTY);
refused("freeze", ioctl(file, 0xc0045877, 0), ENOTTY);
int program = open("/usr/bin/python3", O_RDONLY);
refused("immutable", ioctl(program, 0x40086602, &flags)); refused("freeze", ioctl(program, 0xc0045877, 0)); refused("clone", ioctl(program, 0x40049409, file), EBADF);`,
  }),
  probe('memory on huge pages is refused', {
    cpp: raw`
refused("mmap", (long)mmap(nullptr, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0), ENOMEM);
refused("memfd", memfd_create("x", 4), EINVAL); refused("shm", shmget(IPC_PRIVATE, 2 << 20, 04000 | 0600));`,
  }),
  probe('addresses of the kernel are not told', {
    python: raw`
for path in ("/proc/kallsyms", "/proc/modules", "/proc/1/stack", "/proc/iomem"):
    try: text = open(path).read(1 << 16)
    except OSError as error: print("refused", path, error); continue
    if "ffffffff8" in text: escape(path)`,
  }),
]
