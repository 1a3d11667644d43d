/** docs/results/README.md: each finding with the fault events that it rests on, counted from the store. */
import { all, countOf, only, shareText, shortened, stock, textByRate } from './counts.ts';
import type { RunLine } from './runs.ts';
import { findings, type PublishedFinding } from './findings.ts';
import { markdownTable } from '../markdown-table.ts';

export const resultsPath = new URL('../../docs/results/README.md', import.meta.url);

const opening = `# What was found

Does a lost node destroy the database that ran there? It depends on who lets the second writer in, and on the storage: each finding is below with the number of fault events that it rests on.

Real runs on kind, MySQL 9.7 on one volume, a disk of our own that plays each [kind of storage](../explanation/disk-modes.md). *Stock* are the timers that Kubernetes ships with. *Short* are shortened ones, which reorder what stays: such a row counts where a stock one agrees. \`7 of 7 (65–100 %)\`: it came in each of seven fault events, and with 95 % confidence its true share is at least 65 % (Wilson). Volumes that shared one fault count once, and only if all came to the same. A run counts for a row only where nothing was changed but what the row says; rates and bounds are as they come. Most rows are few events: they show that a thing happens, and hardly how often.

`;

const closing = `
This table is counted from [measurements.jsonl](../measurements.jsonl), one line a run, with its seed and versions, by \`experiments/expectations.mjs\`. Every cell of fault, remedy and disk, expected and measured, is in [expectations](../reference/expectations.md).

## Not in this table

| Question | Answer |
| --- | --- |
| Three servers instead of one volume that moves? | [Group replication](group-replication.md): seconds instead of minutes, and what it costs |
| One whole run of each kind, with all that its verdict asks for? | [Fourteen samples](../../reports/samples/README.md), stock timers, each with its history |
| Events just before or after a decision? | [Eleven schedules near a boundary](boundary.md) |
| Every other moment of a crash? | [Crash states](../explanation/crash-states.md) |
| Other remedies, disks, workloads, one run each? | [remedies](../reference/remedies.md), [disk modes](../reference/disk-modes.md), [workloads](../reference/workloads.md) |
| Other versions of Kubernetes? | [What differs by version](../reference/kubernetes-versions.md) |
| Are the 35 claims that this began with true? | [The claims](../reference/claims.md) |
| Can the audit be fooled, or accuse the innocent? | [Planted damage](../internals/mutants.md), [false alarms](../internals/false-alarms.md) |
| Is one kernel enough to tell? | [Two kernels](../internals/two-kernels.md) |
| Is the model right? | [Conformance](../internals/conformance.md) |

## Not measured at all

Your driver and your cloud; a real NFS server whose lease expires; replicas that diverge (Longhorn); two victims at once; a victim that is the control plane's node; any database but MySQL.
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
