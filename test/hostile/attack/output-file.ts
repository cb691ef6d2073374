// Attacks through output files, which the worker reads after the run: their types, and the cost of reading them.
import { bomb } from '../attack.ts'
import type { Attack } from '../attack.ts'

const raw = String.raw

export const outputFileAttacks: readonly Attack[] = [
  bomb(
    'no link under a name that comes back leads out of the box',
    ['exited'],
    {
      python: raw`
where, name = os.path.split("@FILE@")
os.symlink("@FILE@", "direct")
os.symlink(where, "directory")
os.symlink("../../../../../.." + "@FILE@", "relative")
os.symlink("/proc/self/root" + "@FILE@", "magic")
os.symlink("/proc/1/root" + where, "root")
os.mkdir("inner"); os.symlink("../direct", "inner/indirect")
os.chmod("inner", 0)`,
      cpp: raw`
symlink("@FILE@", "direct"); symlink("/etc", "directory"); symlink("../../../../../..@FILE@", "relative");
symlink("/proc/self/root@FILE@", "magic"); symlink("/", "root"); mkdir("inner", 0700); symlink("../direct", "inner/indirect"); chmod(".", 0);`,
    },
    {
      outputFiles: ['direct', 'directory/passwd', 'directory/secret', 'relative', 'magic', 'root/etc/passwd', 'inner/indirect'], // prettier-ignore
    },
  ),
  bomb(
    'what waits, grows or is not there to be read holds nobody up',
    ['exited'],
    {
      python: raw`
import socket
for number in range(8): os.close(os.open(f"holes{number}", os.O_CREAT | os.O_WRONLY)); os.truncate(f"holes{number}", 3 << 20)
try: os.mkfifo("pipe")
except OSError: pass
socket.socket(socket.AF_UNIX).bind("socket")
os.mkdir("directory")
deep = "d"
for _ in range(6): os.mkdir(deep); deep += "/d"
if os.fork() == 0:
    while True:
        with open("grows", "wb") as file: file.write(b"x" * 70000)
        try: os.rename("grows", "directory/grows"); os.rename("directory/grows", "grows")
        except OSError: pass`,
    },
    {
      outputFiles: [...Array.from({ length: 8 }, (_, n) => `holes${n}`), 'pipe', 'socket', 'directory', 'd/d/d/d/d/d/d', 'grows', 'directory/grows'], // prettier-ignore
    },
  ),
]
