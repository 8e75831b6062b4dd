import { parentOf } from "../../kafka/zookeeper/znode-tree.ts";
import { ZOOKEEPER_ERROR } from "../../kafka/zookeeper/zookeeper-error.ts";
import type { AcrossSessions, Answered, ZookeeperClient } from "./zookeeper-client.ts";

/**
 * Creates a znode, and first its parents if they are not there (`ZkUtils.createParentPath`): those are persistent.
 * The answer is that to the znode itself.
 */
export function createWithParents(
  client: ZookeeperClient,
  path: string,
  data: string,
  isEphemeral: boolean,
  across: AcrossSessions,
  answered: Answered,
): void {
  client.ask({ op: "create", path, data, isEphemeral }, across, (error, response) => {
    if (error !== ZOOKEEPER_ERROR.NONODE) {
      answered(error, response);
      return;
    }
    // Another may be quicker to create it: then it is there.
    createWithParents(client, parentOf(path), "", false, across, (failed, about) => {
      if (failed === ZOOKEEPER_ERROR.SESSIONEXPIRED) answered(failed, about);
      else createWithParents(client, path, data, isEphemeral, across, answered);
    });
  });
}
