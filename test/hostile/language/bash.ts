// Attacks in the shell's own language, with the programs that every box contains.
import { shows, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'

export const bash: HostileLanguage = {
  language: 'bash',
  program: `
[ -e /etc/debian_version ] && { echo ESCAPED there is no box; exit 1; }
read -r way
case $way in
  calls)
    for attempt in 'mount -t tmpfs none /tmp' 'unshare -r id' 'unshare -n id' 'chroot / id' 'nsenter -t 1 -m id' 'setpriv --reuid 0 id' 'su -c id' 'kill -0 @WORKER_PID@' 'mknod /tmp/x b 8 0' 'dmesg' 'ipcrm -m @SEGMENT@'; do
      $attempt >/dev/null 2>&1 && echo "ESCAPED $attempt"
    done
    (exec 3<>/dev/tcp/127.0.0.1/@PORT@) 2>/dev/null && echo ESCAPED the network ;;
  daemon) (setsid sleep 600 & setsid sleep 600 &) ; sleep 0.05 ;;
  disk) head -c 67108864 /dev/zero >/tmp/fill 2>/dev/null; [ "$(stat -c %s /tmp/fill)" -gt 33554432 ] && echo ESCAPED the disk ;;
  output) while :; do echo flood; done ;;
  memory) x=x; while :; do x=$x$x; done ;;
  processes) f() { f | f & f; }; f 2>/dev/null; while :; do :; done ;;
  *) exit 9 ;;
esac
echo held`,
  ways: {
    calls: [],
    daemon: [],
    disk: [],
    output: [],
    memory: ['crashed', 'signaled'],
    processes: ['crashed', 'exited'],
  },
  sources: [
    shows(
      'a redirection shows no file',
      (path) => `echo "$(<${path})"\ncat ${path}\nenv\necho held`,
    ),
    showsNone('a sourced file is not shown', (path) => `. ${path}\necho held`),
  ],
}
