/**
 * `certificates/DRIVER/VERSION.json`: what is known of one version of a driver, a row for each class that
 * trials asked and for each class under a cut, derived from whole certificates that lie beside it
 * (scripts/driver-files.ts). A row is judged anew, never copied.
 */
import { cutCertificateVersion, type CutCertificate } from '../cut/certificate.ts';
import type { CutFinding } from '../cut/classify.ts';
import { certificateVersion, type Certificate } from '../trials/certificate.ts';
import type { ForceDeleted } from '../trials/force-deleted.ts';
import { judgeTrials } from '../trials/judge-trials.ts';
import type { MeasuredClass } from '../trials/measured.ts';
import { kernelsOf, mustBeNames, notOne, readSealed, sha256Of, type RecordedRow } from './read.ts';

/** Row of a class that trials asked. */
export interface ClassRow
  extends RecordedRow,
    Pick<MeasuredClass, 'modes' | 'notes' | 'counts' | 'next' | 'figures'> {
  readonly mode: MeasuredClass['mode'] | null;
  readonly predicted: string | null;
  readonly images: readonly string[];
  readonly volumes: number;
  readonly horizonMs: number;
  /** Where its pods were deleted by force, too. */
  readonly forceDeleted?: ForcedRow;
}

/** Row of a class under a cut. */
export interface CutRow
  extends RecordedRow,
    Pick<CutFinding, 'outcome' | 'why' | 'modes' | 'overlapAcks' | 'afterHealAcks'> {
  readonly remedy: string;
  readonly way: string;
  /** Timers of the controller manager; empty: as it ships, as far as could be read. */
  readonly timers: readonly string[];
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

/** Throws UsageError `NO_CERTIFICATE` for what is none, was changed after the cut, or is of several drivers. */
export function readCutCertificate(text: string): CutCertificate {
  const sealed = { kind: 'cut-certificate', schemaVersion: cutCertificateVersion } as const;
  const certificate = readSealed<CutCertificate>(text, sealed, 'certificate of a cut');
  const { plan, record, classes } = certificate;
  const names = (
    list: readonly { readonly name: string; readonly storageClass: string }[],
  ): string => list.map(({ name, storageClass }) => `${name} ${storageClass}`).join();
  if (names(plan.volumes) !== names(record.volumes)) {
    throw notOne('its volumes are not those of its plan');
  }
  const drivers = new Set(classes.map(({ driver }) => driver));
  if (drivers.size !== 1) {
    throw notOne(
      `its classes are of several drivers (${[...drivers].join(', ')}): cut once for each`,
    );
  }
  mustBeNames([...drivers, ...classes.map((each) => each.name)]);
  return certificate;
}

/** Judges again: the rules of today, the records of then. */
export function classRowOf(text: string, records: string): ClassRow {
  const certificate = readCertificate(text);
  const { storageClass, plan, driver, nodes, beganAt, kubernetes, predicted } = certificate;
  const { answer, forceDeleted } = judgeTrials(certificate.trials, plan);
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
