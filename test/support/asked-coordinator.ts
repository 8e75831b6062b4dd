import { SECOND } from "../../src/base/time.ts";
import type { ClusterSpec } from "../../src/cluster/cluster-spec.ts";
import { errorOf } from "../../src/kafka/error-code.ts";
import { ADD_PARTITIONS_TO_TXN_V3 } from "../../src/kafka/protocol/add-partitions-to-txn.ts";
import {
  ADD_PARTITIONS_TO_TXN,
  END_TXN,
  FIND_COORDINATOR,
  INIT_PRODUCER_ID,
} from "../../src/kafka/protocol/apis.ts";
import { END_TXN_V4 } from "../../src/kafka/protocol/end-txn.ts";
import { COORDINATOR_TYPE } from "../../src/kafka/protocol/find-coordinator.ts";
import { PRESENT_FEATURES } from "../../src/kafka/protocol-switches.ts";
import { AskedCluster } from "./asked-cluster.ts";

/** Who a producer is. */
export interface Identity {
  readonly producerId: number;
  readonly producerEpoch: number;
}

export const NOBODY: Identity = { producerId: -1, producerEpoch: -1 };

/** A whole cluster, and what a producer asks the coordinator of its transactional id. */
export class AskedCoordinator extends AskedCluster {
  /** The coordinator's id, as it was found last. */
  coordinator = -1;
  readonly version: 1 | 2;

  constructor(
    version: 1 | 2 = 2,
    configs: Readonly<Record<string, unknown>> = {},
    more: Partial<ClusterSpec> = {},
  ) {
    super({
      ...more,
      features: { ...PRESENT_FEATURES, "transaction.version": version },
      configs: { "transaction.state.log.num.partitions": 1, ...configs },
    });
    this.version = version;
    this.find();
  }

  /** Asks broker after broker until one names the coordinator, and that is loaded. */
  find(transactionalId = "app"): void {
    const body = { keyType: COORDINATOR_TYPE.transaction, coordinatorKeys: [transactionalId] };
    for (let attempt = 0; attempt < 100; attempt++) {
      const asked = this.ask(1 + (attempt % 3), FIND_COORDINATOR, body);
      this.until(() => asked.isOver);
      const found = asked.response?.coordinators[0];
      this.run(SECOND);
      if (found !== undefined && found.errorCode === 0) {
        this.coordinator = found.nodeId;
        return;
      }
    }
    throw new Error("nobody coordinates");
  }

  /** An identity, or the name of an error. */
  init(expected: Identity = NOBODY, transactionTimeoutMs = 60_000, id = "app"): Identity | string {
    const body = { transactionalId: id, transactionTimeoutMs, ...expected };
    const answer = this.answer(this.coordinator, INIT_PRODUCER_ID, body);
    return answer.errorCode === 0 ? identityOf(answer) : errorOf(answer.errorCode).name;
  }

  /** Asked again while it is refused only for now. */
  begin(expected: Identity = NOBODY, transactionTimeoutMs = 60_000): Identity {
    for (let attempt = 0; attempt < 100; attempt++) {
      const answer = this.init(expected, transactionTimeoutMs);
      if (typeof answer !== "string") return answer;
      this.run(SECOND / 10);
    }
    throw new Error("no identity");
  }

  /** The names of the errors, by partition of `orders`. */
  add(who: Identity, partitions: readonly number[] = [0], verifyOnly = false): string[] {
    const topics = [{ name: "orders", partitions }];
    const transaction = { transactionalId: "app", ...who, verifyOnly, topics };
    const isOfClient = this.version === 1 && !verifyOnly;
    const api = isOfClient ? ADD_PARTITIONS_TO_TXN_V3 : ADD_PARTITIONS_TO_TXN;
    const answer = this.answer(this.coordinator, api, { transactions: [transaction] });
    return answer.resultsByTransaction.flatMap(({ topicResults }) =>
      topicResults.flatMap(({ resultsByPartition }) =>
        resultsByPartition.map(({ partitionErrorCode }) => errorOf(partitionErrorCode).name),
      ),
    );
  }

  /** The identity for what follows, which is none below version 2, or the name of an error. */
  end(who: Identity, committed: boolean): Identity | string {
    const api = this.version === 1 ? END_TXN_V4 : END_TXN;
    const body = { transactionalId: "app", ...who, committed };
    const answer = this.answer(this.coordinator, api, body);
    return answer.errorCode === 0 ? identityOf(answer) : errorOf(answer.errorCode).name;
  }

  /** The states of the transactional id, as its coordinators told them. */
  states(): string[] {
    return this.factsOf("transaction-state-changed").map(({ to }) => to);
  }

  /** The markers that leaders have written to orders-0. */
  markers(): string[] {
    return this.factsOf("appended")
      .filter(
        ({ partition, asLeader, batch }) => partition === "orders-0" && asLeader && batch.isControl,
      )
      .map(({ batch }) => `${batch.producerId} ${batch.producerEpoch}`);
  }

  crash(broker: number): void {
    const { cluster } = this;
    cluster.hosts[this.#address(broker)]?.crash("a test");
  }

  restart(broker: number): void {
    this.cluster.hosts[this.#address(broker)]?.start();
  }

  #address(broker: number): number {
    return this.cluster.table.brokers.find(({ id }) => id === broker)?.address ?? -1;
  }
}

function identityOf({ producerId, producerEpoch }: Identity): Identity {
  return { producerId, producerEpoch };
}
