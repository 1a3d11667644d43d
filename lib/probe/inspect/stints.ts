/** Who had a volume when, from all that is sighted of it: one stint after the other. */
import { csiCalls, observed } from '../../history/index.ts';
import { type Incident, type Sighting, type Volume, unbounded } from './incident.ts';

/** On the API server’s clock, ms. */
export interface Bounds {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** Between which times it was, by the API server’s clock. */
export function boundsOf(
  { atMs, roundMs, clock, byMs = Infinity }: Pick<Sighting, 'atMs' | 'roundMs' | 'clock' | 'byMs'>,
  { offsets }: Pick<Incident, 'offsets'>,
): Bounds {
  if (clock === 'api') return { leastMs: atMs, mostMs: Math.min(atMs + roundMs, byMs) };
  const { leastMs, mostMs } = offsets.get(clock ?? '') ?? unbounded;
  return { leastMs: atMs + leastMs, mostMs: Math.min(atMs + roundMs + mostMs, byMs) };
}

/** A node has the volume from when it is attached or mounted there, until its attachment is gone. */
export interface Stint {
  readonly node: string;
  /** Its attachment was created. */
  readonly attached: Sighting | undefined;
  /** Signs that it was mounted, in order of time. */
  readonly mounts: readonly Sighting[];
  readonly unmounted: Sighting | undefined;
  /** Somebody asked for the attachment’s end. */
  readonly deleting: Sighting | undefined;
  /** The driver answered the detach. */
  readonly answered: Sighting | undefined;
  /** The controller manager named it, or an event of it did. */
  readonly named: Sighting | undefined;
}

/** In the order of their beginnings; of one whose beginning no record has, its end counts. */
export function stintsOf({ name }: Volume, incident: Incident): Stint[] {
  const own = incident.sightings
    .filter(
      ({ volume, node, atMs }) => volume === name && node !== undefined && !Number.isNaN(atMs),
    )
    .toSorted((a, b) => a.atMs - b.atMs);
  const stints = [...Map.groupBy(own, ({ node }) => node ?? '')].flatMap(([node, all]) =>
    stintsOn(node, all),
  );
  return stints.toSorted((a, b) => beginOf(a) - beginOf(b));
}

export const beginOf = ({ attached, mounts: [mounted], deleting, named }: Stint): number =>
  (attached ?? mounted ?? deleting ?? named)?.atMs ?? Infinity;

export const noStint: Stint = {
  ...{ node: '', attached: undefined, mounts: [], unmounted: undefined },
  ...{ deleting: undefined, answered: undefined, named: undefined },
};

const naming: ReadonlySet<string> = new Set([
  ...[observed.attachmentAttached, observed.attachmentGone, observed.forceDetachLog],
]);

type Open = { -readonly [Key in keyof Stint]: Stint[Key] } & { mounts: Sighting[] };

function stintsOn(node: string, sightings: readonly Sighting[]): Stint[] {
  const found: Open[] = [];
  const open = (isNew: boolean): Open => {
    const last = found.at(-1);
    if (last !== undefined && !isNew) return last;
    const made: Open = { ...noStint, node, mounts: [] };
    found.push(made);
    return made;
  };
  for (const seen of sightings) {
    const last = found.at(-1);
    if (seen.name === observed.attachmentCreated) {
      // Its dump rounds down what the audit log has to the microsecond.
      const isSame = last?.attached !== undefined && seen.atMs - last.attached.atMs <= 1000;
      const stint = open(last?.answered !== undefined || (last?.attached !== undefined && !isSame));
      if (stint.attached === undefined || seen.source === 'audit') stint.attached = seen;
    } else if (seen.name === observed.mounted) open(false).mounts.push(seen);
    else if (seen.name === observed.unmounted) open(false).unmounted = seen;
    else if (seen.name === observed.attachmentDeleting) open(false).deleting ??= seen;
    else if (naming.has(seen.name)) open(false).named ??= seen;
    else if (isAnswer(seen, last)) open(false).answered ??= seen;
  }
  return found;
}

/** The attacher takes its finalizer off once the driver has answered. */
const isAnswer = ({ name, data }: Sighting, last: Stint | undefined): boolean =>
  name === observed.csiCall
    ? data['call'] === csiCalls.unpublish
    : name === 'attachment-changed' && data['byAttacher'] === true && last?.deleting !== undefined;
