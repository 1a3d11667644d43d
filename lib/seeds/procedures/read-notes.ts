/** How a procedure's answer is read back from its history. */
import type { ObservationRecord } from '../../history/events.ts';
import { csiCalls, observed, type ObservedName } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/reader.ts';
import { evidenceLine } from '../finished-run.ts';
import type { Answer } from '../seed.ts';

export class Notes {
  readonly observations: readonly ObservationRecord[];

  constructor(records: readonly SmallRecord[]) {
    this.observations = records.filter((record) => record.type === 'observation');
  }

  /** The last note of that name, with what was noted; undefined where it never was. */
  note(name: string): ObservationRecord | undefined {
    return this.observations.findLast((seen) => seen.source === 'seed' && seen.name === name);
  }

  all(name: string): ObservationRecord[] {
    return this.observations.filter((seen) => seen.source === 'seed' && seen.name === name);
  }

  /** Calls to the driver of that kind, also failed ones. */
  calls(call: keyof typeof csiCalls): ObservationRecord[] {
    return this.seen(observed.csiCall, ({ data }) => data['call'] === csiCalls[call]);
  }

  seen(
    name: ObservedName,
    fits: (seen: ObservationRecord) => boolean = () => true,
  ): ObservationRecord[] {
    return this.observations.filter((seen) => seen.name === name && fits(seen));
  }
}

/** An answer with records as its evidence, their times in seconds from the procedure's beginning. */
export function answer(
  asExpected: boolean,
  said: string,
  records: readonly (ObservationRecord | undefined)[],
): Answer {
  const evidence = records
    .filter((record) => record !== undefined)
    .toSorted((a, b) => a.t - b.t)
    .map((record) => evidenceLine(`${(record.t / 1000).toFixed(1)} s`, record));
  return { asExpected, said, evidence };
}

/** Missing notes mean that the procedure ended early. */
export const endedEarly = 'the procedure ended before it had seen this';
