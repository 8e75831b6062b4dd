import { expect, test } from "vitest";
import type { WireBody, WireField, WireType } from "../../../support/wire-encoder.ts";
import { WireEncoder } from "../../../support/wire-encoder.ts";
import { SCHEMAS } from "../../../support/wire-schemas.ts";

/** The twin itself, against bytes derived by hand from KIP-482 and Kafka's protocol guide. */

function encoded(type: WireType, value: unknown): string {
  const encoder = new WireEncoder();
  encoder.value(type, value);
  return hex(encoder.bytes);
}

function hex(bytes: Iterable<number>): string {
  return Buffer.from([...bytes]).toString("hex");
}

function join(...parts: string[]): string {
  return parts.join("");
}

test.each([
  ["a varint of 300: seven bits a byte, lowest first", "string", "x".repeat(299), /^ac0278/],
  ["a compact string: its bytes and one, then the bytes", "string", "abc", /^04616263$/],
  ["an integer is big-endian", "int32", 258, /^00000102$/],
  ["a negative one in two's complement", "int64", -2, /^fffffffffffffffe$/],
  ["true", "bool", true, /^01$/],
  ["Uuid(0, 1)", "uuid", "AAAAAAAAAAAAAAAAAAAAAQ", /^00000000000000000000000000000001$/],
  [
    "a compact array: its count and one, then the items",
    { arrayOf: "int16" as const },
    [1, 2],
    /^0300010002$/,
  ],
] as const)("%s", (_, type, value, bytes) => {
  expect(encoded(type, value)).toMatch(bytes);
});

test("a structure ends with its tagged fields in order, each with its tag and length", () => {
  const fields: readonly WireField[] = [
    { name: "a", type: "int8" },
    { name: "first", type: "int16", tag: 0 },
    { name: "second", type: "string", tag: 1 },
    { name: "b", type: "string", nullable: true },
  ];

  expect(encoded(fields, { a: 7, b: undefined })).toBe("070000");
  expect(encoded(fields, { a: 7, b: "", second: "hi", first: 5 })).toBe(
    join("07", "01", "02", "00020005", "0103036869"),
  );
});

test("a body that lacks a field of the schema is not encoded", () => {
  expect(() => encoded([{ name: "acks", type: "int16" }], {})).toThrow("acks");
});

test("an InitProducerId request, byte for byte", () => {
  const body: WireBody = {
    transactionalId: undefined,
    transactionTimeoutMs: 60_000,
    producerId: -1,
    producerEpoch: -1,
  };
  const { key, version, request } = SCHEMAS.INIT_PRODUCER_ID;

  const bytes = WireEncoder.request({ key, version, correlationId: 7 }, "me", request.fields, body);

  const header = join("0016", "0005", "00000007", "00026d65", "00");
  const fields = join("00", "0000ea60", "ffffffffffffffff", "ffff", "00");
  expect(hex(bytes)).toBe(join("0000001d", header, fields));
});

test("an AlterPartition response, byte for byte", () => {
  const partition = {
    partitionIndex: 0,
    errorCode: 0,
    leaderId: 1,
    leaderEpoch: 3,
    isr: [1, 2],
    leaderRecoveryState: 0,
    partitionEpoch: 5,
  };
  const body: WireBody = {
    throttleTimeMs: 0,
    errorCode: 0,
    topics: [{ topicId: "AAAAAAAAAAAAAAAAAAAAAQ", partitions: [partition] }],
  };

  const bytes = WireEncoder.response(9, SCHEMAS.ALTER_PARTITION.response.fields, body);

  const isr = join("03", "00000001", "00000002");
  const inner = join("00000000", "0000", "00000001", "00000003", isr, "00", "00000005", "00");
  const topic = join("00".repeat(15), "01", "02", inner, "00");
  const content = join("00000009", "00", "00000000", "0000", "02", topic, "00");
  expect(hex(bytes)).toBe(join("0000003c", content));
});
