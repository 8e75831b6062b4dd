import type { Form, JsonSchema } from "../form.ts";
import { complainAboutKeys, expectList, mappingSchema, nameOf } from "../form.ts";
import type { Reading } from "../reading.ts";
import type { YamlNode } from "../yaml-node.ts";
import type { Expectation } from "./expectation.ts";
import { GUARANTEE_NAMES, GuaranteeHolds } from "./guarantee-holds.ts";
import { EXPECTATION_KINDS } from "./registry.ts";

const KIND_NAMES: readonly string[] = EXPECTATION_KINDS.map(({ name }) => name);

/** `expect:`. What cannot be read is left out, after the complaints. */
export const EXPECTATIONS: Form<readonly Expectation[]> = {
  takes: "a list",
  schema: { type: "array", items: { $ref: "#/definitions/expectation" } },
  read(node, reading, label) {
    const items = expectList(node, reading, label);
    if (items === undefined) return undefined;
    const expectations: Expectation[] = [];
    for (const item of items) {
      const expectation = readExpectation(item, reading);
      if (expectation !== undefined) expectations.push(expectation);
    }
    return expectations;
  },
};

/** The schema that the form of expectations refers to. */
export function expectationDefinition(): JsonSchema {
  return {
    anyOf: [
      { enum: GUARANTEE_NAMES },
      ...EXPECTATION_KINDS.map(({ meaning, keys }) => ({
        description: meaning,
        ...mappingSchema(keys),
      })),
    ],
  };
}

function readExpectation(node: YamlNode, reading: Reading): Expectation | undefined {
  if (node.kind === "scalar" && node.value !== undefined) {
    if (GUARANTEE_NAMES.includes(node.text)) return new GuaranteeHolds(node.text, node.place);
    if (KIND_NAMES.includes(node.text)) {
      return reading.complain(node.place, `\`${node.text}\` needs a value: \`${node.text}: ...\``);
    }
    return reading.unknown(node.place, "expectation", node.text, [
      ...GUARANTEE_NAMES,
      ...KIND_NAMES,
    ]);
  }
  if (node.kind !== "map") {
    return reading.complain(
      node.place,
      `an expectation is a name or a mapping, not ${nameOf(node)}`,
    );
  }
  const found = node.entries.filter(({ key }) => KIND_NAMES.includes(key));
  const [first, second] = found;
  if (first === undefined) {
    const [stranger] = node.entries;
    if (stranger === undefined)
      return reading.complain(node.place, "an expectation is missing here");
    if (GUARANTEE_NAMES.includes(stranger.key)) {
      return reading.complain(
        stranger.keyPlace,
        `\`${stranger.key}\` stands alone, without a value`,
      );
    }
    return reading.unknown(stranger.keyPlace, "expectation", stranger.key, [
      ...KIND_NAMES,
      ...GUARANTEE_NAMES,
    ]);
  }
  if (second !== undefined) {
    const both = `\`${first.key}\` and \`${second.key}\` are two; make two items of them`;
    return reading.complain(second.keyPlace, both);
  }
  const kind = EXPECTATION_KINDS.find(({ name }) => name === first.key);
  if (kind === undefined) return undefined;
  complainAboutKeys(node, kind.keys, `\`${kind.name}\``, reading);
  return kind.read(node, reading);
}
