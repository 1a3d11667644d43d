/** A group's phases and reads in words, for its summary and its page. */
import type { GroupVerdict } from './verdict.ts';

const phaseNames: Readonly<Record<keyof GroupVerdict['phases'], string>> = {
  suspected: 'another member calls the victim unreachable',
  expelled: 'the group has thrown it out',
  newPrimary: 'another primary',
  routed: 'a router sends outside clients there',
  firstCommit: 'the first commit there',
  victimAlone: 'the victim sees no majority',
  victimLeft: 'the victim is out of the group by its own word',
  victimReadOnly: 'the victim is read-only',
  victimOffline: 'the victim refuses ordinary users',
  healed: 'healed',
  rejoined: 'the victim is a member in good order again',
};

export interface PhaseRow {
  /** Seconds after the fault. */
  readonly s: number;
  readonly what: string;
}

/** Those that were seen, in the order in which they came. */
export const phaseRows = ({ phases }: Pick<GroupVerdict, 'phases'>): PhaseRow[] =>
  Object.entries(phaseNames)
    .flatMap(([name, what]) => {
      const s = phases[name as keyof typeof phases];
      return s === null ? [] : [{ s, what }];
    })
    .toSorted((a, b) => a.s - b.s);

/** `, up to 48.2 s behind`; nothing where no read was stale. */
export const stalestText = ({ victim: { stalestMs } }: Pick<GroupVerdict, 'victim'>): string =>
  stalestMs === null ? '' : `, up to ${(stalestMs / 1000).toFixed(1)} s behind`;
