/**
 * From a file of the probe to the disk of a scenario: a certificate of trials, one of a cut, or all that is
 * known of one version of a driver. Where the raw records are there they are judged again.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DiskMode, ScenarioInput, DiskOrigin } from '../../scenario/index.ts';
import { UsageError, typed } from '../../core/index.ts';
import {
  type Certificate,
  type CutCertificate,
  certificateText,
  sha256Of,
  unpacked,
} from '../certificate.ts';
import { type ClassRow, type CutRow, type DriverFile, classRowOf } from './driver-file.ts';
import { type CutFinding, classifyAll, modesOf } from '../judge/cut.ts';
import { planHash } from '../plan.ts';

export interface DiskWish {
  /** Default: the only one that there is. */
  readonly storageClass?: string | undefined;
  /** One of those that the certificate leaves open. */
  readonly disk?: DiskMode | undefined;
}

/** Answer for one class, as it is shown. */
interface PublishedClass {
  readonly origin: Omit<DiskOrigin, 'modes'>;
  /** All that agree with what was seen; empty: undecided. */
  readonly modes: DiskOrigin['modes'];
  /** Why it is undecided, or what else is to be said. */
  readonly notes: readonly string[];
  /** What no kind of disk does, as to forget what it acknowledged. */
  readonly isOdd: boolean;
  /** Tail of a late cut: it came at least so long after the detach, the longest of all. */
  readonly tailMs: number | undefined;
}

/**
 * Throws UsageError `FILE_…`, `NO_CERTIFICATE`, `CERTIFICATE_CLASS`, `CERTIFICATE_UNDECIDED`,
 * `CERTIFICATE_OPEN` or `DISK_CONFLICT`.
 */
export function certifiedDisk(
  path: string,
  wish: DiskWish = {},
): Pick<ScenarioInput, 'disk' | 'cutAfterMs' | 'diskFrom'> {
  const shown = classIn(path, wish.storageClass);
  const disk = modeOf(shown, wish.disk);
  const { origin, modes, tailMs } = shown;
  return {
    disk,
    ...(disk === 'ack-early' && tailMs !== undefined ? { cutAfterMs: tailMs } : {}),
    diskFrom: { ...origin, modes },
  };
}

function classIn(path: string, wanted: string | undefined): PublishedClass {
  const all = shownIn(path);
  const fitting = all.filter(
    ({ origin }) => wanted === undefined || origin.storageClass === wanted,
  );
  const [only, ...others] = fitting;
  if (only !== undefined && others.length === 0) return only;
  const names = all.map(({ origin }) => origin.storageClass).join(', ') || 'none';
  const called = wanted === undefined ? '' : ` called ${wanted}`;
  throw new UsageError('CERTIFICATE_CLASS', `${path} has ${fitting.length} classes${called}`, {
    hint: `name one by --disk-class: ${names}`,
  });
}

function modeOf(
  { origin: { storageClass }, modes, notes, isOdd }: PublishedClass,
  wanted: DiskMode | undefined,
): DiskMode {
  const [only, ...others] = modes;
  const why = notes.join('; ');
  if (only === undefined || isOdd) {
    throw new UsageError(
      'CERTIFICATE_UNDECIDED',
      `the certificate does not tell what ${storageClass} does: ${why || 'no reason is given'}`,
      {
        hint: 'ask it again with more trials, or play a kind of disk without a certificate: --disk',
      },
    );
  }
  if (wanted !== undefined && !modes.includes(wanted)) {
    throw new UsageError(
      'DISK_CONFLICT',
      `--disk ${wanted} is not what the certificate shows of ${storageClass}: ${modes.join(' or ')}`,
      { hint: 'leave one of --disk and --disk-from out' },
    );
  }
  if (wanted !== undefined || others.length === 0) return wanted ?? only;
  throw new UsageError(
    'CERTIFICATE_OPEN',
    `the certificate leaves open what ${storageClass} does: ${why || modes.join(' or ')}`,
    { hint: `say which one to play: ${modes.map((mode) => `--disk ${mode}`).join(' or ')}` },
  );
}

function shownIn(path: string): PublishedClass[] {
  try {
    const text = certificateText(path);
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
      byCut.filter(({ name, modes }) => name === row.name && modes.length > 0),
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

type UnderCut = Pick<PublishedClass, 'modes' | 'tailMs' | 'notes'> & { readonly name: string };

/** `rows`: of one cut. */
function cutOf(rows: readonly CutRow[], folder: string): UnderCut[] {
  const [first] = rows;
  const text = first === undefined ? undefined : recordsOf(first, folder);
  return text === undefined
    ? rows.map(({ name, modes, outcome, why }) => ({
        ...{ name, modes: [...modes], notes: [`${outcome}: ${why}`], tailMs: undefined },
      }))
    : ofCut(JSON.parse(text) as CutCertificate).map((shown) => ({
        ...shown,
        name: shown.origin.storageClass,
      }));
}

/** What trials leave open a cut may tell; where the two disagree nothing is left. */
function narrowed(shown: PublishedClass, cuts: readonly UnderCut[]): PublishedClass {
  if (cuts.length === 0) return shown;
  const modes = shown.modes.filter((mode) => cuts.every((cut) => cut.modes.includes(mode)));
  const { origin, notes } = shown;
  const underCuts = cuts.map((cut) => `under a cut, ${cut.notes.join('; ')}`);
  return {
    ...{ ...shown, modes },
    origin: { ...origin, by: 'trials-and-cuts', volumes: origin.volumes + cuts.length },
    notes: modes.length === 1 ? notes : [...notes, ...underCuts],
    tailMs: longest([shown, ...cuts].map(({ tailMs }) => tailMs)),
  };
}

function longest(tails: readonly (number | undefined)[]): number | undefined {
  const known = tails.filter((tailMs) => tailMs !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function ofRow(row: ClassRow, driver: string, version: string | null): PublishedClass {
  const { name: storageClass, measuredAt, kubernetes, volumes, modes, notes, figures } = row;
  const tail = figures.find(({ what }) => what === 'answer to the last acknowledged write');
  return {
    origin: {
      ...{ by: 'trials', driver, version, storageClass, measuredAt, kubernetes },
      ...{ planHash: row.planHash, volumes },
    },
    ...{ modes: [...modes], notes, isOdd: row.mode === null && modes.length === 1 },
    tailMs: tail?.mostMs,
  };
}

function ofCut(certificate: CutCertificate): PublishedClass[] {
  const { plan, record, classes, beganAt: measuredAt, kubernetes } = certificate;
  if (planHash(plan) !== certificate.planHash) throw none('its plan is not the one of its hash');
  const findings = classifyAll(record, plan.remedy);
  return classes.map(({ name: storageClass, driver }): PublishedClass => {
    const own = findings.filter((finding) => finding.storageClass === storageClass);
    return {
      origin: {
        ...{ by: 'cut', driver, version: null, storageClass, measuredAt, kubernetes },
        ...{ planHash: certificate.planHash, volumes: Math.max(1, own.length) },
      },
      ...{ modes: [...(modesOf(own) ?? [])], isOdd: false },
      notes: own.map(({ outcome, why }) => `${outcome}: ${why}`),
      tailMs: longest(own.map(tailOf)),
    };
  });
}

const tailOf = ({ detachedMs, lastAckMs }: CutFinding): number | undefined =>
  detachedMs === undefined || lastAckMs === undefined
    ? undefined
    : Math.max(0, lastAckMs - detachedMs);
