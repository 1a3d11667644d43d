/**
 * `certificates/DRIVER/VERSION.json`: what is known of one version of a driver, a row for each class that
 * trials asked and for each class under a cut, derived from whole certificates that lie beside it. A row is
 * judged anew, never copied.
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeOutput } from '../../output-file.ts';
import { certificateVersion, type Certificate } from '../trials/certificate.ts';
import type { ForceDeleted } from '../trials/force-deleted.ts';
import { judged } from '../trials/judged.ts';
import type { Measured } from '../trials/measured.ts';
import { cutName, cutRowsOf, driverOfCut, readCutCertificate, type CutRow } from './cut-rows.ts';
import { pack, packed, packedIn, unpacked } from './packed.ts';
import {
  kernelsOf,
  mustBeNames,
  notOne,
  parsed,
  readSealed,
  safeName,
  sha256Of,
  type RecordedRow,
} from './read.ts';

export interface ClassRow
  extends RecordedRow,
    Pick<Measured, 'modes' | 'notes' | 'counts' | 'next' | 'figures'> {
  readonly mode: Measured['mode'] | null;
  readonly predicted: string | null;
  readonly images: readonly string[];
  readonly volumes: number;
  readonly horizonMs: number;
  /** Where its pods were deleted by force, too. */
  readonly forceDeleted?: ForcedRow;
}

export interface DriverFile {
  readonly schemaVersion: 1;
  readonly kind: 'driver-certificates';
  readonly driver: string;
  readonly version: string;
  readonly classes: readonly ClassRow[];
  /** A row for each class under each cut; the oldest cut first. */
  readonly cuts: readonly CutRow[];
}

/** Throws UsageError `NO_CERTIFICATE` for what is none, or was changed after its trials. */
export function readCertificate(text: string): Certificate {
  const sealed = { kind: 'detach-certificate', schemaVersion: certificateVersion } as const;
  const certificate = readSealed<Certificate>(text, sealed, 'certificate');
  const { plan, trials, storageClass, driver } = certificate;
  const names = (list: readonly { readonly name: string }[]): string =>
    list.map(({ name }) => name).join();
  if (names(plan.list) !== names(trials)) throw notOne('its trials are not those of its plan');
  mustBeNames([driver.name, storageClass.name]);
  return certificate;
}

/** Judges again: the rules of today, the records of then. */
export function rowOf(text: string, records: string): ClassRow {
  const certificate = readCertificate(text);
  const { storageClass, plan, driver, nodes, beganAt, kubernetes, predicted } = certificate;
  const { answer, forceDeleted } = judged(certificate.trials);
  const { mode, ...measured } = answer;
  return {
    ...{ name: storageClass.name, parameters: storageClass.parameters, mode: mode ?? null },
    ...measured,
    ...(forceDeleted === undefined ? {} : { forceDeleted: rowOfForced(forceDeleted) }),
    ...{ predicted, measuredAt: beganAt, kubernetes },
    kernels: kernelsOf(nodes),
    images: driver.images,
    ...{ volumeMode: plan.volumeMode, volumes: plan.list.length, horizonMs: plan.horizonMs },
    ...{ planHash: certificate.planHash, records },
    sha256: sha256Of(text),
  };
}

type ForcedRow = Omit<ForceDeleted, 'findings'>;
const rowOfForced = ({ counts, next, figures, notes }: ForceDeleted): ForcedRow => ({
  ...{ counts, next, figures, notes },
});

const recordsIn = (root: string, driver: string, version: string): string[] =>
  packedIn(join(root, driver, version));

/** Beside those of trials. */
const cuts = 'cuts';

/** From the whole certificates in `root/DRIVER/VERSION/`. */
export const rebuilt = (root: string, driver: string, version: string): DriverFile => ({
  ...{ schemaVersion: 1, kind: 'driver-certificates', driver, version },
  classes: recordsIn(root, driver, version).map((name) =>
    rowOf(unpacked(join(root, driver, version, name)), `${version}/${name}`),
  ),
  cuts: cutsIn(root, driver, version)
    .flatMap(({ name, text }) => cutRowsOf(text, `${version}/${cuts}/${name}`))
    .toSorted((a, b) => (a.measuredAt < b.measuredAt ? -1 : 1)),
});

/** The whole certificates of cuts, as text. */
export function cutsIn(
  root: string,
  driver: string,
  version: string,
): { readonly name: string; readonly text: string }[] {
  const folder = join(root, driver, version, cuts);
  if (!existsSync(folder)) return [];
  return packedIn(folder).map((name) => ({ name, text: unpacked(join(folder, name)) }));
}

export const wholeCertificates = (root: string, driver: string, version: string): Certificate[] =>
  recordsIn(root, driver, version).map((name) =>
    readCertificate(unpacked(join(root, driver, version, name))),
  );

/** Every version of every driver, in the order of their names. */
export function driverVersions(
  root: string,
): { readonly driver: string; readonly version: string }[] {
  const inside = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .toSorted();
  return inside(root).flatMap((driver) =>
    inside(join(root, driver)).map((version) => ({ driver, version })),
  );
}

export const driverFileText = (file: DriverFile): string =>
  `${JSON.stringify(file, undefined, 2)}\n`;

export const driverFilePath = (root: string, driver: string, version: string): string =>
  join(root, driver, `${version}.json`);

/**
 * Puts a certificate among those of its driver. A newer one of a class and its kind of volume takes the
 * older one's place; cuts stay beside each other, since each is one event.
 */
export function addCertificate(root: string, text: string, version: string): string {
  const { driver, path: inside } = placeOf(text);
  if (!safeName.test(version)) throw notOne(`${JSON.stringify(version)} is no version`);
  const whole = join(root, driver, version, inside);
  mkdirSync(join(whole, '..'), { recursive: true });
  pack(whole, text);
  const path = driverFilePath(root, driver, version);
  writeOutput(path, driverFileText(rebuilt(root, driver, version)));
  return path;
}

function placeOf(text: string): { readonly driver: string; readonly path: string } {
  if ((parsed(text) as { readonly kind?: unknown } | undefined)?.kind === 'cut-certificate') {
    const cut = readCutCertificate(text);
    return { driver: driverOfCut(cut), path: `${cuts}/${cutName(cut)}${packed}` };
  }
  const { driver, storageClass, plan } = readCertificate(text);
  // No class has a capital letter in its name.
  return { driver: driver.name, path: `${storageClass.name}.${plan.volumeMode}${packed}` };
}
