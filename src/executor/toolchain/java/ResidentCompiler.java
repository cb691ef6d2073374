// javac that stays: one virtual machine in a box compiles source after source. Each gets javac's whole command line, on
// a file in an empty directory, so output and status are those of `javac`. Only loaded classes, compiled code and the
// index of modules live on. No line of a submission runs here.
//
// Numbers are big-endian. A request is its length (4 bytes), the length of the file's name (2), the name, and the
// source. An answer is its length (4), javac's exit status (4), the length of its messages (4), the messages, and the
// class files. An answer of length 0 says that it is ready.
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

public final class ResidentCompiler {
    /** With the empty path a listing would name entries without a parent. */
    private static final Path DIRECTORY = Path.of(".");

    private static final ToolProvider JAVAC = ToolProvider.findFirst("javac").orElseThrow();

    private ResidentCompiler() {}

    /** Arguments: rounds of practice, the practice's source, javac's options. */
    public static void main(String[] arguments) throws IOException {
        var input = new DataInputStream(new FileInputStream(FileDescriptor.in));
        var output = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)));
        System.setIn(InputStream.nullInputStream());
        System.setOut(System.err);
        int practice = Integer.parseInt(arguments[0]);
        byte[] example = arguments[1].getBytes(StandardCharsets.UTF_8);
        List<String> options = List.of(arguments).subList(2, arguments.length);

        for (int round = 0; round < practice; round += 1) compile("Main.java", example, options);
        output.writeInt(0);
        output.flush();
        for (;;) {
            byte[] request = new byte[input.readInt()];
            input.readFully(request);
            int nameLength = (request[0] & 0xff) << 8 | request[1] & 0xff;
            String name = new String(request, 2, nameLength, StandardCharsets.UTF_8);
            byte[] source = java.util.Arrays.copyOfRange(request, 2 + nameLength, request.length);
            byte[] answer = compile(name, source, options);
            output.writeInt(answer.length);
            output.write(answer);
            output.flush();
        }
    }

    /** The directory is empty before and after; if it cannot be cleared, this process ends. */
    private static byte[] compile(String name, byte[] source, List<String> options) throws IOException {
        Path file = DIRECTORY.resolve(name);
        Path classes = Files.createDirectory(DIRECTORY.resolve("out"));
        Files.write(file, source);

        var command = new ArrayList<>(options);
        command.add(name);
        var messages = new ByteArrayOutputStream();
        var writer = new PrintWriter(new OutputStreamWriter(messages, StandardCharsets.UTF_8));
        int status = JAVAC.run(writer, writer, command.toArray(String[]::new));
        writer.flush();

        var bytes = new ByteArrayOutputStream();
        var answer = new DataOutputStream(bytes);
        answer.writeInt(status);
        answer.writeInt(messages.size());
        messages.writeTo(answer);
        if (status == 0) {
            for (Path path : list(classes, Comparator.naturalOrder())) {
                if (path.toString().endsWith(".class")) Files.copy(path, answer);
            }
        }
        Files.delete(file);
        for (Path path : list(classes, Comparator.reverseOrder())) Files.delete(path);
        return bytes.toByteArray();
    }

    private static List<Path> list(Path top, Comparator<Path> order) throws IOException {
        try (Stream<Path> found = Files.walk(top)) {
            return found.sorted(order).toList();
        }
    }
}
