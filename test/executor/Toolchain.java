// What Java submissions use of the system: all of it must work under the filter.
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

public class Toolchain {
  public static void main(String[] arguments) throws Exception {
    var pool = Executors.newFixedThreadPool(4);
    Future<Integer> answer = pool.submit(() -> 42);
    check(answer.get() == 42);
    pool.shutdown();
    check(IntStream.range(0, 1000).parallel().sum() == 499500);
    Path from = Files.write(Path.of("/box/from"), new byte[300_000]);
    Files.copy(from, Path.of("/box/copy"));
    try (var in = FileChannel.open(from);
        var out = FileChannel.open(Path.of("/box/to"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      check(in.transferTo(0, 300_000, out) > 0);
      out.force(true);
    }
    var child = new ProcessBuilder("/usr/bin/echo", "child").start();
    check(new String(child.getInputStream().readAllBytes()).equals("child\n"));
    check(child.waitFor() == 0);
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var client = new Socket(server.getInetAddress(), server.getLocalPort());
        var accepted = server.accept()) {
      client.getOutputStream().write(7);
      check(accepted.getInputStream().read() == 7);
    }
    System.out.println("threads streams transfer child network");
  }

  private static void check(boolean holds) {
    if (!holds) throw new AssertionError();
  }
}
