/** The answers of ZooKeeper that matter here, by its own names and codes (`KeeperException.Code`). */
export const ZOOKEEPER_ERROR = {
  OK: 0,
  NONODE: -101,
  BADVERSION: -103,
  NOCHILDRENFOREPHEMERALS: -108,
  NODEEXISTS: -110,
  NOTEMPTY: -111,
  SESSIONEXPIRED: -112,
} as const;

export type ZookeeperError = (typeof ZOOKEEPER_ERROR)[keyof typeof ZOOKEEPER_ERROR];
