/** Where the disk of a scenario was taken from: what a probe's certificate says of a real driver. */
import { z } from 'zod';
import { diskModes } from './index.ts';

const longest = 300;
const text = z.string().max(longest);

export const diskOriginSchema = z.strictObject({
  /** Trials on healthy nodes, one node that was cut off, or both. */
  by: z.enum(['trials', 'cut', 'trials-and-cuts']),
  driver: text,
  /** Told by whoever published it; null: the certificate itself does not tell. */
  version: text.nullable(),
  storageClass: text,
  /** ISO 8601. */
  measuredAt: text,
  kubernetes: text,
  /** Hash of the plan, fixed before the first trial. */
  planHash: text,
  volumes: z.number().int().positive(),
  /** All that agree with what was seen; the scenario's disk is one of them. */
  modes: z.array(z.enum(diskModes)).min(1),
});
export type DiskOrigin = Readonly<z.output<typeof diskOriginSchema>>;

const ways = {
  trials: 'trials on healthy nodes',
  cut: 'one node cut off',
  'trials-and-cuts': 'trials on healthy nodes and cuts of one node',
} as const satisfies Readonly<Record<DiskOrigin['by'], string>>;

/** One sentence without a full stop; `disk` is the mode that is played. */
export function originInWords(origin: DiskOrigin, disk: string): string {
  const { by, driver, version, storageClass, measuredAt, kubernetes, planHash, volumes } = origin;
  const others = origin.modes.filter((mode) => mode !== disk);
  const apart = others.length === 0 ? '' : `; it could as well be ${others.join(' or ')}`;
  // The API tells of a detach after the driver did.
  const delay = disk === 'ack-early' ? '; the delay is the longest observed; it may be longer' : '';
  const count = volumes === 1 ? '1 volume' : `${volumes} volumes`;
  return (
    `driver ${driver} ${version ?? '(version not recorded)'}, class ${storageClass}, ` +
    `${ways[by]}, ${count}, ` +
    `Kubernetes ${kubernetes}, ${measuredAt.slice(0, 10)}, plan ${planHash}${apart}${delay}`
  );
}
