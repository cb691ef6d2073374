// Attacks in C#, and through its compiler.
import { aims, exhausts, onePath, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'
import { everyWay } from './ways.ts'

const raw = String.raw

const program = raw`
using System; using System.Collections.Generic; using System.Diagnostics; using System.IO; using System.Linq; using System.Runtime.InteropServices; using System.Threading;
unsafe class Program {
  [DllImport("libc", SetLastError = true)] static extern long syscall(long n, long a, long b, long c, long d, long e, long f);
  [DllImport("libc")] static extern int fork();
  [DllImport("libc")] static extern int setsid();
  [DllImport("libc")] static extern int pause();
  [DllImport("libc")] static extern void _exit(int code);
  static readonly string[] host = { ${aims.hostFiles} };
  static readonly string[] own = { ${aims.boxFiles} };
  static readonly long[] rows = { ${aims.calls} };
  static readonly int[] policy = { ${aims.errors} };
  static int Main() {
    if (File.Exists("/etc/debian_version")) { Console.WriteLine("ESCAPED there is no box"); return 1; }
    var block = new byte[1 << 20];
    switch (Console.ReadLine()) {
      case "files":
        foreach (var path in host) try { using (File.OpenRead(path)) Console.WriteLine("ESCAPED " + path); } catch (Exception) {}
        foreach (var path in own) try { Console.WriteLine(File.ReadAllText(path)); } catch (Exception) {}
        break;
      case "calls":
        for (int i = 0; i < rows.Length; i += 7) {
          long result = syscall(rows[i], rows[i + 1], rows[i + 2], rows[i + 3], rows[i + 4], rows[i + 5], rows[i + 6]);
          int code = Marshal.GetLastWin32Error();
          if (result != -1) Console.WriteLine("ESCAPED call " + rows[i] + ": " + result);
          else if (!policy.Contains(code)) Console.WriteLine("UNSURE call " + rows[i] + ": " + code);
        }
        // Without a family that it knows, the client is made and never connects.
        try { Console.WriteLine("ESCAPED the network " + new System.Net.Sockets.TcpClient("127.0.0.1", @PORT@).GetStream().ReadByte()); } catch (Exception) {}
        break;
      case "daemon":
        if (fork() == 0) { setsid(); if (fork() > 0) _exit(0); for (;;) pause(); }
        Thread.Sleep(50);
        break;
      case "disk":
        long written = 0;
        try { using (var file = File.OpenWrite("/tmp/fill")) while (written < 64 << 20) { file.Write(block, 0, block.Length); file.Flush(); written += block.Length; } } catch (IOException) {}
        if (written > 32 << 20) Console.WriteLine("ESCAPED the disk");
        break;
      case "output": for (var output = Console.OpenStandardOutput();;) output.Write(block, 0, block.Length);
      case "memory": for (var held = new List<byte[]>();;) { var one = new byte[1 << 20]; for (int i = 0; i < one.Length; i += 4096) one[i] = 1; held.Add(one); }
      case "processes": for (;;) fork();
      case "threads": for (;;) try { new Thread(() => { for (;;) pause(); }, 65536).Start(); } catch (Exception) {}
      default: return 9;
    }
    Console.WriteLine("held");
    return 0;
  }
}`.replace('unsafe ', '')

const main = '\nclass P { static void Main() { System.Console.WriteLine("held"); } }'

export const csharp: HostileLanguage = {
  language: 'csharp',
  program,
  ways: {
    ...everyWay,
    memory: ['crashed'],
    processes: ['crashed', 'signaled'],
    threads: ['crashed', 'signaled'],
  },
  sources: [
    showsNone(
      'a line marker shows no file',
      (path) => `#line 1 "${path}"${main}\nclass Q { undeclared x; }`,
      onePath,
    ),
    showsNone(
      'a checksum marker shows no file',
      (path) => `#pragma checksum "${path}" "{406EA660-64CF-4C82-B6F0-42D48172A799}" "ab"${main}`,
      onePath,
    ),
    showsNone(
      'a key file shows no file',
      (path) => `[assembly: System.Reflection.AssemblyKeyFile("${path}")]${main}`,
      onePath,
    ),
    showsNone(
      'an alias of a library shows no file',
      (path) =>
        `[assembly: System.Runtime.CompilerServices.TypeForwardedTo(typeof(X))]\n[assembly: System.Security.Permissions.PermissionSet(System.Security.Permissions.SecurityAction.RequestMinimum, File = "${path}")]${main}`,
      onePath,
    ),
    exhausts(
      'types that grow without end end',
      `class A<T> { public A<A<T>> n; public static int d = A<A<T>>.d; }${main}`,
      ['exited'],
    ),
    exhausts(
      'overloads that multiply end',
      `using System; class P { static void f(Func<int,int> a) {} static void f(Func<string,int> a) {} static int g(Func<int,int> a) { return 1; } static int g(Func<string,int> a) { return 1; } static void Main() { ${Array.from(
        { length: 20 },
        (_, i) => `f(x${i} => ${i === 19 ? '1' : 'g('}`,
      )
        .join('')
        .replaceAll('f(x', 'g(x')}${')'.repeat(39)}; } }`,
    ),
  ],
}
