package conformance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.properties.MetaPropertiesEnsemble;
import org.apache.kafka.metadata.properties.MetaPropertiesEnsemble.VerificationFlag;
import org.apache.kafka.raft.FileQuorumStateStore;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.checkpoint.CleanShutdownFileHandler;
import org.apache.kafka.storage.internals.checkpoint.OffsetCheckpointFile;
import org.apache.kafka.storage.internals.checkpoint.PartitionMetadataFile;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Opens a log directory that the simulator exported with the classes that a broker opens its own with, and
 * compares every record that they read with what the simulator says. Arguments: the log directory, which is
 * changed as a broker would change it; what `sim disk ... dump --json --print-data-log` told of its logs.
 */
public final class CheckExport {
    private static final int READ_BYTES = 1 << 20;

    private final Path directory;
    private final JsonNode files;
    private final KafkaScheduler scheduler = new KafkaScheduler(1);
    private final Time time;
    private int problems = 0;

    private CheckExport(Path directory, JsonNode files) {
        this.directory = directory;
        this.files = files;
        this.time = timeOf(files);
        scheduler.startup();
    }

    /** The time of day in the simulation: producers that were idle for long would be forgotten. */
    private static Time timeOf(JsonNode files) {
        long latest = 0;
        for (JsonNode file : files) {
            for (JsonNode entry : file.get("entries")) latest = Math.max(latest, entry.path("timestamp").asLong(0));
        }
        long now = latest;
        return (Time) Proxy.newProxyInstance(Time.class.getClassLoader(), new Class<?>[] {Time.class},
            (proxy, method, arguments) ->
                method.getName().equals("milliseconds") ? (Object) now : method.invoke(Time.SYSTEM, arguments));
    }

    public static void main(String[] args) throws Exception {
        CheckExport check = new CheckExport(Path.of(args[0]), new ObjectMapper().readTree(new File(args[1])).get("files"));
        check.properties();
        check.partitions();
        System.exit(check.problems == 0 ? 0 : 1);
    }

    private void properties() throws IOException {
        MetaPropertiesEnsemble ensemble = new MetaPropertiesEnsemble.Loader()
            .addLogDirs(List.of(directory.toString()))
            .addMetadataLogDir(directory.toString())
            .load();
        ensemble.verify(ensemble.clusterId(), ensemble.nodeId(),
            EnumSet.of(VerificationFlag.REQUIRE_AT_LEAST_ONE_VALID, VerificationFlag.REQUIRE_METADATA_LOG_DIR));
        expect("meta.properties", "error directories", 0, ensemble.errorLogDirs().size());
        System.out.println("  ok meta.properties: node " + ensemble.nodeId().orElse(-1));
        File quorumState = directory.resolve("__cluster_metadata-0").resolve("quorum-state").toFile();
        if (quorumState.exists()) {
            System.out.println("  ok quorum-state: " + new FileQuorumStateStore(quorumState).readElectionState().orElseThrow());
        }
    }

    private void partitions() throws Exception {
        boolean wasClean = new CleanShutdownFileHandler(directory.toString()).exists();
        Map<TopicPartition, Long> recoveryPoints = offsets("recovery-point-offset-checkpoint");
        Map<TopicPartition, Long> logStarts = offsets("log-start-offset-checkpoint");
        for (String name : new String[] {"replication-offset-checkpoint", "cleaner-offset-checkpoint"}) offsets(name);
        try (var entries = Files.list(directory)) {
            for (Path partition : entries.filter(Files::isDirectory).sorted().toList()) {
                if (partition.toString().endsWith("-delete")) continue;
                TopicPartition name = UnifiedLog.parseTopicPartitionName(partition.toFile());
                partition(partition, name, wasClean, recoveryPoints.getOrDefault(name, 0L), logStarts.getOrDefault(name, 0L));
            }
        }
    }

    private Map<TopicPartition, Long> offsets(String name) throws IOException {
        File file = directory.resolve(name).toFile();
        if (!file.exists()) return Map.of();
        return new OffsetCheckpointFile(file, new LogDirFailureChannel(1)).read();
    }

    private void partition(Path partition, TopicPartition name, boolean wasClean, long recoveryPoint, long logStart)
        throws Exception {
        File idFile = PartitionMetadataFile.newFile(partition.toFile());
        Optional<Uuid> topicId = idFile.exists()
            ? Optional.of(new PartitionMetadataFile(idFile, new LogDirFailureChannel(1)).read().topicId())
            : Optional.empty();
        if (topicId.isEmpty()) expect(name.toString(), "partition.metadata", "there", "absent");
        List<String> expected = expectedRecords(partition.getFileName().toString(), logStart);
        LogDirFailureChannel failures = new LogDirFailureChannel(1);
        UnifiedLog log = UnifiedLog.create(partition.toFile(), new LogConfig(new Properties()), logStart, recoveryPoint, scheduler,
            new BrokerTopicStats(), time, 900_000, new ProducerStateManagerConfig(86_400_000, false), 600_000,
            failures, wasClean, topicId);
        List<String> found = readAll(log);
        for (int i = 0; i < Math.min(found.size(), expected.size()); i++) {
            if (!expect(name.toString(), "record " + i, expected.get(i), found.get(i))) break;
        }
        expect(name.toString(), "number of records", expected.size(), found.size());
        expect(name.toString(), "topic id", topicId, log.topicId());
        Set<String> producers = new TreeSet<>();
        for (var producer : log.activeProducers()) {
            producers.add(producer.producerId() + " epoch " + producer.producerEpoch() + " sequence " + producer.lastSequence());
        }
        expect(name.toString(), "producers", expectedProducers(partition.getFileName().toString()), producers);
        long end = log.logEndOffset();
        log.close();
        expect(name.toString(), "failed directories", false, failures.hasOfflineLogDir(directory.toString()));
        System.out.println("  ok " + name + ": " + found.size() + " records, log end " + end + ", " + producers.size()
            + " producers, " + (wasClean ? "after an orderly stop" : "recovered from " + recoveryPoint));
    }

    /** The last batch of each producer, as the simulator tells it. */
    private Set<String> expectedProducers(String partition) {
        Map<Long, String> last = new TreeMap<>();
        for (JsonNode entry : entriesOf(partition)) {
            if (!entry.get("kind").asText().equals("batch") || entry.get("producerId").asLong() < 0) continue;
            last.put(entry.get("producerId").asLong(), entry.get("producerId").asLong()
                + " epoch " + entry.get("producerEpoch").asInt() + " sequence " + entry.get("lastSequence").asInt());
        }
        return new TreeSet<>(last.values());
    }

    /** All that the simulator tells of the logs of a partition. */
    private List<JsonNode> entriesOf(String partition) {
        List<JsonNode> entries = new ArrayList<>();
        for (JsonNode file : files) {
            String path = file.get("path").asText();
            if (!path.endsWith(".log") || !path.contains("/" + partition + "/")) continue;
            if (!file.get("damage").isNull()) expect(path, "damage", "none", file.get("damage").toString());
            for (JsonNode entry : file.get("entries")) entries.add(entry);
        }
        return entries;
    }

    /** As the simulator tells them, from `logStart` on. Control records too. */
    private List<String> expectedRecords(String partition, long logStart) {
        List<String> records = new ArrayList<>();
        for (JsonNode entry : entriesOf(partition)) {
            if (!entry.get("kind").asText().equals("record") || entry.get("offset").asLong() < logStart) continue;
            StringBuilder text = new StringBuilder();
            text.append(entry.get("offset").asLong()).append(' ').append(entry.get("timestamp").asLong());
            text.append(' ').append(entry.get("keySize").asInt()).append(' ').append(entry.get("valueSize").asInt());
            text.append(' ').append(entry.has("key") ? entry.get("key").asText() : "-");
            text.append(' ').append(entry.has("payload") ? entry.get("payload").asText() : "-");
            for (JsonNode header : entry.get("headers")) {
                text.append(' ').append(header.get(0).asText()).append('=').append(header.get(1).asText("-"));
            }
            records.add(text.toString());
        }
        return records;
    }

    private static List<String> readAll(UnifiedLog log) throws IOException {
        List<String> records = new ArrayList<>();
        long next = log.logStartOffset();
        while (next < log.logEndOffset()) {
            long before = next;
            for (RecordBatch batch : log.read(next, READ_BYTES, FetchIsolation.LOG_END, true).records.batches()) {
                batch.ensureValid();
                for (Record record : batch) {
                    if (record.offset() < next) continue;
                    records.add(described(record, batch.isControlBatch()));
                }
                next = batch.nextOffset();
            }
            if (next == before) break;
        }
        return records;
    }

    /** Of control records only the sizes: the simulator tells what they say, not their bytes. */
    private static String described(Record record, boolean isControl) {
        StringBuilder text = new StringBuilder();
        text.append(record.offset()).append(' ').append(record.timestamp());
        text.append(' ').append(record.keySize()).append(' ').append(record.valueSize());
        text.append(' ').append(isControl ? "-" : hex(record.key()));
        text.append(' ').append(isControl ? "-" : hex(record.value()));
        for (Header header : record.headers()) {
            byte[] value = header.value();
            text.append(' ').append(header.key()).append('=').append(value == null ? "-" : HexFormat.of().formatHex(value));
        }
        return text.toString();
    }

    private static String hex(ByteBuffer buffer) {
        if (buffer == null) return "-";
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private boolean expect(String where, String what, Object expected, Object found) {
        if (expected.equals(found)) return true;
        problems++;
        System.out.println("  DIFFERS " + where + ": " + what + "\n    simulator " + expected + "\n    kafka     " + found);
        return false;
    }
}
