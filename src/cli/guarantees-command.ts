import type { Guarantee } from "../checkers/guarantee.ts";
import { GUARANTEES } from "../checkers/registry.ts";
import { guaranteeDetail, guaranteeLines, guaranteesJson } from "../report/guarantees-text.ts";
import { nearestName } from "../scenario/nearest-name.ts";
import { UsageError } from "./complain.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";

export interface GuaranteesFlags {
  readonly json?: true;
}

/** `sim guarantees [NAME...]`: what a run watches; of those that are named, everything. */
export function guaranteesCommand(names: readonly string[], flags: GuaranteesFlags): ExitCode {
  const chosen = names.length === 0 ? GUARANTEES : names.map(guaranteeNamed);
  let text: string;
  if (flags.json === true) text = guaranteesJson(chosen);
  else if (names.length === 0) text = guaranteeLines(chosen).join("\n");
  else text = chosen.map((one) => guaranteeDetail(one).join("\n")).join("\n\n");
  process.stdout.write(`${text}\n`);
  return EXIT.ok;
}

function guaranteeNamed(name: string): Guarantee {
  const found = GUARANTEES.find((one) => one.name === name);
  if (found !== undefined) return found;
  const near = nearestName(
    name,
    GUARANTEES.map((one) => one.name),
  );
  throw new UsageError(
    near === undefined
      ? `unknown guarantee \`${name}\`; \`sim guarantees\` lists them`
      : `unknown guarantee \`${name}\`; did you mean \`${near}\`?`,
  );
}
