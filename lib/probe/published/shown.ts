/**
 * What a file of the probe shows of each class in it: a certificate of trials, one of a cut, or all that
 * is known of one version of a driver. Where the raw records are there they are judged again.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../../errors.ts';
import type { DiskOrigin } from '../../experiment/disk-origin.ts';
import { readText } from '../../input-file.ts';
import type { CutCertificate } from '../cut/certificate.ts';
import { classifyCut, modesOf, type CutFinding } from '../cut/classify.ts';
import { planHash } from '../plan.ts';
import type { Certificate } from '../trials/certificate.ts';
import { rowOf, type ClassRow, type DriverFile } from './driver-file.ts';
import { packed, unpacked } from './packed.ts';

/** Of one class. */
export interface Shown {
  readonly origin: Omit<DiskOrigin, 'modes'>;
  /** All that agree with what was seen; empty: undecided. */
  readonly modes: DiskOrigin['modes'];
  /** Why it is undecided, or what else is to be said. */
  readonly notes: readonly string[];
  /** What no kind of disk does, as to forget what it acknowledged. */
  readonly isOdd: boolean;
  /** Of a late cut: it came at least so long after the detach, the longest of all. */
  readonly tailMs?: number;
}

/** Throws UsageError `FILE_…` and `NO_CERTIFICATE`. */
export function shownIn(path: string): Shown[] {
  try {
    const text = path.endsWith(packed) ? unpacked(path) : readText(path);
    return shownBy(JSON.parse(text), text, path);
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw none(`${path} is no certificate, or not a whole one`, { cause });
  }
}

function shownBy(value: { readonly kind?: unknown }, text: string, path: string): Shown[] {
  switch (value?.kind) {
    case 'detach-certificate':
      return [ofRow(rowOf(text, path), (value as Certificate).driver.name, null)];
    case 'cut-certificate':
      return ofCut(value as CutCertificate);
    case 'driver-certificates':
      return ofDriver(value as DriverFile, dirname(path));
    default:
      if (typeof value === 'object' && value !== null && 'prediction' in value) {
        throw none(`${path} is a prediction: nothing was measured`, {
          hint: 'make trials: `experiments/probe.mjs -s CLASS --run --out certificate.json`',
        });
      }
      throw none(`${path} is no certificate`);
  }
}

const none = (message: string, detail: { hint?: string; cause?: unknown } = {}): UsageError =>
  new UsageError('NO_CERTIFICATE', message, {
    hint: 'give what `experiments/probe.mjs --run` or `--cut` wrote, or certificates/DRIVER/VERSION.json',
    ...detail,
  });

/** A row whose records lie beside the file is judged from these. */
function ofDriver({ driver, version, classes }: DriverFile, folder: string): Shown[] {
  return classes.map((row) => {
    const records = join(folder, row.records);
    if (!existsSync(records)) return ofRow(row, driver, version);
    const text = unpacked(records);
    if (createHash('sha256').update(text).digest('hex') !== row.sha256) {
      throw none(`${records} is not what the row ${row.name} was made from`, {
        hint: '`node scripts/certificates.ts` makes the rows anew',
      });
    }
    return ofRow(rowOf(text, row.records), driver, version);
  });
}

const tail = 'answer to the last acknowledged write';

function ofRow(row: ClassRow, driver: string, version: string | null): Shown {
  const { name: storageClass, measuredAt, kubernetes, volumes, modes, notes, figures } = row;
  const tailMs = figures.find(({ what }) => what === tail)?.mostMs;
  return {
    origin: {
      ...{ by: 'trials', driver, version, storageClass, measuredAt, kubernetes },
      ...{ planHash: row.planHash, volumes },
    },
    ...{ modes: [...modes], notes, isOdd: row.mode === null && modes.length === 1 },
    ...(tailMs === undefined ? {} : { tailMs }),
  };
}

function ofCut(certificate: CutCertificate): Shown[] {
  const { plan, record, classes, beganAt: measuredAt, kubernetes } = certificate;
  if (planHash(plan) !== certificate.planHash) throw none('its plan is not the one of its hash');
  const findings = record.volumes.map((volume) => classifyCut(record, volume, plan.remedy));
  return classes.map(({ name: storageClass, driver }): Shown => {
    const own = findings.filter((finding) => finding.storageClass === storageClass);
    const modes = [...(modesOf(own) ?? [])];
    const tails = own.flatMap(tailOf);
    return {
      origin: {
        ...{ by: 'cut', driver, version: null, storageClass, measuredAt, kubernetes },
        ...{ planHash: certificate.planHash, volumes: Math.max(1, own.length) },
      },
      ...{ modes, isOdd: false, notes: own.map(({ outcome, why }) => `${outcome}: ${why}`) },
      ...(tails.length === 0 ? {} : { tailMs: Math.max(...tails) }),
    };
  });
}

const tailOf = ({ detachedMs, lastAckMs }: CutFinding): number[] =>
  detachedMs === undefined || lastAckMs === undefined ? [] : [Math.max(0, lastAckMs - detachedMs)];
