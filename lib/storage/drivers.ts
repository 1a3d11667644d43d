/**
 * Real drivers and the kind of disk that each behaves like: what a report names under "applies to you
 * if", and what docs/reference/drivers.md is made of.
 */
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { diskModes, type DiskMode } from '../disk-modes/index.ts';
import { readYaml } from '../yaml-file.ts';

const driverSchema = z.strictObject({
  name: z.string(),
  /** Names of its CSIDriver object. */
  csi: z.array(z.string()),
  /** Null: it behaves like none of them, or nobody found how it behaves. */
  mode: z.enum(diskModes).nullable(),
  /** What must hold for it to behave so; default: as it comes. */
  note: z.string().optional(),
  /** What a detach does while the node writes. */
  detach: z.string(),
  twoNodes: z.string().optional(),
  /** What the node sees when the storage network goes, too. */
  storageLink: z.string().optional(),
  /** A claim is as sure as its weakest source. */
  sure: z.string().regex(/^(source|documented|reported|not found)\b/),
  sources: z.array(z.string()).min(1),
});
export type Driver = Readonly<z.output<typeof driverSchema>>;

const path = fileURLToPath(new URL('../../docs/reference/drivers.yaml', import.meta.url));
let read: readonly Driver[] | undefined;

/** By name. Throws UsageError `DRIVERS_…` where the file is damaged. */
export const allDrivers = (): readonly Driver[] =>
  (read ??= readYaml(path, {
    kind: 'drivers',
    schema: z.array(driverSchema),
    hint: 'the head of the file says what each field means',
    example: 'docs/reference/drivers.yaml',
  }));

export const driversLike = (mode: DiskMode): readonly Driver[] =>
  allDrivers().filter((driver) => driver.mode === mode);
