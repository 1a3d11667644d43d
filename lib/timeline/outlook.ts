/**
 * What a run waits for, since when and until when, from its records so far: the phases that the
 * report shows, and the timers in force.
 */
import { refusedMountsOf } from '../experiment/verdict/refused-mounts.ts';
import type { Phases } from '../experiment/verdict/verdict.ts';
import { at, awaitedIn } from './awaited.ts';
import { phasesOf } from './phases.ts';
import type { Story } from './story.ts';

export interface Outlook {
  /** Seconds after the fault. */
  readonly phases: Phases;
  /** How often nodes were refused the mount, as told in words. */
  readonly refused: readonly string[];
  /** One clause; undefined where nothing of Kubernetes is waited for. */
  readonly waiting: string | undefined;
}

/** `story`: of the records so far. */
export function outlookOf(story: Story): Outlook {
  const sofar = story.records.some((record) => record.type === 'phase' && record.phase === 'heal')
    ? story
    : { ...story, healAtMs: Number.POSITIVE_INFINITY };
  const phases = phasesOf(sofar, undefined);
  const refusals = refusedMountsOf(story, []);
  return {
    phases,
    refused: refusals.map(
      ({ node, times, lastS, errors }) =>
        `${/fsck/i.test(errors.join()) ? 'fsck' : 'the driver'} refused the mount on ${node}: ` +
        `${times === 1 ? 'once' : `${times} times`}, last at ${at(lastS)}`,
    ),
    waiting: awaitedIn(sofar, phases, refusals.at(-1)?.firstS),
  };
}
