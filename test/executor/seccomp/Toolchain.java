// Uses the system as Java submissions do. All of it must work under the filter.
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
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
    try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        var selector = Selector.open()) {
      var address = UnixDomainSocketAddress.of("/tmp/talk");
      server.bind(address);
      server.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
      try (var client = SocketChannel.open(address)) {
        check(selector.select() == 1);
        client.write(ByteBuffer.wrap(new byte[] {7}));
        var received = ByteBuffer.allocate(1);
        try (var accepted = server.accept()) {
          check(accepted.read(received) == 1 && received.get(0) == 7);
        }
      }
    }
    System.out.println("threads streams transfer child sockets");
  }

  private static void check(boolean holds) {
    if (!holds) throw new AssertionError();
  }
}
