package org.apache.kafka.storage.internals.log;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.GZIPOutputStream;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.AppInfoParser;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Has Kafka's cleaner clean random logs, several rounds each, and writes down what it found and left.
 * Stands in the package of the cleaner, which is not public. Arguments: the file to write, how many logs.
 */
public final class CleanLogs {
    /** From here on there is a log, 887, in which an aborted transaction shadows a later one from the map. */
    private static final int FIRST_SEED = 850;
    private static final long BASE_TIME = 1_796_000_000_000L;
    private static final int INDEX_ENTRY = 8;
    private static final int TIME_INDEX_ENTRY = 12;

    private final Random random;
    private final boolean transactional;
    private final boolean appendTime;
    private final Map<Long, Integer> sequences = new HashMap<>();
    private final TreeSet<Long> open = new TreeSet<>();
    private long offset;
    private long timestamp = BASE_TIME;
    private int epoch;
    private int values;

    public static void main(String[] args) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode told = mapper.createObjectNode();
        told.put("kafkaVersion", AppInfoParser.getVersion());
        ArrayNode cases = told.putArray("cases");
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            new CleanLogs(FIRST_SEED + i).play(cases.addObject(), scheduler);
        }
        scheduler.shutdown();
        try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(Path.of(args[0])))) {
            out.write(mapper.writeValueAsBytes(told));
        }
    }

    private CleanLogs(int seed) {
        random = new Random(seed);
        transactional = seed % 2 == 1;
        appendTime = chance(6);
    }

    private void play(ObjectNode told, KafkaScheduler scheduler) throws Exception {
        Path parent = Files.createTempDirectory("clean-logs");
        Path directory = Files.createDirectory(parent.resolve("orders-0"));
        told.put("transactional", transactional);
        Map<String, String> before = new TreeMap<>();
        if (chance(4)) offset = random.nextInt(50);
        for (int segments = between(2, 6); segments > 0; segments--) {
            long base = offset;
            ByteBuffer bytes = ByteBuffer.allocate(1 << 16);
            for (int batches = between(1, 7), i = 0; i < batches; i++) write(bytes, i == 0);
            bytes.flip();
            byte[] content = new byte[bytes.remaining()];
            bytes.get(content);
            Files.write(directory.resolve(String.format("%020d.log", base)), content);
            before.put(String.format("%020d.log", base), HexFormat.of().formatHex(content));
            if (chance(8)) offset += random.nextInt(5);
        }
        before.forEach(told.putObject("before")::put);

        Properties config = new Properties();
        config.put("cleanup.policy", "compact");
        config.put("internal.segment.bytes", chance(2) ? between(600, 2500) : 1 << 30);
        config.put("index.interval.bytes", List.of(0, 150, 500, 4096).get(random.nextInt(4)));
        config.put("delete.retention.ms", chance(2) ? 1000 : 86_400_000);
        told.put("segmentBytes", (int) config.get("internal.segment.bytes"));
        told.put("indexIntervalBytes", (int) config.get("index.interval.bytes"));
        told.put("deleteRetentionMs", (int) config.get("delete.retention.ms"));
        int slots = chance(3) ? between(3, 8) : 1000;
        told.put("mapSlots", slots);

        UnifiedLog log = UnifiedLog.create(directory.toFile(), new LogConfig(config, Set.of()), 0L, 0L, scheduler,
            new BrokerTopicStats(), Time.SYSTEM, 900_000, new ProducerStateManagerConfig(Integer.MAX_VALUE, false),
            600_000, new LogDirFailureChannel(1), false, Optional.empty());
        told.put("logEndOffset", log.logEndOffset());
        ArrayNode aborted = told.putArray("aborted");
        for (LogSegment segment : log.logSegments()) {
            for (AbortedTxn each : segment.txnIndex().allAbortedTxns()) {
                aborted.addArray().add(each.producerId()).add(each.firstOffset()).add(each.lastOffset())
                    .add(each.lastStableOffset());
            }
        }
        ArrayNode rounds = told.putArray("rounds");
        long end = log.logEndOffset();
        long firstHighWatermark = chance(2) ? end : random.nextInt((int) end + 1);
        long first = timestamp + 100_000;
        Cleaned cleaned = new Cleaned(log, directory, slots, before);
        cleaned.round(rounds.addObject(), firstHighWatermark, first);
        cleaned.round(rounds.addObject(), end, first + random.nextInt(2) * 500);
        cleaned.round(rounds.addObject(), end, first + 100_000);
        cleaned.round(rounds.addObject(), end, first + 100_000_000);
        log.close();
        try (var files = Files.walk(parent)) {
            files.sorted((left, right) -> right.compareTo(left)).forEach(file -> file.toFile().delete());
        }
    }

    /** One batch: of nobody, of an idempotent producer, of a transaction, or a marker. */
    private void write(ByteBuffer to, boolean isFirst) {
        if (chance(12)) epoch++;
        if (!isFirst && chance(10)) offset += random.nextInt(4);
        timestamp += random.nextInt(3000) - 300;
        if (transactional && !open.isEmpty() && chance(3)) {
            List<Long> candidates = new ArrayList<>(open);
            long producer = candidates.get(random.nextInt(candidates.size()));
            open.remove(producer);
            ControlRecordType type = chance(2) ? ControlRecordType.COMMIT : ControlRecordType.ABORT;
            MemoryRecords marker = MemoryRecords.withEndTransactionMarker(offset, timestamp, epoch, producer, (short) 0,
                new EndTransactionMarker(type, 0));
            to.put(marker.buffer().duplicate());
            offset++;
            return;
        }
        int count = between(1, 4);
        int kind = random.nextInt(transactional ? 4 : 3);
        long producer = kind == 0 ? RecordBatch.NO_PRODUCER_ID : kind == 3 ? 10 + random.nextInt(3) : 1 + random.nextInt(3);
        int sequence = RecordBatch.NO_SEQUENCE;
        if (kind > 0) {
            sequence = sequences.getOrDefault(producer, 0);
            sequences.put(producer, sequence + count);
        }
        if (kind == 3) open.add(producer);
        TimestampType type = appendTime ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME;
        ByteBuffer buffer = ByteBuffer.allocate(4096);
        MemoryRecordsBuilder builder = MemoryRecords.builder(buffer, RecordBatch.CURRENT_MAGIC_VALUE, Compression.NONE, type,
            offset, timestamp + 100, producer, kind == 0 ? RecordBatch.NO_PRODUCER_EPOCH : (short) 0, sequence, kind == 3,
            epoch);
        for (int i = 0; i < count; i++) {
            byte[] key = chance(25) ? null : ("k" + random.nextInt(8)).getBytes(StandardCharsets.UTF_8);
            byte[] value = chance(5) ? null : ("v" + values++).repeat(between(1, 3)).getBytes(StandardCharsets.UTF_8);
            Header header = new RecordHeader("h", chance(3) ? null : new byte[] {'x'});
            builder.append(timestamp + random.nextInt(50), key, value, chance(6) ? new Header[] {header} : new Header[0]);
        }
        to.put(builder.build().buffer().duplicate());
        offset += count;
    }

    private boolean chance(int of) {
        return random.nextInt(of) == 0;
    }

    private int between(int low, int high) {
        return low + random.nextInt(high - low + 1);
    }

    /** A log, and what is known of its files. */
    private static final class Cleaned {
        private final UnifiedLog log;
        private final Path directory;
        private final int slots;
        private Optional<Long> checkpoint = Optional.empty();
        private Map<String, String> files;

        Cleaned(UnifiedLog log, Path directory, int slots, Map<String, String> files) {
            this.log = log;
            this.directory = directory;
            this.slots = slots;
            this.files = files;
        }

        void round(ObjectNode told, long highWatermark, long nowMs) throws Exception {
            log.updateHighWatermark(highWatermark);
            var offsets = LogCleanerManager.cleanableOffsets(log, checkpoint, nowMs);
            LogToClean toClean =
                new LogToClean(log, offsets.firstDirtyOffset(), offsets.firstUncleanableDirtyOffset(), false);
            told.put("highWatermark", highWatermark).put("nowMs", nowMs).put("cleanBytes", toClean.cleanBytes())
                .put("cleanableBytes", toClean.cleanableBytes()).put("bound", toClean.firstUncleanableOffset());
            if (toClean.cleanableBytes() > 0) {
                Throttler unthrottled = new Throttler(Double.MAX_VALUE, 300, "cleaner", "bytes", Time.SYSTEM);
                Cleaner cleaner = new Cleaner(0, new SkimpyOffsetMap(24 * slots), 65_536, 1 << 20, 1.0, unthrottled,
                    Time.SYSTEM, partition -> { });
                checkpoint = Optional.of(cleaner.doClean(toClean, nowMs).getKey());
            }
            told.put("checkpoint", checkpoint.orElse(-1L));
            Map<String, String> now = new TreeMap<>();
            for (LogSegment segment : log.logSegments()) {
                String name = String.format("%020d", segment.baseOffset());
                read(now, name + ".log", 0);
                read(now, name + ".txnindex", 0);
                if (segment == log.activeSegment()) continue;
                read(now, name + ".index", INDEX_ENTRY);
                read(now, name + ".timeindex", TIME_INDEX_ENTRY);
            }
            ObjectNode changed = told.putObject("changed");
            now.forEach((name, content) -> {
                if (!content.equals(files.get(name))) changed.put(name, content);
            });
            files.keySet().forEach(name -> {
                if (!now.containsKey(name)) changed.putNull(name);
            });
            files = now;
        }

        /** Without the zeros that Kafka preallocates in indexes. */
        private void read(Map<String, String> to, String name, int entry) throws IOException {
            Path file = directory.resolve(name);
            if (!Files.exists(file)) return;
            byte[] content = Files.readAllBytes(file);
            int length = content.length;
            while (entry > 0 && length >= entry && isZero(content, length - entry, length)) length -= entry;
            to.put(name, HexFormat.of().formatHex(content, 0, length));
        }

        private static boolean isZero(byte[] content, int from, int to) {
            for (int i = from; i < to; i++) if (content[i] != 0) return false;
            return true;
        }
    }
}
