import type { Guarantee } from "../checkers/guarantee.ts";
import { WIDTH, wrapped } from "./layout.ts";

/** Every guarantee with its sentence, as `sim guarantees` prints them. */
export function guaranteeLines(guarantees: readonly Guarantee[]): string[] {
  return guarantees.flatMap(({ name, sentence }) => [name, ...wrapped(sentence, 2)]);
}

/** All that there is to say of one guarantee. */
export function guaranteeDetail(guarantee: Guarantee): string[] {
  const { name, sentence, source, kinds, condition, testedBy, example } = guarantee;
  return [
    name,
    ...wrapped(sentence, 2),
    "",
    ...wrapped(condition, 2),
    ...wrapped(`Tested by: ${testedBy}.`, 2),
    ...wrapped(`Source: ${source}.`, 2),
    ...wrapped(`Kinds: ${kinds.join(", ")}`, 2),
    "",
    ...example.flatMap((line) => indented(line)),
  ];
}

/** A line that fits stands as it is: its columns have a meaning. */
function indented(line: string): string[] {
  const own = line.length - line.trimStart().length;
  return line.length + 2 <= WIDTH ? [`  ${line}`.trimEnd()] : wrapped(line, own + 2);
}

/** The same for a program; `example` is left out, being for people. */
export function guaranteesJson(guarantees: readonly Guarantee[]): string {
  return JSON.stringify(
    {
      schema: "sim-guarantees/1",
      guarantees: guarantees.map(({ name, sentence, source, kinds, condition, testedBy }) => ({
        name,
        sentence,
        source,
        kinds,
        condition,
        testedBy,
      })),
    },
    undefined,
    2,
  );
}
