/**
 * Real drivers and the kind of disk that each behaves like: what a report names under "applies to you
 * if", and what docs/reference/drivers.md is made of.
 */
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { diskModes, type DiskMode } from './index.ts';
import { readYaml } from '../../core/index.ts';

/** `local`: a volume of one node. Null: it behaves like none of them, or how is not documented. */
const mode = z.enum([...diskModes, 'local']).nullable();
export type DriverMode = z.output<typeof mode>;

const sign = {
  in: z.enum(['parameters', 'mountOptions', 'driverPods']),
  matches: z.string().transform((text) => new RegExp(text, 'i')),
};
const signSchema = z.strictObject(sign);
export type Sign = Readonly<z.output<typeof signSchema>>;

const driverSchema = z.strictObject({
  name: z.string(),
  /** Names of its CSIDriver object. */
  csi: z.array(z.string()),
  /** Other provisioners of its classes. In-tree ones are served by the first of `csi`. */
  provisioners: z.array(z.string()).default([]),
  mode,
  onlyIf: z.union([signSchema, z.literal('unread')]).optional(),
  signs: z.array(z.strictObject({ ...sign, says: z.string(), mode: mode.optional() })).default([]),
  /** What must hold for it to behave so; default: as it comes. */
  note: z.string().optional(),
  /** What a detach does while the node writes. */
  detach: z.string(),
  twoNodes: z.string().optional(),
  /** What the node sees when the storage network goes, too. */
  storageLink: z.string().optional(),
  /** `iscsi/acl`: protocol and revocation that were measured, and that work as its detach does. */
  protocol: z.string().optional(),
  /** A claim is as sure as its weakest source. */
  sure: z.string().regex(/^(source|documented|reported|not found)\b/),
  sources: z.array(z.string()).min(1),
});
export type Driver = Readonly<z.output<typeof driverSchema>>;

const path = fileURLToPath(new URL('../../../data/drivers.yaml', import.meta.url));
let read: readonly Driver[] | undefined;

/** By name. Throws UsageError `DRIVERS_…` where the file is damaged. */
export const allDrivers = (): readonly Driver[] =>
  (read ??= readYaml(path, {
    kind: 'drivers',
    schema: z.array(driverSchema),
    hint: 'the head of the file says what each field means',
    example: 'data/drivers.yaml',
  }));

export const driversLike = (mode: DiskMode): readonly Driver[] =>
  allDrivers().filter((driver) => driver.mode === mode);

/** Rows of a provisioner or CSIDriver; one with a prefix, as Rook gives it, has those of the name after the dot. */
export const driversCalled = (name: string): readonly Driver[] =>
  allDrivers().filter(({ csi, provisioners }) =>
    [...csi, ...provisioners].some((known) => isCalled(name, known)),
  );

const isCalled = (name: string, known: string): boolean =>
  known.endsWith('*')
    ? name.startsWith(known.slice(0, -1))
    : name === known || name.endsWith(`.${known}`);

/** The CSI driver that serves classes of a provisioner: in-tree names are migrated to one. */
export const driverServing = (provisioner: string): string =>
  allDrivers().find(({ provisioners }) => provisioners.includes(provisioner))?.csi[0] ??
  provisioner;
