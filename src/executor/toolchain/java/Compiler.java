// Compiles Java sources with the JDK's javac, finds the class to run, and packs the classes into a jar. This happens in the
// box, so that the worker reads neither Java nor class files. The program compiles one source and ends, or stays and compiles
// source after source:
//
//   Compiler OTHERS [OTHER FILE ...] [OPTION ...]        compiles out/.own/Main.java and OTHERS further files; writes the
//                                                        program to stdout, messages to stderr; exits with javac's status
//   Compiler --resident ROUNDS EXAMPLE [OPTION ...]      compiles the example ROUNDS times for practice, then each request
//
// Its own class file is in out/.own, too, because no file of a submission can be below out.
//
// A program is the name of its main class, a line feed, and a jar. The launcher gets the name as an argument. With -jar it
// would read the name from the jar before it starts the JVM, so a JVM could not be started before its program.
//
// The numbers of the resident's protocol are big-endian. A request is its length (4 bytes) and the source. An answer is its
// length (4), javac's status (4), the length of the messages (4), the messages, and the program. An answer of length 0 means
// that the resident is ready. Only loaded classes, compiled code and the index of modules outlive a request. No code of a
// submission runs in the resident, and none of its classes is loaded.
import com.sun.source.tree.*;
import com.sun.source.util.JavacTask;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.*;
import javax.lang.model.SourceVersion;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;

public final class Compiler {
    /** Not the empty path, because its listing would name entries without a parent. */
    private static final Path DIRECTORY = Path.of(".");
    private static final Path CLASSES = DIRECTORY.resolve("out");
    private static final Path OWN = CLASSES.resolve(".own");
    private static final ToolProvider JAVAC = ToolProvider.findFirst("javac").orElseThrow();
    private static final JavaCompiler PARSER = javax.tools.ToolProvider.getSystemJavaCompiler();
    /** The longest name of a file on Linux, in bytes. */
    private static final int LONGEST_NAME = 255;
    /** Since Java 25 a main need be neither static nor public, nor take arguments (JEP 512). */
    private static final int JAVA_25 = 69;

    private Compiler() {}

    public static void main(String[] arguments) throws IOException {
        var output = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out));
        System.setOut(System.err);
        // Otherwise javac would use the class path of this program.
        System.setProperty("java.class.path", ".");
        var words = List.of(arguments);
        if (words.get(0).equals("--resident")) {
            serve(Integer.parseInt(words.get(1)), utf8(words.get(2)), words.subList(3, words.size()), output);
            return;
        }
        int end = 1 + Integer.parseInt(words.get(0));
        var program = new ByteArrayOutputStream();
        var messages = new PrintWriter(new OutputStreamWriter(System.err, StandardCharsets.UTF_8));
        int status = compile(words.subList(1, end), words.subList(end, words.size()), messages, program);
        messages.flush();
        program.writeTo(output);
        output.flush();
        // An annotation processor of the submission may have left a thread, which would keep the JVM alive.
        System.exit(status);
    }

    private static void serve(int rounds, byte[] example, List<String> options, BufferedOutputStream stream)
            throws IOException {
        var input = new DataInputStream(new FileInputStream(FileDescriptor.in));
        var output = new DataOutputStream(stream);
        System.setIn(InputStream.nullInputStream());
        for (int round = 0; round < rounds; round += 1) answer(example, options);
        output.writeInt(0);
        output.flush();
        for (;;) {
            byte[] source = new byte[input.readInt()];
            input.readFully(source);
            byte[] answer = answer(source, options);
            output.writeInt(answer.length);
            output.write(answer);
            output.flush();
        }
    }

    /** Compiles one source. The directories are empty before and after; an error while clearing them ends this process. */
    private static byte[] answer(byte[] source, List<String> options) throws IOException {
        Path file = OWN.resolve("Main.java");
        Files.write(file, source);
        var said = new ByteArrayOutputStream();
        var program = new ByteArrayOutputStream();
        var messages = new PrintWriter(new OutputStreamWriter(said, StandardCharsets.UTF_8));
        int status = compile(List.of(), options, messages, program);
        messages.flush();
        Files.delete(file);
        for (Path path : list(DIRECTORY, Comparator.reverseOrder())) {
            if (!path.startsWith(OWN) && !OWN.startsWith(path)) Files.delete(path);
        }

        var bytes = new ByteArrayOutputStream();
        var answer = new DataOutputStream(bytes);
        answer.writeInt(status);
        answer.writeInt(said.size());
        said.writeTo(answer);
        program.writeTo(answer);
        return bytes.toByteArray();
    }

    /** Returns javac's status, and writes the program if the status is 0. */
    private static int compile(
            List<String> others, List<String> options, PrintWriter messages, ByteArrayOutputStream program)
            throws IOException {
        List<CompilationUnitTree> units = parse(others);
        String name = nameSource(units);
        Path file = DIRECTORY.resolve(name);
        if (Files.exists(file)) {
            for (Path taken : list(file, Comparator.naturalOrder())) {
                if (Files.isRegularFile(taken)) messages.println(DIRECTORY.relativize(taken) + ": this name is taken");
            }
            return 1;
        }
        Files.copy(OWN.resolve("Main.java"), file);
        var command = new ArrayList<String>(options);
        command.addAll(others);
        command.add(name);
        int status = JAVAC.run(messages, messages, command.toArray(new String[0]));
        if (status == 0) {
            List<String> classes = listClasses();
            program.write(utf8(findMain(units, classes) + "\n"));
            writeJar(classes, program);
        }
        return status;
    }

    /** Parses the sources, the main one first. Returns an empty list when the parser fails; javac then reports the error. */
    private static List<CompilationUnitTree> parse(List<String> others) throws IOException {
        var paths = new ArrayList<String>(List.of(OWN.resolve("Main.java").toString()));
        paths.addAll(others);
        var units = new ArrayList<CompilationUnitTree>();
        try (var manager = PARSER.getStandardFileManager(fault -> {}, Locale.ROOT, StandardCharsets.UTF_8)) {
            var files = manager.getJavaFileObjectsFromStrings(paths);
            var task = PARSER.getTask(Writer.nullWriter(), manager, fault -> {}, List.of("-proc:none"), null, files);
            for (CompilationUnitTree unit : ((JavacTask) task).parse()) units.add(unit);
        } catch (RuntimeException | StackOverflowError fault) {
            units.clear();
        }
        return units;
    }

    /** Returns the top-level types, in their order. */
    private static List<ClassTree> typesOf(CompilationUnitTree unit) {
        var types = new ArrayList<ClassTree>();
        for (Tree declared : unit.getTypeDecls()) if (declared instanceof ClassTree) types.add((ClassTree) declared);
        return types;
    }

    private static String nameOf(CompilationUnitTree unit, ClassTree type) {
        String name = type.getSimpleName().toString();
        return unit.getPackageName() == null ? name : unit.getPackageName() + "." + name;
    }

    /**
     * Returns the file name that javac requires: that of the public type. If it is too long for a file, javac reports the type.
     */
    private static String nameSource(List<CompilationUnitTree> units) {
        for (ClassTree type : units.isEmpty() ? List.<ClassTree>of() : typesOf(units.get(0))) {
            String name = type.getSimpleName() + ".java";
            if (isPublic(type) && SourceVersion.isIdentifier(type.getSimpleName()))
                return utf8(name).length > LONGEST_NAME ? "Main.java" : name;
        }
        return "Main.java";
    }

    /**
     * Returns the class to launch: in the main source the public class if it has a `main`, otherwise `Main`, otherwise the
     * first class that has one; then the same in the other sources. A `main` may be inherited. If no class has one, returns
     * some class, for which the launcher reports the error.
     */
    private static String findMain(List<CompilationUnitTree> units, List<String> classes) throws IOException {
        var types = new HashMap<String, ClassTree>();
        for (CompilationUnitTree unit : units) {
            for (ClassTree type : typesOf(unit)) {
                types.putIfAbsent(type.getSimpleName().toString(), type);
                types.put(nameOf(unit, type), type);
            }
        }
        var asked = new HashSet<ClassTree>();
        for (CompilationUnitTree unit : units) {
            var order = new ArrayList<ClassTree>();
            typesOf(unit).stream().filter(Compiler::isPublic).forEach(order::add);
            typesOf(unit).stream().filter(type -> type.getSimpleName().contentEquals("Main")).forEach(order::add);
            order.addAll(typesOf(unit));
            for (ClassTree type : order) {
                String name = nameOf(unit, type);
                if (Collections.binarySearch(classes, name) < 0) continue;
                if (isLaunchable(type, types, readVersion(name) >= JAVA_25, asked)) return name;
            }
        }
        return classes.isEmpty() ? "Main" : classes.get(0);
    }

    /** Returns whether the class has or inherits a `main`. Checks each class once, so that long chains take linear time. */
    private static boolean isLaunchable(
            ClassTree type, Map<String, ClassTree> types, boolean mayBeInstance, Set<ClassTree> asked) {
        for (ClassTree at = type; at != null && asked.add(at);) {
            for (Tree member : at.getMembers()) if (isMain(at, member, mayBeInstance)) return true;
            Tree parent = at.getExtendsClause();
            at = parent == null ? null : types.get(parent.toString().replaceFirst("(?s)<.*", ""));
        }
        return false;
    }

    private static boolean isMain(ClassTree type, Tree member, boolean mayBeInstance) {
        if (!(member instanceof MethodTree)) return false;
        var method = (MethodTree) member;
        if (!method.getName().contentEquals("main") || !"void".equals(String.valueOf(method.getReturnType()))) return false;
        Set<Modifier> modifiers = method.getModifiers().getFlags();
        String parameters = method.getParameters().stream()
                .map(parameter -> parameter.getType().toString())
                .collect(Collectors.joining(","));
        boolean takesWords = parameters.matches("(java\\.lang\\.)?String(\\[\\]|\\.\\.\\.)");
        if (mayBeInstance) return (takesWords || parameters.isEmpty()) && !modifiers.contains(Modifier.PRIVATE);
        boolean isOpen = type.getKind() == Tree.Kind.INTERFACE
                ? !modifiers.contains(Modifier.PRIVATE)
                : modifiers.contains(Modifier.PUBLIC);
        return takesWords && isOpen && modifiers.contains(Modifier.STATIC);
    }

    private static boolean isPublic(ClassTree type) {
        return type.getModifiers().getFlags().contains(Modifier.PUBLIC);
    }

    /** Returns the version of a class file: 61 is Java 17. */
    private static int readVersion(String name) throws IOException {
        try (var input = new DataInputStream(Files.newInputStream(pathOf(name)))) {
            return (int) (input.readLong() & 0xffff);
        }
    }

    /** Lists the binary names of the classes, sorted, because the jar must not depend on the order of a directory. */
    private static List<String> listClasses() throws IOException {
        var names = new ArrayList<String>();
        for (Path path : list(CLASSES, Comparator.naturalOrder())) {
            String name = CLASSES.relativize(path).toString();
            if (name.endsWith(".class") && !path.startsWith(OWN)) names.add(name.substring(0, name.length() - 6).replace('/', '.'));
        }
        Collections.sort(names);
        return names;
    }

    private static Path pathOf(String name) {
        return CLASSES.resolve(name.replace('.', '/') + ".class");
    }

    /**
     * Writes a jar: not deflated, because it is read once, and with constant times, so that the same classes make the same jar.
     */
    private static void writeJar(List<String> classes, ByteArrayOutputStream program) throws IOException {
        var jar = new ZipOutputStream(program);
        jar.setMethod(ZipOutputStream.STORED);
        for (String name : classes) {
            byte[] content = Files.readAllBytes(pathOf(name));
            var sum = new CRC32();
            sum.update(content);
            var entry = new ZipEntry(name.replace('.', '/') + ".class");
            entry.setSize(content.length);
            entry.setCrc(sum.getValue());
            entry.setTime(0);
            jar.putNextEntry(entry);
            jar.write(content);
        }
        jar.finish();
    }

    private static List<Path> list(Path top, Comparator<Path> order) throws IOException {
        try (Stream<Path> found = Files.walk(top)) {
            return found.sorted(order).collect(Collectors.toList());
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
