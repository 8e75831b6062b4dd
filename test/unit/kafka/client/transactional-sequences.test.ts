import { expect, test } from "vitest";
import type { SequencedBatch } from "../../../../src/kafka/client/partition-sequences.ts";
import { PartitionSequences } from "../../../../src/kafka/client/partition-sequences.ts";
import { TransactionalSequences } from "../../../../src/kafka/client/transactional-sequences.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";

class TestBatch implements SequencedBatch {
  readonly recordCount = 10;
  producerId = -1;
  producerEpoch = -1;
  baseSequence = -1;
  sequenceHasBeenReset = false;

  setProducerState(producerId: number, producerEpoch: number, baseSequence: number): void {
    this.producerId = producerId;
    this.producerEpoch = producerEpoch;
    this.baseSequence = baseSequence;
  }

  resetProducerState(producerId: number, producerEpoch: number, baseSequence: number): void {
    this.setProducerState(producerId, producerEpoch, baseSequence);
    this.sequenceHasBeenReset = true;
  }
}

/** A producer in epoch 3, and three batches of ten records under way to one partition. */
function underWay(): {
  readonly producer: TransactionalSequences;
  readonly partition: PartitionSequences;
  readonly first: TestBatch;
  readonly second: TestBatch;
  readonly third: TestBatch;
} {
  const producer = new TransactionalSequences();
  producer.initialize(7, 3);
  const partition = new PartitionSequences();
  const [first, second, third] = [new TestBatch(), new TestBatch(), new TestBatch()];
  for (const batch of [first, second, third]) producer.assign(partition, batch);
  return { producer, partition, first, second, third };
}

test("what follows a refused batch moves up, so that no sequence is missing", () => {
  const { producer, partition, first, second, third } = underWay();

  producer.failed(partition, second, ERRORS.MESSAGE_TOO_LARGE, true);

  expect([first.baseSequence, third.baseSequence]).toEqual([0, 10]);
  expect(third.sequenceHasBeenReset).toBe(true);
  expect(partition.nextSequence).toBe(20);
});

test("sequences move up across the end of their range", () => {
  const { producer, partition, first, second } = underWay();
  partition.nextSequence = 5;
  second.setProducerState(7, 3, 2);

  producer.failed(partition, first, ERRORS.MESSAGE_TOO_LARGE, true);

  expect(partition.nextSequence).toBe(2 ** 31 - 5);
  expect(second.baseSequence).toBe(2 ** 31 - 8);
});

test("a batch that may be written leaves a gap, of which the transaction is told and no epoch is taken", () => {
  const { producer, partition, first, second, third } = underWay();
  producer.failed(partition, first, ERRORS.REQUEST_TIMED_OUT, false);
  producer.markUnresolved(partition, first);

  producer.settle();
  expect(producer.hasGap).toBe(false);
  expect(producer.mayDrain(partition, new TestBatch(), false)).toBe(false);

  for (const batch of [second, third]) partition.remove(batch);
  producer.settle();
  expect(producer.hasGap).toBe(true);
  expect(producer.producerEpoch).toBe(3);
});

test("a batch that turns out to be written leaves none", () => {
  const { producer, partition, first, second, third } = underWay();
  producer.markUnresolved(partition, first);
  for (const batch of [first, second, third]) partition.acked(batch, 100);

  producer.settle();

  expect(producer.hasGap).toBe(false);
  expect(producer.mayDrain(partition, new TestBatch(), false)).toBe(true);
});

test("with a new epoch nothing of the old one counts", () => {
  const { producer, partition, first, second, third } = underWay();
  producer.markUnresolved(partition, first);
  producer.hasGap = true;
  for (const batch of [first, second, third]) partition.remove(batch);

  producer.initialize(7, 4);

  expect(producer.hasGap).toBe(false);
  const next = new TestBatch();
  expect(producer.mayDrain(partition, next, false)).toBe(true);
  producer.assign(partition, next);
  expect([next.producerEpoch, next.baseSequence]).toEqual([4, 0]);
});

test("there is hope after an unknown producer only if its records are gone by retention, and after a gap only behind others", () => {
  const { producer, partition, first, second } = underWay();
  const retry = (batch: TestBatch, error: keyof typeof ERRORS, logStart = 0): boolean =>
    producer.canRetry(partition, batch, ERRORS[error], logStart);

  expect(retry(first, "OUT_OF_ORDER_SEQUENCE_NUMBER")).toBe(false);
  expect(retry(second, "OUT_OF_ORDER_SEQUENCE_NUMBER")).toBe(true);
  expect(retry(first, "NOT_LEADER_OR_FOLLOWER")).toBe(true);
  expect(retry(first, "INVALID_PRODUCER_EPOCH")).toBe(false);
  expect(retry(first, "UNKNOWN_PRODUCER_ID", -1)).toBe(true);
  partition.lastAckedOffset = 50;
  expect(retry(first, "UNKNOWN_PRODUCER_ID", 40)).toBe(false);
  expect(retry(first, "UNKNOWN_PRODUCER_ID", 60)).toBe(true);
  expect(first.sequenceHasBeenReset).toBe(true);
});

test("a producer that the broker does not know begins anew", () => {
  const { producer, partition, first, second } = underWay();
  producer.markUnresolved(partition, first);

  producer.failed(partition, first, ERRORS.UNKNOWN_PRODUCER_ID, true);

  expect(second.baseSequence).toBe(0);
  expect(partition.isUnresolved).toBe(false);
});
