/**
 * What a file of the probe shows of each class in it: a certificate of trials, one of a cut, or all that
 * is known of one version of a driver. Where the raw records are there they are judged again.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../../errors.ts';
import { typed } from '../../typed.ts';
import type { DiskOrigin } from '../../storage/disk-origin.ts';
import { readText } from '../../input-file.ts';
import type { CutCertificate } from '../cut/certificate.ts';
import { classifyCut, modesOf, type CutFinding } from '../cut/classify.ts';
import { planHash } from '../trial-plan.ts';
import type { Certificate } from '../trials/certificate.ts';
import { type CutRow, classRowOf, type ClassRow, type DriverFile } from './driver-file.ts';
import { packed, sha256Of, unpacked } from './read.ts';

/** Answer for one class, as it is shown. */
export interface PublishedClass {
  readonly origin: Omit<DiskOrigin, 'modes'>;
  /** All that agree with what was seen; empty: undecided. */
  readonly modes: DiskOrigin['modes'];
  /** Why it is undecided, or what else is to be said. */
  readonly notes: readonly string[];
  /** What no kind of disk does, as to forget what it acknowledged. */
  readonly isOdd: boolean;
  /** Tail of a late cut: it came at least so long after the detach, the longest of all. */
  readonly tailMs?: number;
}

/** Throws UsageError `FILE_…` and `NO_CERTIFICATE`. */
export function shownIn(path: string): PublishedClass[] {
  try {
    const text = path.endsWith(packed) ? unpacked(path) : readText(path);
    return shownBy(JSON.parse(text), text, path);
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw none(`${path} is no certificate, or not a whole one`, { cause });
  }
}

function shownBy(value: { readonly kind?: unknown }, text: string, path: string): PublishedClass[] {
  switch (value?.kind) {
    case 'detach-certificate':
      return [ofRow(classRowOf(text, path), (value as Certificate).driver.name, null)];
    case 'cut-certificate':
      return ofCut(value as CutCertificate);
    case 'driver-certificates':
      return ofDriver(value as DriverFile, dirname(path));
    default:
      // Older ones had no kind.
      if (typeof value === 'object' && value !== null && 'prediction' in value) {
        throw none(`${path} is a prediction: nothing was measured`, {
          hint: `make trials: ${typed('probe', ['-s', 'CLASS', '--run', '--out', 'certificate.json'])}`,
        });
      }
      throw none(`${path} is no certificate`);
  }
}

const none = (message: string, detail: { hint?: string; cause?: unknown } = {}): UsageError =>
  new UsageError('NO_CERTIFICATE', message, {
    hint: 'give what the probe wrote with --run or --cut, or certificates/DRIVER/VERSION.json',
    ...detail,
  });

/** A row whose records lie beside the file is judged from these; what cuts show of its class, too. */
function ofDriver(file: DriverFile, folder: string): PublishedClass[] {
  const { driver, version, classes } = file;
  // Older files have none.
  const { cuts = [] } = file as Partial<DriverFile>;
  const byCut = [...Map.groupBy(cuts, ({ records }) => records).values()].flatMap((rows) =>
    cutOf(rows, folder),
  );
  return classes.map((row) => {
    const text = recordsOf(row, folder);
    const shown = ofRow(text === undefined ? row : classRowOf(text, row.records), driver, version);
    return narrowed(
      shown,
      byCut.filter(({ name }) => name === row.name),
    );
  });
}

/** Undefined where they are not beside the file. */
function recordsOf(
  { name, records, sha256 }: Pick<ClassRow, 'name' | 'records' | 'sha256'>,
  folder: string,
): string | undefined {
  const path = join(folder, records);
  if (!existsSync(path)) return undefined;
  const text = unpacked(path);
  if (sha256Of(text) === sha256) return text;
  throw none(`${path} is not what the row ${name} was made from`, {
    hint: '`npx node scripts/certificates.ts` makes the rows anew',
  });
}

/** Answer for a class under a cut. */
type UnderCut = Pick<PublishedClass, 'modes' | 'tailMs'> & {
  readonly name: string;
  readonly note: string;
};

/** `rows`: of one cut. */
function cutOf(rows: readonly CutRow[], folder: string): UnderCut[] {
  const [first] = rows;
  const text = first === undefined ? undefined : recordsOf(first, folder);
  if (text === undefined) {
    return rows.map(({ name, modes, outcome, why }) => ({
      ...{ name, modes: [...modes], note: `${outcome}: ${why}` },
    }));
  }
  return ofCut(JSON.parse(text) as CutCertificate).map(({ origin, modes, notes, tailMs }) => ({
    ...{ name: origin.storageClass, modes, note: notes.join('; ') },
    ...(tailMs === undefined ? {} : { tailMs }),
  }));
}

/** What trials leave open a cut may tell; where the two disagree nothing is left. */
function narrowed(shown: PublishedClass, all: readonly UnderCut[]): PublishedClass {
  const cuts = all.filter(({ modes }) => modes.length > 0);
  if (cuts.length === 0) return shown;
  const modes = shown.modes.filter((mode) => cuts.every((cut) => cut.modes.includes(mode)));
  const tails = [shown.tailMs, ...cuts.map(({ tailMs }) => tailMs)].filter(
    (tailMs) => tailMs !== undefined,
  );
  const { origin, notes } = shown;
  return {
    ...{ ...shown, modes },
    origin: { ...origin, by: 'trials-and-cuts', volumes: origin.volumes + cuts.length },
    notes:
      modes.length === 1 ? notes : [...notes, ...cuts.map(({ note }) => `under a cut, ${note}`)],
    ...(tails.length === 0 ? {} : { tailMs: Math.max(...tails) }),
  };
}

const tail = 'answer to the last acknowledged write';

function ofRow(row: ClassRow, driver: string, version: string | null): PublishedClass {
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

function ofCut(certificate: CutCertificate): PublishedClass[] {
  const { plan, record, classes, beganAt: measuredAt, kubernetes } = certificate;
  if (planHash(plan) !== certificate.planHash) throw none('its plan is not the one of its hash');
  const findings = record.volumes.map((volume) => classifyCut(record, volume, plan.remedy));
  return classes.map(({ name: storageClass, driver }): PublishedClass => {
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
