import { appendFileSync } from "node:fs";
import type { RunResult } from "../cluster/run-result.ts";
import type { Complaint } from "../scenario/complaint.ts";

/** Whether a workflow of GitHub runs us: then mistakes are shown beside the lines that they are about. */
function isWorkflow(): boolean {
  return process.env["GITHUB_ACTIONS"] === "true";
}

/** Marks the line of a complaint. On stderr, which is read for commands as stdout is. */
export function annotateComplaint(severity: "error" | "warning", complaint: Complaint): void {
  if (!isWorkflow()) return;
  const { file, line, column, message } = complaint;
  process.stderr.write(`::${severity} ${place(file, line)},col=${column}::${escaped(message)}\n`);
}

/** Marks the lines of expectations that are not met or were not reached, and tells the run on the job's page. */
export function annotateRun({ file, expectations }: RunResult, text: () => string): void {
  if (!isWorkflow()) return;
  for (const { ok, text: expectation, line } of expectations) {
    if (ok === true || line === 0) continue;
    const how = ok === false ? "not met" : "not reached";
    process.stderr.write(`::error ${place(file, line)}::${how}: ${escaped(expectation)}\n`);
  }
  const summary = process.env["GITHUB_STEP_SUMMARY"];
  if (summary !== undefined) appendFileSync(summary, `\`\`\`text\n${text()}\n\`\`\`\n`);
}

function place(file: string, line: number): string {
  return `file=${escaped(file).replaceAll(":", "%3A").replaceAll(",", "%2C")},line=${line}`;
}

/** What would end a command of a workflow is written by its code. */
function escaped(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
