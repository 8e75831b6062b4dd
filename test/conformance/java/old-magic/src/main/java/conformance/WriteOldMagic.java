package conformance;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.TimestampType;

/** Writes `.log` files of magic 0 and 1, each of three sets. Argument: the directory for them. */
public final class WriteOldMagic {
    private static final long BASE = 1_700_000_000_000L;

    public static void main(String[] args) throws Exception {
        Path directory = Files.createDirectories(Path.of(args[0]));
        for (byte magic : new byte[] {0, 1}) {
            for (CompressionType codec : CompressionType.values()) {
                if (codec == CompressionType.ZSTD) continue;
                write(directory, magic, codec, magic == 0 ? TimestampType.NO_TIMESTAMP_TYPE : TimestampType.CREATE_TIME);
                if (magic == 1) write(directory, magic, codec, TimestampType.LOG_APPEND_TIME);
            }
        }
    }

    private static void write(Path directory, byte magic, CompressionType codec, TimestampType type) throws Exception {
        String suffix = type == TimestampType.LOG_APPEND_TIME ? "-append-time" : "";
        Path file = directory.resolve("magic-" + magic + "-" + codec.name + suffix + ".log");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            long offset = 40;
            for (int count : new int[] {1, 3, 12}) {
                ByteBuffer buffer = ByteBuffer.allocate(300_000);
                long appendTime = type == TimestampType.LOG_APPEND_TIME ? BASE + 77 : RecordBatch.NO_TIMESTAMP;
                MemoryRecordsBuilder builder = MemoryRecords.builder(buffer, magic, codec, type, offset, appendTime);
                for (int i = 0; i < count; i++) append(builder, magic, codec == CompressionType.NONE, offset + i, i);
                MemoryRecords records = builder.build();
                ByteBuffer bytes = records.buffer().duplicate();
                while (bytes.hasRemaining()) channel.write(bytes);
                offset += count;
            }
        }
    }

    private static void append(MemoryRecordsBuilder builder, byte magic, boolean isPlain, long offset, int i) {
        long timestamp = magic == 0 ? RecordBatch.NO_TIMESTAMP : BASE + (i % 5) * 100;
        byte[] key = i % 3 == 1 ? null : ("key-" + i).getBytes(StandardCharsets.UTF_8);
        byte[] value = i % 4 == 3 ? null : i == 5 ? new byte[isPlain ? 700 : 70_000] : ("value of " + offset).getBytes(StandardCharsets.UTF_8);
        builder.appendWithOffset(offset, timestamp, key, value);
    }
}
