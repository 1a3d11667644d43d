/** The hand-over: when the successor's first write came, and whose it was. */
import { isDirectory } from '../../scenario/index.ts';
import { type ObservationRecord, observed } from '../../history/index.ts';
import { milestones } from './milestones.ts';
import { rolesIn, type Roles } from './roles.ts';
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
  const { observations, faultAtMs } = story;
  if (faultAtMs === undefined) return undefined;
  const roles = rolesIn(story);
  const isFirst = locksExclude(story) ? databaseOpened : wroteOrMounted;
  const seen = observations.find((each) => each.t >= faultAtMs && isFirst(each, roles));
  return seen?.node === undefined ? undefined : { atMs: seen.t, successor: seen.node };
}

/** Both may mount a shared directory, that is what it is for; the files' locks keep a server out. */
export const locksExclude = ({ scenario }: Story): boolean =>
  isDirectory(scenario.disk.mode) && scenario.disk.fileLocks === 'shared';

/** What a device has taken is no milestone: fsck's replay may come before any. */
function wroteOrMounted(seen: ObservationRecord, roles: Roles): boolean {
  const wrote = seen.name === observed.deviceWritten && bytesIn(seen.data) > 0;
  return (wrote && roles.successor.onNode(seen)) || milestones.mounted.is(seen, roles);
}

const databaseOpened = (seen: ObservationRecord, roles: Roles): boolean =>
  milestones.serving.is(seen, roles) || milestones.ready.is(seen, roles);

/** Written through a device since it was attached. */
export const bytesIn = ({ bytesWritten = 0 }: ObservationRecord['data']): number => bytesWritten;
