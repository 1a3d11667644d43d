/** docs/results/README.md: each finding with the fault events that it rests on, counted from the store. */
import { all, countOf, only, shareText, shortened, stock, textByRate } from './counts.ts';
import type { RunLine } from './runs.ts';
import { findings, type PublishedFinding } from './findings.ts';
import { markdownTable } from '../markdown-table.ts';

export const resultsPath = new URL('../../docs/results/README.md', import.meta.url);

const opening = `# What was found

Does a lost node destroy the database that ran there? The storage decides, and who or what lets the second node in. Each row below is one finding, with the number of fault events behind it.

All rows are real runs on kind: MySQL 9.7 on one volume, and our own disk, which behaves like each [kind of storage](../explanation/disk-modes.md).

- **Stock timers** are those that Kubernetes ships with. **Short timers** are shortened ones. They change the order of some events, so they only support a stock count.
- \`7 of 7 (65–100 %)\`: all seven fault events had this outcome. With 95 % confidence the true share is at least 65 % (Wilson).
- A fault event with several volumes counts once, and only if all its volumes agree.
- A run counts for a row only if nothing else differs from the defaults. Timeouts and the binary log may differ.
- If timing decides the outcome, events at **other rates** than the default 25 a second and client count apart. The first number is then the one that a run compares itself with.

Most rows have few events. They show that a thing happens, not how often.

`;

const closing = `
\`npx forcedetach expectations --note\` makes these tables from [measurements.jsonl](../../data/measurements.jsonl), one line a run. [Expectations](../reference/expectations.md) has every combination of fault, remedy and disk.

## Not in this table

| Question | Answer |
| --- | --- |
| Three servers instead of one volume that moves? | [Group replication](group-replication.md): seconds instead of minutes, and what it costs |
| One whole run of each kind? | [Fourteen samples](../../reports/samples/README.md) with stock timers, each with its history |
| Events just before or after a decision? | [Eleven schedules near a boundary](boundary.md) |
| Every other moment of a crash? | [Crash states](../explanation/crash-states.md) |
| Other remedies, disks, workloads, one run each? | [Remedies](../reference/remedies.md), [disk modes](../reference/disk-modes.md), [workloads](../reference/workloads.md) |
| Other versions of Kubernetes? | [What differs by version](../reference/kubernetes-versions.md) |
| Were the 35 claims at the start of this project right? | [The claims](../reference/claims.md) |
| Does the audit miss damage, or report damage that is not there? | [Planted damage](../internals/mutants.md), [false alarms](../internals/false-alarms.md) |
| Is one kernel enough? | [Two kernels](../internals/two-kernels.md) |
| Is the model right? | [Conformance](../internals/conformance.md) |

## Not measured

- Your driver and your cloud.
- A pod that its kubelet ended (graceful node shutdown, finished job: phase \`Failed\` or \`Succeeded\`).
- A real NFS server whose lease expires.
- Replicas that diverge (Longhorn).
- Two victims at once, or a victim that is the control plane's node.
- Any database but MySQL.
`;

export function renderResults(lines: readonly RunLine[]): string {
  const rowOf = ({ says, words, when, any, run }: PublishedFinding): string[] => {
    const fits = only(when, any);
    const counted = [stock, shortened].map(
      (timers) =>
        textByRate(lines.filter(all(fits, timers)), (some) =>
          shareText(countOf(some, words, fits)),
        ) || '–',
    );
    return [says, words.join(' or '), ...counted, runLink(run)];
  };
  const head = ['Finding', 'Verdict', 'Stock timers', 'Short timers', 'One such run'];
  const tables = Object.entries(findings).map(
    ([title, rows]) => `## ${title}\n\n${markdownTable(head, rows.map(rowOf))}\n`,
  );
  return `${opening}${tables.join('\n')}${closing}`;
}

const runLink = (run: string | undefined): string =>
  run === undefined ? '–' : `[${run.split('/').at(-1)}](../../reports/${run}/summary.md)`;
