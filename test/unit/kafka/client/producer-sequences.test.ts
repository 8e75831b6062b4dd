import { expect, test } from "vitest";
import type { SequencedBatch } from "../../../../src/kafka/client/partition-sequences.ts";
import { PartitionSequences } from "../../../../src/kafka/client/partition-sequences.ts";
import { ProducerSequences } from "../../../../src/kafka/client/producer-sequences.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";

class TestBatch implements SequencedBatch {
  readonly recordCount: number;
  producerId = -1;
  producerEpoch = -1;
  baseSequence = -1;
  sequenceHasBeenReset = false;

  constructor(recordCount = 1) {
    this.recordCount = recordCount;
  }

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

/** A producer with an id, one partition, and batches of these sizes under way. */
function underWay(...sizes: number[]): {
  producer: ProducerSequences;
  partition: PartitionSequences;
  batches: TestBatch[];
} {
  const producer = new ProducerSequences();
  producer.initialize(7, 0);
  const partition = new PartitionSequences();
  const batches = sizes.map((size) => new TestBatch(size));
  for (const batch of batches) producer.assign(partition, batch);
  return { producer, partition, batches };
}

test("sequences follow each other without a gap", () => {
  const { batches, partition } = underWay(2, 3, 1);

  expect(batches.map((batch) => batch.baseSequence)).toEqual([0, 2, 5]);
  expect(partition.nextSequence).toBe(6);
});

test("nothing is drained without a producer id", () => {
  const producer = new ProducerSequences();

  expect(producer.mayDrain(new PartitionSequences(), new TestBatch(), false)).toBe(false);
});

test("of batches that are sent again only the oldest may go", () => {
  const { producer, partition, batches } = underWay(1, 1, 1);
  const may = (): boolean[] => batches.map((batch) => producer.mayDrain(partition, batch, true));

  expect(may()).toEqual([true, false, false]);
  partition.acked(batches[0] as TestBatch, 10);
  expect(may().slice(1)).toEqual([true, false]);
});

test("out of order behind others is tried again; at the head it bumps the epoch", () => {
  const error = ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER;
  const { producer, partition, batches } = underWay(2, 3);
  const [first, second] = batches as [TestBatch, TestBatch];

  expect(producer.canRetry(partition, second, error, 0)).toBe(true);
  producer.settle();
  const epochBefore = producer.producerEpoch;
  expect(producer.canRetry(partition, first, error, 0)).toBe(true);
  producer.settle();

  expect(epochBefore).toBe(0);
  expect(producer.producerEpoch).toBe(1);
  expect([first.baseSequence, second.baseSequence]).toEqual([0, 2]);
  expect(batches.every((batch) => batch.producerEpoch === 1 && batch.sequenceHasBeenReset)).toBe(
    true,
  );
  // What was rewritten has not been answered under its new numbers: the next such error passes.
  expect(producer.canRetry(partition, first, error, 0)).toBe(true);
  producer.settle();
  expect(producer.producerEpoch).toBe(1);
});

test("an unknown producer id bumps the epoch once, and is always tried again", () => {
  const error = ERRORS.UNKNOWN_PRODUCER_ID;
  const { producer, partition, batches } = underWay(1);
  const [batch] = batches as [TestBatch];

  expect(producer.canRetry(partition, batch, error, -1)).toBe(true);
  producer.settle();
  expect(producer.producerEpoch).toBe(0);
  expect(producer.canRetry(partition, batch, error, 5)).toBe(true);
  producer.settle();
  expect(producer.canRetry(partition, batch, error, 5)).toBe(true);
  producer.settle();
  expect(producer.producerEpoch).toBe(1);
});

test("after a bump a partition's new batches wait for those of the old epoch", () => {
  const { producer, partition, batches } = underWay(1);
  const other = new PartitionSequences();
  const culprit = new TestBatch();
  producer.assign(other, culprit);

  producer.failed(other, culprit, ERRORS.INVALID_RECORD, true);
  producer.settle();
  const fresh = new TestBatch();
  const whileOldUnderWay = producer.mayDrain(partition, fresh, false);
  partition.acked(batches[0] as TestBatch, 0);
  const afterwards = producer.mayDrain(partition, fresh, false);
  producer.assign(partition, fresh);

  expect(producer.producerEpoch).toBe(1);
  expect(whileOldUnderWay).toBe(false);
  expect(afterwards).toBe(true);
  expect([fresh.producerEpoch, fresh.baseSequence]).toEqual([1, 0]);
});

test("a batch given up in doubt stops new ones until the others have answers", () => {
  const { producer, partition, batches } = underWay(1, 1);
  const [first, second] = batches as [TestBatch, TestBatch];

  producer.failed(partition, first, ERRORS.REQUEST_TIMED_OUT, false);
  producer.markUnresolved(partition, first);
  producer.settle();
  const meanwhile = producer.mayDrain(partition, new TestBatch(), false);
  // The next one was written, so the one before it had been.
  partition.acked(second, 1);
  producer.settle();

  expect(meanwhile).toBe(false);
  expect(producer.producerEpoch).toBe(0);
  expect(producer.mayDrain(partition, new TestBatch(), false)).toBe(true);
});

test("if none of them was acknowledged, the epoch is bumped and numbering begins at 0", () => {
  const { producer, partition, batches } = underWay(1);
  const [first] = batches as [TestBatch];

  producer.failed(partition, first, ERRORS.REQUEST_TIMED_OUT, false);
  producer.markUnresolved(partition, first);
  producer.settle();

  const fresh = new TestBatch();
  expect(producer.mayDrain(partition, fresh, false)).toBe(true);
  producer.assign(partition, fresh);
  expect([fresh.producerEpoch, fresh.baseSequence]).toEqual([1, 0]);
});

test("after the last epoch a new producer id is asked for", () => {
  const { producer, partition, batches } = underWay(1);
  producer.initialize(7, 32_767);

  producer.failed(partition, batches[0] as TestBatch, ERRORS.INVALID_PRODUCER_EPOCH, true);
  producer.settle();

  expect(producer.hasProducerId).toBe(false);
});
