/**
 * `certificates/DRIVER/VERSION.json`: what is known of one version of a driver, a row for each class,
 * derived from whole certificates that lie beside it. A row is judged anew, never copied.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../errors.ts';
import { writeOutput } from '../../output-file.ts';
import { planHash } from '../plan.ts';
import { certificateVersion, type Certificate } from '../trials/certificate.ts';
import { classify } from '../trials/classify.ts';
import { measure, type Measured } from '../trials/measured.ts';
import { pack, packed, packedIn, unpacked } from './packed.ts';

export interface ClassRow
  extends Pick<Measured, 'modes' | 'notes' | 'counts' | 'next' | 'figures'> {
  readonly name: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly mode: Measured['mode'] | null;
  readonly predicted: string | null;
  readonly measuredAt: string;
  readonly kubernetes: string;
  /** Of the nodes that were used, once each. */
  readonly kernels: readonly string[];
  readonly images: readonly string[];
  readonly volumeMode: string;
  readonly volumes: number;
  readonly horizonMs: number;
  readonly planHash: string;
  /** Of the whole certificate, beside this file. */
  readonly records: string;
  /** Of its text, unpacked. */
  readonly sha256: string;
}

export interface DriverFile {
  readonly schemaVersion: 1;
  readonly kind: 'driver-certificates';
  readonly driver: string;
  readonly version: string;
  readonly classes: readonly ClassRow[];
}

/** Names become paths. */
const safeName = /^[a-z0-9]([\w.+-]*[a-z0-9])?$/i;

/** Throws UsageError `NO_CERTIFICATE` for what is none, or was changed after its trials. */
export function readCertificate(text: string): Certificate {
  const read = parsed(text) as Partial<Certificate> | undefined;
  if (read?.kind !== 'detach-certificate' || read.schemaVersion !== certificateVersion) {
    throw notOne(`it is no certificate of version ${certificateVersion}`);
  }
  const certificate = read as Certificate;
  const { plan, trials, storageClass, driver } = certificate;
  if (planHash(plan) !== certificate.planHash) throw notOne('its plan is not the one of its hash');
  const names = (list: readonly { readonly name: string }[]): string =>
    list.map(({ name }) => name).join();
  if (names(plan.list) !== names(trials)) throw notOne('its trials are not those of its plan');
  for (const name of [driver.name, storageClass.name]) {
    if (!safeName.test(name)) throw notOne(`${JSON.stringify(name)} is no name`);
  }
  return certificate;
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const notOne = (why: string): UsageError =>
  new UsageError('NO_CERTIFICATE', why, {
    hint: 'give the file that `--run --out` wrote, as it is',
  });

/** Judges again: the rules of today, the records of then. */
export function rowOf(text: string, records: string): ClassRow {
  const certificate = readCertificate(text);
  const { storageClass, plan, driver, nodes, beganAt, kubernetes, predicted } = certificate;
  const { mode, ...measured } = measure(certificate.trials.map(classify));
  return {
    ...{ name: storageClass.name, parameters: storageClass.parameters, mode: mode ?? null },
    ...measured,
    ...{ predicted, measuredAt: beganAt, kubernetes },
    kernels: [...new Set(nodes.map(({ kernel }) => kernel))],
    images: driver.images,
    ...{ volumeMode: plan.volumeMode, volumes: plan.list.length, horizonMs: plan.horizonMs },
    ...{ planHash: certificate.planHash, records },
    sha256: createHash('sha256').update(text).digest('hex'),
  };
}

const recordsIn = (root: string, driver: string, version: string): string[] =>
  packedIn(join(root, driver, version));

/** From the whole certificates in `root/DRIVER/VERSION/`. */
export const rebuilt = (root: string, driver: string, version: string): DriverFile => ({
  ...{ schemaVersion: 1, kind: 'driver-certificates', driver, version },
  classes: recordsIn(root, driver, version).map((name) =>
    rowOf(unpacked(join(root, driver, version, name)), `${version}/${name}`),
  ),
});

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

/** Puts a certificate among those of its driver; a newer one of a class and its kind of volume takes the older one's place. */
export function addCertificate(root: string, text: string, version: string): string {
  const { driver, storageClass, plan } = readCertificate(text);
  if (!safeName.test(version)) throw notOne(`${JSON.stringify(version)} is no version`);
  const folder = join(root, driver.name, version);
  mkdirSync(folder, { recursive: true });
  // No class has a capital letter in its name.
  const name = `${storageClass.name}.${plan.volumeMode}`;
  pack(join(folder, `${name}${packed}`), text);
  const path = driverFilePath(root, driver.name, version);
  writeOutput(path, driverFileText(rebuilt(root, driver.name, version)));
  return path;
}
