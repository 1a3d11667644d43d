/** Claim 25: how much a watcher is worth as a fence. */
import { endsMachine } from '../../../lib/scenario/index.ts';
import type { RecordedRun } from '../recorded-run.ts';
import type { Claim } from '../claim.ts';
import type { ClaimAnswer } from '../reading.ts';

export const rbdWatcher: Claim = {
  number: 25,
  title: 'The RBD watcher as a fence',
  statement:
    'A mapped image has a watcher: while it lives the next pod is refused, a dead host has none.',
  expected:
    'In-tree RBD is gone (1.31). A watcher that lives keeps the next node out; a dead ' +
    'host’s is forgotten; a check without an answer keeps the volume closed; but a ' +
    'writer whose link stalls loses its watcher and is alive.',
  runs: [
    'api-partition --remedy force-delete --disk exclusive',
    'node-crash --remedy force-delete --disk exclusive',
    'network-partition --remedy force-delete --disk exclusive --link stalls',
    'network-partition --remedy force-delete --disk exclusive --watcher-check missing',
  ],
  read(run) {
    const { disk } = run.story.scenario;
    if (disk.mode !== 'exclusive') return 'this disk knows no watchers';
    return answerOf(run);
  },
};

function answerOf(run: RecordedRun): ClaimAnswer {
  const { fault, disk } = run.story.scenario;
  const { verdict, phases, horizonS, exposure } = run.verdict;
  const entered = phases.secondMount !== null;
  const missing = disk.watcherCheck === 'missing';
  const dead = endsMachine(fault.kind);
  const silent = fault.link !== 'survives';
  const how = missing
    ? 'the check gets no answer'
    : dead
      ? 'a dead host'
      : silent
        ? `the link ${fault.link}, the writer lives`
        : 'a living watcher';
  const shouldEnter = !missing && (dead || silent);
  const told = entered
    ? `second mount at +${phases.secondMount?.toFixed(1)} s`
    : `none in ${horizonS.toFixed(0)} s`;
  return {
    asExpected: entered === shouldEnter,
    said:
      `${how} (${fault.kind}): ${told}; verdict ${verdict}, exposed for ` +
      `${(exposure.ms / 1000).toFixed(1)} s.`,
    evidence: run.verdict.findings.map(({ code, summary }) => `${code}: ${summary}`).slice(0, 6),
  };
}
