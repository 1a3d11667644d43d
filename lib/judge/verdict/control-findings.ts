/** What the control plane and the servers have to say: notes, but for a server that forgets what it has shown. */
import { note } from '../checkers/findings.ts';
import { plural } from '../../core/index.ts';
import { forcedDetachesOf, forceReasons, type Detach } from '../timeline/forced-detaches.ts';
import type { StaleReads } from '../timeline/stale-reads.ts';
import type { Story } from '../timeline/story.ts';
import { zonesOf } from '../timeline/zones.ts';
import type { Finding } from './verdict.ts';
import type { ReadMeter } from '../timeline/read-heads.ts';

export const controlFindings = (story: Story, stale: readonly StaleReads[]): Finding[] => [
  ...forcedDetachFindings(story),
  ...staleReadFindings(story, stale),
  ...zoneFindings(story),
];

const after = (atMs: number, { faultAtMs = 0 }: Story): string =>
  `${((atMs - faultAtMs) / 1000).toFixed(1)} s after the fault`;

/** Where log, counter and mounts tell different stories. */
function forcedDetachFindings(story: Story): Finding[] {
  const { detaches, logged, counted, restarts } = forcedDetachesOf(story);
  const told = (each: Detach): string =>
    `${each.node}, ${after(each.atMs, story)}, logged as ${each.logged ?? 'an ordinary detach'}`;
  const findings: Finding[] = [];
  const idle = detaches.filter((each) => each.logged !== undefined && !each.wasMounted);
  if (idle.length > 0) {
    const summary =
      `the controller manager calls ${plural(idle.length, 'detach')} forced of a volume that ` +
      'nobody had mounted any more';
    findings.push(note('FORCED_WITHOUT_MOUNT', summary, idle.map(told)));
  }
  const silent = detaches.filter((each) => each.logged === undefined && each.wasMounted);
  if (silent.length > 0) {
    const summary =
      'a volume was taken from a node that had it mounted, and the controller manager calls it no ' +
      'forced detach';
    findings.push(note('FORCED_UNSAID', summary, silent.map(told)));
  }
  if (counted === undefined) return findings;
  const differs = forceReasons.filter((reason) => counted[reason] !== logged[reason]);
  if (differs.length > 0) {
    const evidence = forceReasons.map(
      (reason) => `${reason}: counter ${counted[reason]}, log ${logged[reason]}`,
    );
    const began = `the controller manager began anew ${restarts} times, which sets its counter to 0`;
    const summary = 'the counter of forced detaches and the log disagree';
    findings.push(note('FORCED_COUNT_DIFFERS', summary, [...evidence, began]));
  }
  return findings;
}

/** What the old server has in memory, it serves, whatever became of its disk. */
const staleReadFindings = (story: Story, stale: readonly StaleReads[]): Finding[] =>
  stale.map((each) => {
    const { client, count, fromMs, toMs, oldestMs, behind } = each;
    const window = `from ${after(fromMs, story)} to ${after(toMs, story)}`;
    const summary =
      `the replaced database still answered ${plural(count, 'read')} of the ${client} client with ` +
      `what was true ${(oldestMs / 1000).toFixed(1)} s earlier`;
    const missed = `a read missed up to ${plural(behind, 'acknowledged commit')} of the successor`;
    return { ...note('STALE_READS', summary, [window, missed]), loud: false };
  });

/** Kubernetes itself then taints fewer nodes or none, which a small test cluster rarely shows. */
function zoneFindings(story: Story): Finding[] {
  const troubled = zonesOf(story).filter(({ state }) => state !== 'normal');
  if (troubled.length === 0) return [];
  const evidence = troubled.map(
    ({ atMs, ready, lost, state, rate }) =>
      `${after(atMs, story)}: ${lost} of ${ready + lost} nodes lost, zone ${state}: ${rate} nodes/s`,
  );
  const summary = 'so many nodes were lost that Kubernetes slowed down or stopped eviction';
  return [note('ZONE_DISRUPTED', summary, evidence)];
}

/** Nothing is ever deleted, so a row that was shown and then was not is a commit that went away. */
export const readFindings = ({ faultAtMs = 0 }: Story, reads: ReadMeter): Finding[] =>
  reads.wentBack().map(({ client, node, count, atMs, saw, before }) => {
    const after = `${((atMs - faultAtMs) / 1000).toFixed(1)} s after the fault`;
    return {
      code: 'READS_WENT_BACK',
      level: 'damage',
      safety: 'lost',
      loud: false,
      summary: `one server on ${node} answered ${plural(count, 'read')} of the ${client} client with less than before`,
      evidence: [`first ${after}: ${saw}, where ${before} had been the newest row`],
    };
  });
