/** The hand-over: when the successor's first write came, and whose it was. */
import { database } from '../database/chosen.ts';
import type { ObservationRecord } from '../history/events.ts';
import { observed } from '../history/observations.ts';
import type { Story } from './story.ts';
import type { WriteMarks } from './write-marks.ts';

export interface Handover {
  /** On the run's clock. */
  readonly atMs: number;
  readonly successor: string;
}

/** The disk's log of writes knows best; `marks` is absent where there is none. */
export function handoverOf(story: Story, marks?: WriteMarks): Handover | undefined {
  if (marks?.handover !== undefined) {
    return { atMs: marks.handover.atMs, successor: marks.handover.node };
  }
  const { observations, faultAtMs, victimNode } = story;
  if (faultAtMs === undefined) return undefined;
  const isFirst = locksExclude(story) ? databaseOpened : wroteOrMounted;
  for (const seen of observations) {
    const { t, node } = seen;
    if (t < faultAtMs || node === undefined || node === victimNode) continue;
    if (isFirst(seen)) return { atMs: t, successor: node };
  }
  return undefined;
}

/** Both may mount a shared directory, that is what it is for; the files' locks keep a server out. */
export const locksExclude = ({ scenario }: Story): boolean =>
  scenario.disk === 'shared-file' && scenario.fileLocks === 'shared';

function wroteOrMounted({ name, data }: ObservationRecord): boolean {
  return (name === observed.deviceWritten && bytesIn(data) > 0) || name === observed.mounted;
}

function databaseOpened({ name, data }: ObservationRecord): boolean {
  const said =
    name === observed.serverLog && String(data['line']).includes(database.log.signs.ready);
  return said || (name === observed.podReady && data['ready'] === true);
}

/** Written through a device since it was attached. */
export const bytesIn = (data: Readonly<Record<string, unknown>>): number =>
  Number(data['bytesWritten'] ?? 0);
