/** Where the observers of mounts and the disk's log of writes do not tell the same of who had access. */
import { observed } from '../history/observations.ts';
import type { Access } from './access.ts';
import { locksExclude } from './handover.ts';
import type { Story } from './story.ts';

/** A mount is seen by a poll, and a path is closed so long after its unmount at most. */
const toleranceMs = 5000;

/** `accesses`: from the log of writes. A sentence for each mount that no open path explains. */
export function accessConflicts(story: Story, accesses: readonly Access[]): string[] {
  if (locksExclude(story)) return [];
  return story.observations
    .filter(({ name }) => name === observed.mounted)
    .filter(
      ({ t, node }) => !accesses.some((access) => access.node === node && isOpenAt(t, access)),
    )
    .map(
      ({ t, node, source }) =>
        `${source} saw the volume mounted on ${node ?? '?'} at ${(t / 1000).toFixed(1)} s, ` +
        'and the log of writes knows of no path of that node then',
    );
}

const isOpenAt = (t: number, { fromMs, toMs }: Access): boolean =>
  fromMs - toleranceMs <= t && t <= toMs + toleranceMs;
