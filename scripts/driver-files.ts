/**
 * `certificates/DRIVER/VERSION.json` as files: made from the whole certificates beside them, which lie packed
 * since they are large and git holds them.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { writeOutput } from '../lib/core/files.ts';
import {
  type Certificate,
  type CutCertificate,
  notOne,
  packed,
  parsed,
  readCertificate,
  readCutCertificate,
  safeName,
  unpacked,
} from '../lib/probe/certificate.ts';
import { type DriverFile, classRowOf, cutRowsOf } from '../lib/probe/published/driver-file.ts';

/** Names of packed ones in a folder, in order. */
const packedIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(packed))
    .toSorted();

const recordsIn = (root: string, driver: string, version: string): string[] =>
  packedIn(join(root, driver, version));

/** Beside those of trials. */
const cuts = 'cuts';

/** From the whole certificates in `root/DRIVER/VERSION/`. */
export const rebuilt = (root: string, driver: string, version: string): DriverFile => ({
  ...{ schemaVersion: 1, kind: 'driver-certificates', driver, version },
  classes: recordsIn(root, driver, version).map((name) =>
    classRowOf(unpacked(join(root, driver, version, name)), `${version}/${name}`),
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
  writeFileSync(whole, zstdCompressSync(text));
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

/** Of the driver that all of its classes have. */
const driverOfCut = ({ classes }: CutCertificate): string => classes[0]?.driver ?? '';

/** Of its file: remedy, way, and when it began. */
const cutName = ({ plan, beganAt }: CutCertificate): string =>
  `${plan.remedy}-${plan.way}-${beganAt.replaceAll(/[-:]|\.\d+/g, '')}`;
