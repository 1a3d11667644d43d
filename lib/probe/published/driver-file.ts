/**
 * `certificates/DRIVER/VERSION.json`: what is known of one version of a driver, a row for each class that
 * trials asked and for each class under a cut, derived from whole certificates that lie beside it
 * (scripts/driver-files.ts). A row is judged anew, never copied.
 */
import { readCertificate, readCutCertificate, sha256Of } from '../certificate.ts';
import { type CutFinding, classifyAll } from '../judge/cut.ts';
import type { ForceDeleted } from '../judge/forced.ts';
import { type MeasuredClass, judgeTrials } from '../judge/measured.ts';

/** What a row of either kind says of the certificate that it was made from. */
interface RecordedRow {
  readonly name: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly measuredAt: string;
  readonly kubernetes: string;
  /** Kernels of the nodes that were used, once each. */
  readonly kernels: readonly string[];
  readonly volumeMode: string;
  readonly planHash: string;
  /** Name of the whole certificate, beside this file. */
  readonly records: string;
  /** Hash of its text, unpacked. */
  readonly sha256: string;
}

/** Row of a class that trials asked. */
export interface ClassRow extends RecordedRow, Omit<MeasuredClass, 'mode'> {
  readonly mode: MeasuredClass['mode'] | null;
  readonly predicted: string | null;
  readonly images: readonly string[];
  readonly volumes: number;
  readonly horizonMs: number;
  /** Where its pods were deleted by force, too. */
  readonly forceDeleted?: Omit<ForceDeleted, 'findings'>;
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

const kernelsOf = (nodes: readonly { readonly kernel: string }[]): string[] => [
  ...new Set(nodes.map(({ kernel }) => kernel)),
];

/** Judges again: the rules of today, the records of then. */
export function classRowOf(text: string, records: string): ClassRow {
  const { storageClass, plan, driver, trials, ...certificate } = readCertificate(text);
  const { beganAt: measuredAt, kubernetes, predicted, nodes, planHash } = certificate;
  const { answer, forceDeleted } = judgeTrials(trials, plan);
  const { mode, ...measured } = answer;
  const { findings: _, ...forced } = forceDeleted ?? {};
  return {
    ...{ name: storageClass.name, parameters: storageClass.parameters, mode: mode ?? null },
    ...measured,
    ...(forceDeleted === undefined
      ? {}
      : { forceDeleted: forced as ClassRow['forceDeleted'] & {} }),
    ...{ predicted, measuredAt, kubernetes, kernels: kernelsOf(nodes), images: driver.images },
    ...{ volumeMode: plan.volumeMode, volumes: plan.list.length, horizonMs: plan.horizonMs },
    ...{ planHash, records, sha256: sha256Of(text) },
  };
}

/** The same of each class under a cut. */
export function cutRowsOf(text: string, records: string): CutRow[] {
  const { plan, record, classes, nodes, timers, ...certificate } = readCutCertificate(text);
  const { beganAt: measuredAt, kubernetes, planHash } = certificate;
  const sha256 = sha256Of(text);
  return classifyAll(record, plan.remedy).map(
    ({ storageClass: name, outcome, why, modes, overlapAcks, afterHealAcks }) => ({
      name,
      parameters: classes.find((each) => each.name === name)?.parameters ?? {},
      ...{ remedy: plan.remedy, way: plan.way, outcome, why, modes, overlapAcks, afterHealAcks },
      ...{ measuredAt, kubernetes, timers, kernels: kernelsOf(nodes) },
      ...{ volumeMode: plan.volumeMode, planHash, records, sha256 },
    }),
  );
}
