/** Seed 1: unmount, detach, attach and mount follow each other. */
import { toldInSeconds } from '../../durations.ts';
import { callsOf, endOf, linesOf, since, type FinishedRun } from '../finished-run.ts';
import { observed } from '../../history/observations.ts';
import type { Reading, Seed } from '../seed.ts';

export const serialLifecycle: Seed = {
  number: 1,
  title: 'Serial lifecycle',
  claim: 'A volume that moves is unmounted, detached, attached and mounted, never two at a time.',
  expected:
    'Holds for every move of a node that answers: no step begins before the last one ended.',
  runs: ['network-partition --remedy none --horizon 900s'],
  read,
};

function read(run: FinishedRun): Reading {
  const unstaged = callsOf(run, 'unstage').find(({ node }) => node === run.victimNode);
  const staged = callsOf(run, 'stage').find(({ node }) => node !== run.victimNode);
  const detached = callsOf(run, 'unpublish').find(({ node }) => node === run.victimNode);
  const attached = callsOf(run, 'publish').find(({ node }) => node === staged?.node);
  if (!unstaged || !staged || !detached || !attached) return 'the volume did not move';
  if (detached.t < unstaged.t) return 'the detach was forced: this is no orderly move';
  const steps = [
    ['unmount', 'detach', detached.t - endOf(unstaged)],
    ['detach', 'attach', attached.t - endOf(detached)],
    ['attach', 'mount', staged.t - endOf(attached)],
  ] as const;
  const overlapping = steps.filter(([, , gapMs]) => gapMs < 0);
  const gaps = steps.map(([one, next, gapMs]) => `${one} to ${next} ${toldInSeconds(gapMs)}`);
  const status = [observed.volumesInUse, observed.volumesAttached].flatMap((name) =>
    run.story.observations.filter(
      (seen) => seen.name === name && seen.t >= unstaged.t && seen.t <= endOf(staged),
    ),
  );
  return {
    asExpected: overlapping.length === 0,
    said:
      `${overlapping.length} of 3 steps overlap; between them lie ${gaps.join(', ')} ` +
      `(moved ${since(run, staged.t)} after the fault, healed).`,
    evidence: linesOf(run, [unstaged, ...status, detached, attached, staged]),
  };
}
