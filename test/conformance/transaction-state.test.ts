import { describe, expect, test } from "vitest";
import {
  decodeTransactionKey,
  decodeTransactionValue,
  encodeTransactionKey,
  encodeTransactionValue,
} from "../../src/kafka/transaction/transaction-log.ts";
import type {
  TransactionMetadataOptions,
  TransactionTransition,
} from "../../src/kafka/transaction/transaction-metadata.ts";
import { TransactionMetadata } from "../../src/kafka/transaction/transaction-metadata.ts";
import { decideEnd } from "../../src/kafka/transaction/transaction-rules.ts";
import { isPrepared } from "../../src/kafka/transaction/transaction-state.ts";
import { batchesIn, RELEASES, RealKafka } from "./real-kafka.ts";

interface Written {
  readonly transactionalId: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly options: TransactionMetadataOptions;
}

function written(release: string): Written[] {
  const kafka = new RealKafka(release);
  const path = "__transaction_state-0/00000000000000000000.log";
  return batchesIn(kafka.bytes(path)).flatMap((batch) =>
    batch.records().map(({ key, value }) => {
      if (key === undefined || value === undefined)
        throw new Error("a record without key or value");
      const transactionalId = decodeTransactionKey(key) ?? "";
      return {
        transactionalId,
        key,
        value,
        options: decodeTransactionValue(transactionalId, value),
      };
    }),
  );
}

describe.each(RELEASES)("the transaction log of %s", (release) => {
  const records = written(release);

  test("is read, and written again byte for byte", () => {
    expect(records.length).toBeGreaterThan(50);
    for (const { transactionalId, key, value, options } of records) {
      const transition: TransactionTransition = { ...options, lastProducerEpoch: -1 };
      expect(encodeTransactionKey(transactionalId)).toEqual(key);
      expect(encodeTransactionValue(transition, 2)).toEqual(value);
    }
    expect(new Set(records.map(({ transactionalId }) => transactionalId))).toEqual(
      new Set(["one", "two", "compacting", "three"]),
    );
    expect(new Set(records.map(({ options }) => options.state))).toEqual(
      new Set([
        "Empty",
        "Ongoing",
        "PrepareCommit",
        "PrepareAbort",
        "CompleteCommit",
        "CompleteAbort",
      ]),
    );
  });

  test("is what our coordinator writes for the same requests at the same times", () => {
    const known = new Map<string, TransactionMetadata>();
    for (const { transactionalId, value, options } of records) {
      const now = options.lastUpdateTimestamp;
      let metadata = known.get(transactionalId);
      if (metadata === undefined) {
        metadata = TransactionMetadata.create(
          transactionalId,
          options.producerId,
          options.timeoutMs,
          now,
        );
        known.set(transactionalId, metadata);
      }
      const transition = again(metadata, options, now);
      expect(encodeTransactionValue(transition, 2)).toEqual(value);
      metadata.completeTransition(transition);
    }
  });
});

/** What a coordinator makes of the request that led to this record. */
function again(
  metadata: TransactionMetadata,
  to: TransactionMetadataOptions,
  now: number,
): TransactionTransition {
  const { state, partitions, timeoutMs } = to;
  let decision: unknown;
  if (state === "Empty") {
    decision = metadata.prepareIncrementProducerEpoch(timeoutMs, undefined, now);
  } else if (state === "Ongoing") decision = metadata.prepareAddPartitions(partitions, now, 2);
  else if (isPrepared(state)) {
    const { producerId, producerEpoch } = metadata;
    const end = { producerId, producerEpoch, commit: state === "PrepareCommit" };
    const asked = { ...end, isFromClient: true, clientTransactionVersion: 2 } as const;
    decision = decideEnd(metadata, asked, now, undefined);
  } else decision = metadata.prepareComplete(now);
  if (typeof decision !== "object" || decision === null || !("partitions" in decision)) {
    throw new Error(`${metadata.transactionalId} was refused ${state}`);
  }
  return decision as TransactionTransition;
}
