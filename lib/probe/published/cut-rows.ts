/** Cuts among the certificates of a driver: a row for each class under each, judged anew from the records. */
import { createHash } from 'node:crypto';
import { cutCertificateVersion, type CutCertificate } from '../cut/certificate.ts';
import { classifyCut, type CutFinding } from '../cut/classify.ts';
import { planHash } from '../plan.ts';
import { notOne, parsed, safeName } from './read.ts';
import { misformed } from './schema.ts';

export interface CutRow
  extends Pick<CutFinding, 'outcome' | 'why' | 'modes' | 'overlapAcks' | 'afterHealAcks'> {
  readonly name: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly remedy: string;
  readonly way: string;
  readonly measuredAt: string;
  readonly kubernetes: string;
  /** Of the controller manager; empty: as it ships, as far as could be read. */
  readonly timers: readonly string[];
  readonly kernels: readonly string[];
  readonly volumeMode: string;
  readonly planHash: string;
  /** Of the whole certificate, beside this file. */
  readonly records: string;
  /** Of its text, unpacked. */
  readonly sha256: string;
}

/** Throws UsageError `NO_CERTIFICATE` for what is none, was changed after the cut, or is of several drivers. */
export function readCutCertificate(text: string): CutCertificate {
  const read = parsed(text) as Partial<CutCertificate> | undefined;
  if (read?.kind !== 'cut-certificate' || read.schemaVersion !== cutCertificateVersion) {
    throw notOne(`it is no certificate of a cut of version ${cutCertificateVersion}`);
  }
  const wrong = misformed(read);
  if (wrong !== undefined) throw notOne(`it is not whole: ${wrong}`);
  const certificate = read as CutCertificate;
  const { plan, record, classes } = certificate;
  if (planHash(plan) !== certificate.planHash) throw notOne('its plan is not the one of its hash');
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
  for (const name of [...drivers, ...classes.map((each) => each.name)]) {
    if (!safeName.test(name)) throw notOne(`${JSON.stringify(name)} is no name`);
  }
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
  const sha256 = createHash('sha256').update(text).digest('hex');
  return record.volumes.map((volume) => {
    const finding = classifyCut(record, volume, plan.remedy);
    const { storageClass: name, outcome, why, modes, overlapAcks, afterHealAcks } = finding;
    return {
      name,
      parameters: classes.find((each) => each.name === name)?.parameters ?? {},
      ...{ remedy: plan.remedy, way: plan.way, outcome, why, modes, overlapAcks, afterHealAcks },
      ...{ measuredAt, kubernetes, timers },
      kernels: [...new Set(nodes.map(({ kernel }) => kernel))],
      ...{ volumeMode: plan.volumeMode, planHash: certificate.planHash, records, sha256 },
    };
  });
}
