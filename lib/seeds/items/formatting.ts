/** Seed 27: what is formatted, and what is checked, on the way to the next node. */
import { allSeen, callsOf, firstSeen, linesOf, onVictim } from '../finished-run.ts';
import { observed } from '../../history/observations.ts';
import type { Seed } from '../seed.ts';

export const formatting: Seed = {
  number: 27,
  title: 'Formatting',
  claim: 'The device is formatted with `mkfs.ext4` and then mounted, whatever is on it.',
  expected:
    'Only a blank device is formatted. A used one is checked by fsck before it is ' +
    'mounted, which replays the journal: a write, also while the other node still has ' +
    'it mounted.',
  runs: ['network-partition --remedy force-delete'],
  read(run) {
    const staged = callsOf(run, 'stage').find(
      (seen) => !onVictim(run)(seen) && seen.t < run.story.healAtMs,
    );
    if (staged === undefined) return 'no other node staged the volume';
    const { formatBefore, formatted, fsckExitCode, fsck } = staged.data;
    if (typeof formatted !== 'boolean') return 'the driver did not say what it found';
    const replayed = /recovering journal/.test(String(fsck));
    const unmounted = firstSeen(run, observed.unmounted, onVictim(run));
    const live = unmounted === undefined || unmounted.t > staged.t;
    return {
      asExpected: !formatted && fsckExitCode !== undefined,
      said:
        `blkid said “${String(formatBefore)}”; formatted: ${String(formatted)}; fsck ` +
        'ended with ' +
        `${String(fsckExitCode)}${replayed ? ' and replayed the journal' : ''}, while ` +
        `the victim had it ${live ? 'still mounted' : 'no longer mounted'}.`,
      evidence: linesOf(run, [staged, ...allSeen(run, observed.unmounted, onVictim(run))]),
    };
  },
};
