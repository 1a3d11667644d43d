/** Cuts among the certificates of a driver: a row for each class under each, judged anew from the records. */
import { cutCertificateVersion, type CutCertificate } from '../cut/certificate.ts';
import { classifyCut, type CutFinding } from '../cut/classify.ts';
import { kernelsOf, mustBeNames, notOne, readSealed, sha256Of, type RecordedRow } from './read.ts';

export interface CutRow
  extends RecordedRow,
    Pick<CutFinding, 'outcome' | 'why' | 'modes' | 'overlapAcks' | 'afterHealAcks'> {
  readonly remedy: string;
  readonly way: string;
  /** Of the controller manager; empty: as it ships, as far as could be read. */
  readonly timers: readonly string[];
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

/** Of the driver that all of its classes have. */
export const driverOfCut = ({ classes }: CutCertificate): string => classes[0]?.driver ?? '';

/** Of its file: remedy, way, and when it began. */
export const cutName = ({ plan, beganAt }: CutCertificate): string =>
  `${plan.remedy}-${plan.way}-${beganAt.replaceAll(/[-:]|\.\d+/g, '')}`;

/** Judges again: the rules of today, the records of then. */
export function cutRowsOf(text: string, records: string): CutRow[] {
  const { plan, record, classes, nodes, ...certificate } = readCutCertificate(text);
  const { beganAt: measuredAt, kubernetes, timers } = certificate;
  const sha256 = sha256Of(text);
  return record.volumes.map((volume) => {
    const finding = classifyCut(record, volume, plan.remedy);
    const { storageClass: name, outcome, why, modes, overlapAcks, afterHealAcks } = finding;
    return {
      name,
      parameters: classes.find((each) => each.name === name)?.parameters ?? {},
      ...{ remedy: plan.remedy, way: plan.way, outcome, why, modes, overlapAcks, afterHealAcks },
      ...{ measuredAt, kubernetes, timers },
      kernels: kernelsOf(nodes),
      ...{ volumeMode: plan.volumeMode, planHash: certificate.planHash, records, sha256 },
    };
  });
}
