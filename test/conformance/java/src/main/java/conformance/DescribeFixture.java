package conformance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.zip.CRC32C;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.metadata.MetadataJsonConverters;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.FileLogInputStream;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache;
import org.apache.kafka.storage.internals.log.BatchMetadata;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.OffsetIndex;
import org.apache.kafka.storage.internals.log.OffsetPosition;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.TimeIndex;
import org.apache.kafka.storage.internals.log.TimestampOffset;
import org.apache.kafka.storage.internals.log.TransactionIndex;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Keeps a broker's log directory as a fixture, and writes down what Kafka's own classes read in it.
 * Arguments: the log directory, what was written (JSON), the fixture's directory. With two arguments,
 * a directory of single `.log` files and the JSON to write, it describes those alone, and writes beside it, in
 * `loads.json`, what Kafka recovers each to as a segment of its own, whole and cut.
 */
public final class DescribeFixture {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final ObjectMapper MAPPER = new ObjectMapper();
    /** Longer contents are told by their length and CRC-32C. */
    private static final int TOLD_IN_FULL = 100;
    private static final String TORN = "rolled-0";
    private static final int MAX_TRANSACTION_MS = 900_000;
    private static final int PRODUCER_EXPIRATION_MS = 86_400_000;

    private final Path fixture;
    private final JsonNode topicConfigs;
    private final KafkaScheduler scheduler = new KafkaScheduler(1);

    private DescribeFixture(Path fixture, JsonNode topicConfigs) {
        this.fixture = fixture;
        this.topicConfigs = topicConfigs;
        scheduler.startup();
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 2) {
            ObjectNode files = JSON.objectNode();
            for (Path file : list(Path.of(args[0]))) {
                if (file.toString().endsWith(".log")) files.set(file.getFileName().toString(), describeBatches(file, false));
            }
            write(Path.of(args[1]), files);
            write(Path.of(args[1]).resolveSibling("loads.json"), loads(Path.of(args[0])));
            System.exit(0);
        }
        Path data = Path.of(args[0]);
        Path fixture = Path.of(args[2]);
        ObjectNode told = (ObjectNode) MAPPER.readTree(new File(args[1]));
        Path kept = fixture.resolve("log-dir");
        copy(data, kept);
        trimIndexes(kept);
        DescribeFixture describe = new DescribeFixture(kept, told.get("topicConfigs"));
        told.put("readAt", System.currentTimeMillis());
        ObjectNode partitions = told.putObject("partitions");
        for (Path directory : list(kept)) {
            if (Files.isDirectory(directory)) {
                partitions.set(directory.getFileName().toString(), describe.partition(directory));
            }
        }
        told.set("torn", describe.torn());
        write(fixture.resolve("expected.json"), told);
        System.exit(0);
    }

    private static void write(Path file, JsonNode json) throws IOException {
        // One batch, record or entry a line: small, and differences can be read.
        String text = MAPPER.writeValueAsString(json);
        Files.writeString(file, text.replaceAll(",\\{", ",\n{").replaceAll("\\[\\{", "[\n{") + "\n");
    }

    private ObjectNode partition(Path directory) throws Exception {
        ObjectNode partition = JSON.objectNode();
        ArrayNode segments = partition.putArray("segments");
        ObjectNode snapshots = partition.putObject("snapshots");
        ObjectNode checkpoints = partition.putObject("checkpoints");
        boolean isMetadata = directory.getFileName().toString().startsWith("__cluster_metadata");
        for (Path file : list(directory)) {
            String name = file.getFileName().toString();
            if (name.endsWith(".log")) segments.add(segment(directory, name, isMetadata));
            else if (name.endsWith(".snapshot")) snapshots.set(name, snapshot(file));
            else if (name.endsWith(".checkpoint")) checkpoints.set(name, describeBatches(file, true));
        }
        if (isMetadata) return partition;
        partition.set("rebuilt", rebuilt(directory));
        partition.set("reopened", load(directory, true, logStartOffset(directory), 0, copy -> { }));
        return partition;
    }

    private static ObjectNode segment(Path directory, String name, boolean isMetadata) throws Exception {
        String digits = name.substring(0, 20);
        long base = Long.parseLong(digits);
        ObjectNode segment = JSON.objectNode();
        segment.put("baseOffset", base);
        segment.set("batches", describeBatches(directory.resolve(name), isMetadata));
        // Opening an index for writing resizes it, so these are copies.
        Path copy = Files.createTempDirectory("segment");
        copy(directory, copy);
        ArrayNode index = segment.putArray("index");
        try (OffsetIndex read = new OffsetIndex(copy.resolve(digits + ".index").toFile(), base, -1, false)) {
            for (int i = 0; i < read.entries(); i++) {
                OffsetPosition entry = read.entry(i);
                index.addArray().add(entry.offset()).add(entry.position());
            }
        }
        ArrayNode timeIndex = segment.putArray("timeIndex");
        try (TimeIndex read = new TimeIndex(copy.resolve(digits + ".timeindex").toFile(), base, -1, false)) {
            for (int i = 0; i < read.entries(); i++) {
                TimestampOffset entry = read.entry(i);
                timeIndex.addArray().add(entry.timestamp()).add(entry.offset());
            }
        }
        File transactions = copy.resolve(digits + ".txnindex").toFile();
        if (transactions.exists()) {
            ArrayNode aborted = segment.putArray("abortedTransactions");
            try (TransactionIndex read = new TransactionIndex(base, transactions)) {
                for (var entry : read.allAbortedTxns()) {
                    aborted.addObject()
                        .put("producerId", entry.producerId())
                        .put("firstOffset", entry.firstOffset())
                        .put("lastOffset", entry.lastOffset())
                        .put("lastStableOffset", entry.lastStableOffset());
                }
            }
        }
        delete(copy);
        return segment;
    }

    private static ArrayNode describeBatches(Path file, boolean isMetadata) throws Exception {
        ArrayNode batches = JSON.arrayNode();
        try (FileRecords records = FileRecords.open(file.toFile(), false)) {
            for (FileLogInputStream.FileChannelRecordBatch onDisk : records.batches()) {
                ByteBuffer bytes = ByteBuffer.allocate(onDisk.sizeInBytes());
                records.channel().read(bytes, onDisk.position());
                bytes.flip();
                MutableRecordBatch batch = MemoryRecords.readableRecords(bytes).batches().iterator().next();
                batches.add(describe(batch, onDisk.position(), isMetadata));
            }
        }
        return batches;
    }

    private static ObjectNode describe(MutableRecordBatch batch, int position, boolean isMetadata) {
        ObjectNode told = JSON.objectNode();
        told.put("position", position);
        told.put("size", batch.sizeInBytes());
        told.put("magic", batch.magic());
        told.put("baseOffset", batch.baseOffset());
        told.put("lastOffset", batch.lastOffset());
        told.put("crc", batch.checksum());
        told.put("valid", batch.isValid());
        told.put("compression", batch.compressionType().name);
        told.put("timestampType", batch.timestampType().name);
        told.put("maxTimestamp", batch.maxTimestamp());
        if (batch instanceof DefaultRecordBatch current) {
            told.put("baseTimestamp", current.baseTimestamp());
            OptionalLong horizon = batch.deleteHorizonMs();
            if (horizon.isPresent()) told.put("deleteHorizon", horizon.getAsLong());
            told.put("leaderEpoch", batch.partitionLeaderEpoch());
            told.put("producerId", batch.producerId());
            told.put("producerEpoch", batch.producerEpoch());
            told.put("baseSequence", batch.baseSequence());
            told.put("lastSequence", batch.lastSequence());
            told.put("transactional", batch.isTransactional());
            told.put("control", batch.isControlBatch());
            told.put("count", batch.countOrNull());
        }
        ArrayNode records = told.putArray("records");
        for (Record record : batch) records.add(describe(record, batch, isMetadata));
        return told;
    }

    private static ObjectNode describe(Record record, RecordBatch batch, boolean isMetadata) {
        ObjectNode told = JSON.objectNode();
        told.put("offset", record.offset());
        told.put("timestamp", record.timestamp());
        told.set("key", content(record.key()));
        told.set("value", content(record.value()));
        if (record.headers().length > 0) {
            ArrayNode headers = told.putArray("headers");
            for (Header header : record.headers()) {
                byte[] value = header.value();
                headers.addArray().add(header.key()).add(content(value == null ? null : ByteBuffer.wrap(value)));
            }
        }
        if (batch.isControlBatch()) {
            told.put("controlType", ControlRecordType.parse(record.key()).name());
        } else if (isMetadata) {
            ByteBuffer value = record.value();
            ApiMessageAndVersion message = MetadataRecordSerde.INSTANCE.read(new ByteBufferAccessor(value), value.remaining());
            told.put("type", message.message().getClass().getSimpleName());
            told.put("version", message.version());
            told.set("fields", MetadataJsonConverters.writeJson(message.message(), message.version()));
        }
        return told;
    }

    private static JsonNode content(ByteBuffer buffer) {
        if (buffer == null) return JSON.nullNode();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        if (bytes.length <= TOLD_IN_FULL) return JSON.textNode(HexFormat.of().formatHex(bytes));
        return JSON.objectNode().put("size", bytes.length).put("crc32c", crc32c(bytes));
    }

    private static ArrayNode snapshot(Path file) throws IOException {
        ArrayNode entries = JSON.arrayNode();
        for (ProducerStateEntry entry : ProducerStateManager.readSnapshot(file.toFile())) {
            entries.add(producer(entry));
        }
        return entries;
    }

    private static ObjectNode producer(ProducerStateEntry entry) {
        ObjectNode told = JSON.objectNode();
        told.put("producerId", entry.producerId());
        told.put("producerEpoch", entry.producerEpoch());
        told.put("coordinatorEpoch", entry.coordinatorEpoch());
        told.put("lastTimestamp", entry.lastTimestamp());
        if (entry.currentTxnFirstOffset().isPresent()) {
            told.put("currentTxnFirstOffset", entry.currentTxnFirstOffset().getAsLong());
        }
        ArrayNode batches = told.putArray("batches");
        for (BatchMetadata batch : entry.batchMetadata()) {
            batches.addObject()
                .put("firstSequence", batch.firstSeq())
                .put("lastSequence", batch.lastSeq())
                .put("firstOffset", batch.firstOffset())
                .put("lastOffset", batch.lastOffset());
        }
        return told;
    }

    /** What an unclean start makes of the log files alone. */
    private ObjectNode rebuilt(Path directory) throws Exception {
        return load(directory, false, 0, 0, copy -> {
            for (Path file : list(copy)) {
                if (!file.toString().endsWith(".log")) Files.delete(file);
            }
        });
    }

    /** Copies of one partition, each damaged in one place, and to what Kafka recovers them. */
    private ArrayNode torn() throws Exception {
        ArrayNode cases = JSON.arrayNode();
        Path directory = fixture.resolve(TORN);
        List<String> logs = list(directory).stream().map(path -> path.getFileName().toString()).filter(name -> name.endsWith(".log")).toList();
        String last = logs.get(logs.size() - 1);
        String middle = logs.get(logs.size() - 3);
        long lastBase = Long.parseLong(last.substring(0, 20));
        int size = (int) Files.size(directory.resolve(last));
        for (int i = 0; i < 20; i++) cases.add(torn(directory, last, "cut", (size - 1) * i / 19, i % 2 == 0 ? 0 : lastBase));
        for (int i = 0; i < 6; i++) cases.add(torn(directory, middle, "cut", 1 + i * 131, 0));
        for (int at : new int[] {7, 9, 11, 12, 16, 17, 22, 26, 34, 42, 50, 56, 60, 61, 62, 70}) {
            cases.add(torn(directory, last, "flip", at, 0));
        }
        cases.add(torn(directory, middle, "flip", 300, 0));
        // Damage below the recovery point is not looked for.
        cases.add(torn(directory, middle, "flip", 300, lastBase));
        cases.add(torn(directory, last, "zeros", 100, 0));
        cases.add(torn(directory, last, "zeros", 11, 0));
        cases.add(torn(directory, middle, "zeros", 100, 0));
        for (int i = 1; i <= 7; i += 2) cases.add(torn(directory, last, "snapshots", i, lastBase));
        return cases;
    }

    /** To what Kafka recovers each file as the only segment of a log, whole and cut to so many bytes. */
    private static ObjectNode loads(Path directory) throws Exception {
        DescribeFixture describe = new DescribeFixture(directory, JSON.objectNode());
        ObjectNode loads = JSON.objectNode();
        for (Path file : list(directory)) {
            if (!file.toString().endsWith(".log")) continue;
            byte[] bytes = Files.readAllBytes(file);
            long base;
            try (FileRecords records = FileRecords.open(file.toFile(), false)) {
                base = records.batches().iterator().next().baseOffset();
            }
            Path log = Files.createDirectory(Files.createTempDirectory("old").resolve("old-0"));
            ArrayNode cases = loads.putArray(file.getFileName().toString());
            for (int cut : new int[] {bytes.length, bytes.length - 1, 100, 17}) {
                Files.write(log.resolve(String.format("%020d.log", base)), Arrays.copyOf(bytes, cut));
                ObjectNode told = describe.load(log, false, 0, 0, copy -> { });
                cases.add(((ObjectNode) JSON.objectNode().put("cut", cut)).setAll(told));
            }
            delete(log.getParent());
        }
        return loads;
    }

    private ObjectNode torn(Path directory, String file, String damage, int at, long recoveryPoint) throws Exception {
        ObjectNode told = load(directory, false, 0, recoveryPoint, copy -> {
            if (damage.equals("snapshots")) {
                List<Path> snapshots = list(copy).stream().filter(path -> path.toString().endsWith(".snapshot")).toList();
                for (Path snapshot : snapshots.subList(snapshots.size() - at, snapshots.size())) Files.delete(snapshot);
                return;
            }
            Path log = copy.resolve(file);
            byte[] bytes = Files.readAllBytes(log);
            switch (damage) {
                case "cut" -> bytes = Arrays.copyOf(bytes, at);
                case "zeros" -> bytes = Arrays.copyOf(bytes, bytes.length + at);
                default -> bytes[at] ^= 4;
            }
            Files.write(log, bytes);
        });
        ObjectNode named = JSON.objectNode();
        named.put("partition", TORN).put("file", file).put("damage", damage).put("at", at).put("recoveryPoint", recoveryPoint);
        return named.setAll(told);
    }

    /** As the log directory's checkpoint says; 0 if it does not name the partition. */
    private long logStartOffset(Path directory) throws IOException {
        String name = directory.getFileName().toString();
        int dash = name.lastIndexOf('-');
        String start = name.substring(0, dash) + " " + name.substring(dash + 1) + " ";
        return Files.readAllLines(fixture.resolve("log-start-offset-checkpoint")).stream()
            .filter(line -> line.startsWith(start))
            .mapToLong(line -> Long.parseLong(line.substring(start.length())))
            .findFirst().orElse(0);
    }

    private interface Damage {
        void to(Path copy) throws Exception;
    }

    private ObjectNode load(Path directory, boolean wasClean, long logStartOffset, long recoveryPoint, Damage damage)
        throws Exception {
        Path parent = Files.createTempDirectory("copy");
        Path copy = parent.resolve(directory.getFileName());
        copy(directory, copy);
        damage.to(copy);
        ObjectNode told = JSON.objectNode();
        try {
            UnifiedLog log = UnifiedLog.create(copy.toFile(), logConfig(directory), logStartOffset, recoveryPoint, scheduler,
                new BrokerTopicStats(), Time.SYSTEM, MAX_TRANSACTION_MS,
                new ProducerStateManagerConfig(PRODUCER_EXPIRATION_MS, false), 600_000,
                new LogDirFailureChannel(1), wasClean, Optional.empty());
            told.put("logStartOffset", log.logStartOffset());
            told.put("logEndOffset", log.logEndOffset());
            told.put("recoveryPointAfter", log.recoveryPoint());
            ArrayNode bases = told.putArray("segmentBaseOffsets");
            for (LogSegment segment : log.logSegments()) bases.add(segment.baseOffset());
            ArrayNode epochs = told.putArray("epochs");
            LeaderEpochFileCache cache = log.leaderEpochCache();
            for (var entry : cache.epochEntries()) epochs.addArray().add(entry.epoch()).add(entry.startOffset());
            awaitBackgroundWrites();
            log.close();
            awaitBackgroundWrites();
            ObjectNode files = told.putObject("files");
            for (Path file : list(copy)) {
                byte[] bytes = trimmed(file);
                files.putArray(file.getFileName().toString()).add(bytes.length).add(crc32c(bytes));
            }
        } catch (Exception error) {
            told.put("error", error.getClass().getSimpleName());
        }
        delete(parent);
        return told;
    }

    /** Some checkpoints are written by the scheduler's only thread, in the order in which they were asked for. */
    private void awaitBackgroundWrites() throws InterruptedException {
        CountDownLatch idle = new CountDownLatch(1);
        scheduler.scheduleOnce("idle", idle::countDown);
        idle.await();
    }

    private LogConfig logConfig(Path directory) {
        String name = directory.getFileName().toString();
        JsonNode configs = topicConfigs.get(name.substring(0, name.lastIndexOf('-')));
        Properties properties = new Properties();
        if (configs != null) configs.properties().forEach(entry -> properties.put(entry.getKey(), entry.getValue().asText()));
        return new LogConfig(properties);
    }

    private static void trimIndexes(Path root) throws IOException {
        for (Path directory : list(root)) {
            if (!Files.isDirectory(directory)) continue;
            for (Path file : list(directory)) Files.write(file, trimmed(file));
        }
    }

    /** A file's bytes, of an index without preallocated zeros: 4.4 leaves them where a log is closed alone. */
    private static byte[] trimmed(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        int entry = file.toString().endsWith(".index") ? 8 : file.toString().endsWith(".timeindex") ? 12 : 0;
        if (entry == 0 || bytes.length < 1_000_000) return bytes;
        int used = bytes.length;
        while (used > 0 && bytes[used - 1] == 0) used--;
        return Arrays.copyOf(bytes, (used + entry - 1) / entry * entry);
    }

    private static long crc32c(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return crc.getValue();
    }

    private static List<Path> list(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.sorted().toList();
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (var files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) Files.createDirectories(target);
                else if (!file.endsWith(".lock")) Files.copy(file, target);
            }
        }
    }

    private static void delete(Path directory) throws IOException {
        try (var files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
        }
    }
}
