package conformance;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Time;

/**
 * Formats a log directory, runs a broker on it three times, and writes to it with Kafka's own clients.
 * Arguments: the log directory (to be created), and the file that is to say what was written.
 */
public final class WriteFixture {
    private static final String BROKER = "127.0.0.1:19092";
    private static final String CONTROLLER = "127.0.0.1:19093";
    private static final String CLUSTER_ID = "Y29uZm9ybWFuY2UtMDAwMQ";

    /** Each topic has one partition. Rolls come from the records' timestamps, not from waiting. */
    private static final Map<String, Map<String, String>> TOPICS = new LinkedHashMap<>();

    static {
        TOPICS.put("plain", Map.of("index.interval.bytes", "200"));
        TOPICS.put("keyed", Map.of());
        TOPICS.put("headers", Map.of());
        TOPICS.put("codecs", Map.of());
        TOPICS.put("idempotent", Map.of("index.interval.bytes", "300"));
        TOPICS.put("transactional", Map.of("index.interval.bytes", "150"));
        TOPICS.put("rolled", Map.of("segment.ms", "10000", "index.interval.bytes", "250"));
        TOPICS.put("append-time",
            Map.of("message.timestamp.type", "LogAppendTime", "index.interval.bytes", "100"));
        TOPICS.put("trimmed", Map.of("segment.ms", "10000"));
        TOPICS.put("compacted", Map.of("cleanup.policy", "compact", "segment.ms", "5000",
            "min.cleanable.dirty.ratio", "0.0", "index.interval.bytes", "200"));
        TOPICS.put("compacted-transactional", Map.of("cleanup.policy", "compact", "segment.ms", "5000",
            "min.cleanable.dirty.ratio", "0.0"));
        TOPICS.put("gone", Map.of());
    }

    private final Path data;
    private final Map<String, Object> broker = new HashMap<>();
    /** Milliseconds: a whole hour, at least one hour ago, so that nothing lies in the future. */
    private final long base = System.currentTimeMillis() / 3_600_000 * 3_600_000 - 3_600_000;
    private final List<Map<String, Long>> stops = new ArrayList<>();
    private KafkaRaftServer server;

    private WriteFixture(Path data) {
        this.data = data;
    }

    public static void main(String[] args) throws Exception {
        WriteFixture writer = new WriteFixture(Path.of(args[0]));
        writer.run();
        Map<String, Object> written = new LinkedHashMap<>();
        written.put("kafkaVersion", version());
        written.put("clusterId", CLUSTER_ID);
        written.put("baseTimestamp", writer.base);
        written.put("topicConfigs", TOPICS);
        written.put("endOffsetsAtStops", writer.stops);
        new ObjectMapper().enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS).writeValue(new File(args[1]), written);
        System.exit(0);
    }

    private static String version() throws Exception {
        Properties properties = new Properties();
        try (var in = WriteFixture.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            properties.load(in);
        }
        return properties.getProperty("version");
    }

    private void run() throws Exception {
        configure();
        start();
        createTopics();
        plain(0, 12);
        keyed();
        headers();
        codecs();
        idempotentFirst();
        transactionalFirst();
        rolled(0, 30);
        appendTime(0);
        trimmed();
        compacted();
        compactedTransactional();
        commitOffsets();
        stop();

        start();
        plain(12, 20);
        idempotentSecond();
        transactionalSecond();
        rolled(30, 45);
        appendTime(4);
        trimAndDelete();
        stop();

        start();
        plain(20, 28);
        leaveTransactionOpen();
        stop();
    }

    private void configure() throws Exception {
        broker.put("process.roles", "broker,controller");
        broker.put("node.id", "1");
        broker.put("listeners", "PLAINTEXT://" + BROKER + ",CONTROLLER://" + CONTROLLER);
        broker.put("controller.listener.names", "CONTROLLER");
        broker.put("inter.broker.listener.name", "PLAINTEXT");
        broker.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        broker.put("controller.quorum.bootstrap.servers", CONTROLLER);
        broker.put("log.dirs", data.toString());
        broker.put("log.retention.ms", "-1");
        broker.put("log.segment.delete.delay.ms", "200");
        broker.put("log.cleaner.backoff.ms", "200");
        broker.put("auto.create.topics.enable", "false");
        for (String internal : List.of("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")) {
            broker.put(internal + ".num.partitions", "1");
            broker.put(internal + ".replication.factor", "1");
        }
        broker.put("transaction.state.log.min.isr", "1");
        broker.put("share.coordinator.state.topic.min.isr", "1");
        broker.put("group.initial.rebalance.delay.ms", "0");

        Path file = Files.createTempFile("broker", ".properties");
        Properties properties = new Properties();
        properties.putAll(broker);
        try (var out = Files.newOutputStream(file)) {
            properties.store(out, null);
        }
        Files.createDirectories(data);
        int status = StorageTool.execute(
            new String[] {"format", "--standalone", "-t", CLUSTER_ID, "-c", file.toString()}, System.out);
        Files.delete(file);
        if (status != 0) throw new IllegalStateException("format failed");
    }

    private void start() {
        server = new KafkaRaftServer(new KafkaConfig(broker), Time.SYSTEM);
        server.startup();
    }

    private void stop() throws Exception {
        Map<String, Long> ends = new TreeMap<>();
        try (Admin admin = admin()) {
            for (String topic : admin.listTopics(
                new org.apache.kafka.clients.admin.ListTopicsOptions().listInternal(true)).names().get()) {
                TopicPartition partition = new TopicPartition(topic, 0);
                ends.put(topic, admin.listOffsets(Map.of(partition, OffsetSpec.latest()))
                    .partitionResult(partition).get().offset());
            }
        }
        stops.add(ends);
        server.shutdown();
        server.awaitShutdown();
    }

    private void createTopics() throws Exception {
        try (Admin admin = admin()) {
            for (Map.Entry<String, Map<String, String>> topic : TOPICS.entrySet()) {
                NewTopic created = new NewTopic(topic.getKey(), 1, (short) 1).configs(topic.getValue());
                admin.createTopics(List.of(created)).all().get();
            }
        }
    }

    /** Batches of one to five records, without keys. */
    private void plain(int from, int to) throws Exception {
        try (var producer = producer(Map.of())) {
            for (int i = from; i < to; i++) {
                for (int j = 0; j <= i % 5; j++) {
                    producer.send(at("plain", i * 1000L + j, null, text("plain " + i + "." + j)));
                }
                producer.flush();
            }
        }
    }

    /** Keys and values: absent, empty, and longer than a one-byte varint tells. */
    private void keyed() throws Exception {
        byte[][] contents = {null, new byte[0], text("a"), text("kéy \uD83D\uDE00"), filled(63), filled(64)};
        try (var producer = producer(Map.of())) {
            for (byte[] key : contents) {
                for (byte[] value : contents) producer.send(at("keyed", 0, key, value));
                producer.flush();
            }
            producer.send(at("keyed", 0, text("long"), filled(9000)));
            producer.flush();
            // Timestamps that fall, and that lie far apart.
            for (long offset : new long[] {5000, 4000, -60_000, 7_000_000, 0}) {
                producer.send(at("keyed", Math.min(offset, 3_000_000), text("t"), text("" + offset)));
            }
            producer.flush();
        }
    }

    private void headers() throws Exception {
        try (var producer = producer(Map.of())) {
            for (int count : new int[] {1, 2, 5, 70}) {
                ProducerRecord<byte[], byte[]> record = at("headers", count, text("k"), text("v"));
                for (int i = 0; i < count; i++) {
                    byte[] value = i % 3 == 0 ? null : i % 3 == 1 ? new byte[0] : text("h" + i);
                    record.headers().add(i == 3 ? "" : "näme-" + i % 4, value);
                }
                producer.send(record);
                if (count != 1) producer.flush();
            }
        }
    }

    /** Little, some, and more than one block of each codec. */
    private void codecs() throws Exception {
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            try (var producer = producer(Map.of("compression.type", codec))) {
                producer.send(at("codecs", 0, null, text(codec)));
                producer.flush();
                for (int i = 0; i < 20; i++) {
                    ProducerRecord<byte[], byte[]> record = at("codecs", i, text("key-" + i), text(codec + " value " + i));
                    record.headers().add("codec", text(codec));
                    producer.send(record);
                }
                producer.flush();
                if (codec.equals("none")) continue;
                producer.send(at("codecs", 100, text("repeated"), filled(150_000)));
                producer.send(at("codecs", 101, text("noise"), noise(3000)));
                producer.flush();
            }
        }
        for (Map.Entry<String, String> level : Map.of("gzip", "1", "lz4", "17", "zstd", "19").entrySet()) {
            String codec = level.getKey();
            try (var producer = producer(Map.of("compression.type", codec,
                "compression." + codec + ".level", level.getValue()))) {
                for (int i = 0; i < 30; i++) producer.send(at("codecs", i, null, text("level " + i / 3)));
                producer.flush();
            }
        }
    }

    /** More batches than a producer's state keeps, and two producers in turns. */
    private void idempotentFirst() throws Exception {
        try (var one = producer(IDEMPOTENT); var two = producer(IDEMPOTENT)) {
            for (int i = 0; i < 8; i++) {
                for (int j = 0; j <= i % 3; j++) one.send(at("idempotent", i * 100L, text("one"), text("" + i)));
                one.flush();
                if (i % 2 != 0) continue;
                two.send(at("idempotent", i * 100L + 50, text("two"), text("" + i)));
                two.flush();
            }
        }
    }

    private void idempotentSecond() throws Exception {
        try (var three = producer(IDEMPOTENT)) {
            for (int i = 0; i < 4; i++) {
                three.send(at("idempotent", 2000 + i, text("three"), text("" + i)));
                three.flush();
            }
        }
    }

    /** Committed and aborted transactions, some open at the same time. */
    private void transactionalFirst() throws Exception {
        try (var one = producer(transactional("one")); var two = producer(transactional("two"))) {
            one.initTransactions();
            two.initTransactions();
            for (int i = 0; i < 5; i++) {
                one.beginTransaction();
                two.beginTransaction();
                send(one, "transactional", i * 100L, "one " + i);
                send(two, "transactional", i * 100L + 10, "two " + i);
                send(one, "transactional", i * 100L + 20, "one again " + i);
                if (i % 2 == 0) one.commitTransaction();
                else one.abortTransaction();
                if (i % 3 == 0) two.abortTransaction();
                else two.commitTransaction();
            }
        }
    }

    private void transactionalSecond() throws Exception {
        try (var one = producer(transactional("one"))) {
            one.initTransactions();
            one.beginTransaction();
            send(one, "transactional", 1000, "after the restart");
            one.abortTransaction();
        }
    }

    /** An open transaction at the end, as a client that died leaves it. */
    private void leaveTransactionOpen() throws Exception {
        var three = producer(transactional("three"));
        three.initTransactions();
        three.beginTransaction();
        send(three, "transactional", 2000, "never ended");
        three.close(Duration.ZERO);
    }

    /** Ten seconds of records a segment; idempotent, so that the snapshots have entries. */
    private void rolled(int from, int to) throws Exception {
        try (var producer = producer(IDEMPOTENT)) {
            for (int i = from; i < to; i++) {
                for (int j = 0; j <= i % 4; j++) {
                    producer.send(at("rolled", i * 1500L - j * 100L, text("k" + i % 3), text("rolled " + i + "." + j)));
                }
                producer.flush();
            }
        }
    }

    private void appendTime(int from) throws Exception {
        try (var producer = producer(Map.of())) {
            for (int i = from; i < from + 4; i++) {
                for (int j = 0; j < 3; j++) producer.send(at("append-time", i, null, text("append-time " + i)));
                producer.flush();
                Thread.sleep(5);
            }
        }
    }

    private void trimmed() throws Exception {
        try (var producer = producer(Map.of())) {
            for (int i = 0; i < 20; i++) {
                for (int j = 0; j < 3; j++) producer.send(at("trimmed", i * 2000L, null, text("trimmed " + i)));
                producer.flush();
            }
        }
    }

    private void trimAndDelete() throws Exception {
        try (Admin admin = admin()) {
            TopicPartition trimmed = new TopicPartition("trimmed", 0);
            admin.deleteRecords(Map.of(trimmed, RecordsToDelete.beforeOffset(25))).all().get();
            ConfigResource plain = new ConfigResource(ConfigResource.Type.TOPIC, "plain");
            AlterConfigOp set = new AlterConfigOp(new ConfigEntry("flush.messages", "9"), AlterConfigOp.OpType.SET);
            AlterConfigOp unset = new AlterConfigOp(new ConfigEntry("flush.messages", ""), AlterConfigOp.OpType.DELETE);
            admin.incrementalAlterConfigs(Map.of(plain, List.of(set))).all().get();
            admin.incrementalAlterConfigs(Map.of(plain, List.of(unset))).all().get();
            admin.deleteTopics(List.of("gone")).all().get();
        }
        await("segments below the start to go", () -> segments("trimmed-0").stream().noneMatch(name -> name.startsWith("0".repeat(20))));
        await("the deleted topic to go", () -> !Files.exists(data.resolve("gone-0"))
            && Files.list(data).noneMatch(path -> path.getFileName().toString().startsWith("gone-0.")));
    }

    /** Keys written again and again, tombstones, and a producer of whose records none survives. */
    private void compacted() throws Exception {
        try (var one = producer(IDEMPOTENT); var shadowed = producer(IDEMPOTENT); var plain = producer(Map.of())) {
            for (int i = 0; i < 3; i++) shadowed.send(at("compacted", i, text("k" + i), text("shadowed")));
            shadowed.flush();
            for (int i = 0; i < 24; i++) {
                for (int j = 0; j < 4; j++) {
                    int key = (i * i + j * 3) % 12;
                    byte[] value = key == 7 && i > 15 ? null : text("compacted " + i + "." + j);
                    one.send(at("compacted", i * 1000L + j, text("k" + key), value));
                }
                one.flush();
            }
            // Beyond segment.ms: everything before leaves the active segment.
            plain.send(at("compacted", 40_000, text("last"), text("active")));
            plain.flush();
        }
        awaitCleaned("compacted");
    }

    private void compactedTransactional() throws Exception {
        try (var one = producer(transactional("compacting"))) {
            one.initTransactions();
            for (int i = 0; i < 6; i++) {
                one.beginTransaction();
                for (int j = 0; j < 3; j++) send(one, "compacted-transactional", i * 1000L, "v" + i + j);
                if (i % 2 == 0) one.commitTransaction();
                else one.abortTransaction();
            }
        }
        try (var plain = producer(Map.of())) {
            // Markers have the time of their writing, so the roll must come after it.
            plain.send(new ProducerRecord<>("compacted-transactional", null, System.currentTimeMillis() + 600_000, text("last"), text("active")));
            plain.flush();
        }
        awaitCleaned("compacted-transactional");
    }

    private void commitOffsets() {
        Map<String, Object> configs = clientConfigs();
        configs.put("group.id", "readers");
        configs.put("isolation.level", "read_committed");
        configs.put("auto.offset.reset", "earliest");
        configs.put("key.deserializer", ByteArrayDeserializer.class.getName());
        configs.put("value.deserializer", ByteArrayDeserializer.class.getName());
        TopicPartition plain = new TopicPartition("plain", 0);
        try (var consumer = new KafkaConsumer<byte[], byte[]>(configs)) {
            consumer.assign(List.of(plain));
            for (long offset : new long[] {3, 9}) {
                consumer.commitSync(Map.of(plain, new OffsetAndMetadata(offset, Optional.of(0), "as a test")));
            }
        }
    }

    private static final Map<String, String> IDEMPOTENT = Map.of("enable.idempotence", "true");

    private static Map<String, String> transactional(String id) {
        return Map.of("enable.idempotence", "true", "transactional.id", id, "transaction.timeout.ms", "900000");
    }

    /** Sends what it is given when it is flushed, one batch a flush. */
    private static KafkaProducer<byte[], byte[]> producer(Map<String, String> more) {
        Map<String, Object> configs = clientConfigs();
        configs.put("acks", "all");
        configs.put("enable.idempotence", "false");
        configs.put("linger.ms", "60000");
        configs.put("batch.size", "400000");
        configs.put("key.serializer", ByteArraySerializer.class.getName());
        configs.put("value.serializer", ByteArraySerializer.class.getName());
        configs.putAll(more);
        return new KafkaProducer<>(configs);
    }

    private static Map<String, Object> clientConfigs() {
        Map<String, Object> configs = new HashMap<>();
        configs.put("bootstrap.servers", BROKER);
        configs.put("enable.metrics.push", "false");
        return configs;
    }

    private static Admin admin() {
        return Admin.create(clientConfigs());
    }

    private void send(KafkaProducer<byte[], byte[]> producer, String topic, long offsetMs, String value) {
        producer.send(at(topic, offsetMs, text(value.substring(0, 2)), text(value)));
        producer.flush();
    }

    private ProducerRecord<byte[], byte[]> at(String topic, long offsetMs, byte[] key, byte[] value) {
        return new ProducerRecord<>(topic, null, base + offsetMs, key, value);
    }

    private void awaitCleaned(String topic) throws Exception {
        List<String> names = segments(topic + "-0").stream().filter(name -> name.endsWith(".log")).sorted().toList();
        long active = Long.parseLong(names.get(names.size() - 1).substring(0, 20));
        Path checkpoint = data.resolve("cleaner-offset-checkpoint");
        String line = topic + " 0 " + active;
        await(line, () -> Files.exists(checkpoint) && Files.readAllLines(checkpoint).contains(line));
        await("replaced segments to go", () -> segments(topic + "-0").stream().noneMatch(name -> name.endsWith(".deleted")));
    }

    private List<String> segments(String directory) throws Exception {
        try (var files = Files.list(data.resolve(directory))) {
            return files.map(path -> path.getFileName().toString()).toList();
        }
    }

    private static void await(String what, Callable<Boolean> condition) throws Exception {
        for (int i = 0; i < 300; i++) {
            if (condition.call()) return;
            Thread.sleep(100);
        }
        throw new IllegalStateException("waited in vain for: " + what);
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] filled(int size) {
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) bytes[i] = (byte) (i % 251);
        return bytes;
    }

    /** Bytes that no codec makes smaller. */
    private static byte[] noise(int size) {
        byte[] bytes = new byte[size];
        new java.util.Random(1).nextBytes(bytes);
        return bytes;
    }
}
