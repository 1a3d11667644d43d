/**
 * `certificates/DRIVER/VERSION.json`: what is known of one version of a driver, a row for each class that trials
 * tried and for each class under a cut, made from whole certificates that lie beside it (scripts/driver-files.ts).
 * And from such a file, or a whole certificate, to the disk of a scenario. Records that are there are judged again.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { markdownTable, UsageError, typed } from '../../core/index.ts';
import type { DiskMode, DiskOrigin, ScenarioInput } from '../../scenario/index.ts';
import {
  type Certificate,
  type CutCertificate,
  certificateText,
  readCertificate,
  readCutCertificate,
  sha256Of,
  unpacked,
} from '../certificate.ts';
import { classifyAll, modesOf } from '../judge/cut.ts';
import type { ForceDeleted } from '../judge/forced.ts';
import { answerWord, judgeTrials } from '../judge/measured.ts';
import { planHash } from '../plan.ts';
import { countWords } from '../texts.ts';

export type ClassRow = ReturnType<typeof classRowOf>;
export type CutRow = ReturnType<typeof cutRowsOf>[number];

export interface DriverFile {
  readonly schemaVersion: 1;
  readonly kind: 'driver-certificates';
  readonly driver: string;
  readonly version: string;
  readonly classes: readonly ClassRow[];
  /** A row for each class under each cut; the oldest cut first. */
  readonly cuts: readonly CutRow[];
}

/** What a row of either kind says of the certificate that it was made from: `text` is `records`, beside this file. */
const recorded = (
  text: string,
  records: string,
  { beganAt: measuredAt, kubernetes, planHash, plan, nodes }: Certificate | CutCertificate,
) => ({
  ...{ measuredAt, kubernetes, planHash, records, volumeMode: plan.volumeMode },
  kernels: [...new Set(nodes.map(({ kernel }) => kernel))],
  sha256: sha256Of(text),
});

/** Judges again: the rules of today, the records of then. */
export function classRowOf(text: string, records: string) {
  const certificate = readCertificate(text);
  const { storageClass, plan, driver, trials, predicted } = certificate;
  const { answer, forceDeleted } = judgeTrials(trials, plan);
  const { findings: _, ...forced } = forceDeleted ?? { findings: [] };
  return {
    ...{ name: storageClass.name, parameters: storageClass.parameters },
    ...{ ...answer, mode: answer.mode ?? null },
    ...(forceDeleted && { forceDeleted: forced as Omit<ForceDeleted, 'findings'> }),
    ...{ predicted, images: driver.images, volumes: plan.list.length, horizonMs: plan.horizonMs },
    ...recorded(text, records, certificate),
  };
}

/** The same of each class under a cut. `timers`: empty: as they ship, as far as could be read. */
export function cutRowsOf(text: string, records: string) {
  const certificate = readCutCertificate(text);
  const { plan, record, classes, timers } = certificate;
  const { remedy, way } = plan;
  return classifyAll(record, plan).map(
    ({ storageClass: name, outcome, why, modes, overlapAcks, afterHealAcks }) => ({
      name,
      parameters: classes.find((each) => each.name === name)?.parameters ?? {},
      ...{ remedy, way, outcome, why, modes, overlapAcks, afterHealAcks, timers },
      ...recorded(text, records, certificate),
    }),
  );
}

/** Answer for one class, as it is shown. */
interface PublishedClass {
  readonly origin: Omit<DiskOrigin, 'modes'>;
  /** All that agree with what was seen; empty: undecided. */
  readonly modes: DiskOrigin['modes'];
  readonly notes: readonly string[];
  /** What no kind of disk does, as to forget what it acknowledged. */
  readonly isOdd: boolean;
  /** Tail of a late cut: it came at least so long after the detach, the longest of all. */
  readonly tailMs: number | undefined;
}

/**
 * `storageClass`: default the only one. `disk`: one of those that the certificate leaves open.
 * Throws UsageError `FILE_…`, `NO_CERTIFICATE`, `CERTIFICATE_CLASS`, `CERTIFICATE_UNDECIDED`,
 * `CERTIFICATE_OPEN` or `DISK_CONFLICT`.
 */
export function certifiedDisk(
  path: string,
  wish: { readonly storageClass?: string | undefined; readonly disk?: DiskMode | undefined } = {},
): Pick<ScenarioInput, 'disk' | 'diskFrom'> {
  const shown = classIn(path, wish.storageClass);
  const disk = modeOf(shown, wish.disk);
  const { origin, modes, tailMs } = shown;
  return {
    disk: { mode: disk, ...(disk === 'ack-early' && { cutAfter: tailMs }) },
    diskFrom: { ...origin, modes },
  };
}

function classIn(path: string, wanted: string | undefined): PublishedClass {
  const all = shownIn(path);
  const [only, ...others] = all.filter(
    ({ origin }) => origin.storageClass === (wanted ?? origin.storageClass),
  );
  if (only !== undefined && others.length === 0) return only;
  const names = all.map(({ origin }) => origin.storageClass).join(', ') || 'none';
  const count = only === undefined ? 0 : 1 + others.length;
  const called = wanted === undefined ? '' : ` called ${wanted}`;
  throw new UsageError('CERTIFICATE_CLASS', `${path} has ${count} classes${called}`, {
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
    const value = JSON.parse(text) as { readonly kind?: unknown };
    switch (value?.kind) {
      case 'detach-certificate':
        return [ofRow(classRowOf(text, path), (value as Certificate).driver.name, null)];
      case 'cut-certificate':
        return ofCut(value as CutCertificate);
      case 'driver-certificates':
        return ofDriver(value as DriverFile, dirname(path));
    }
    // Older ones had no kind.
    if (typeof value !== 'object' || value === null || !('prediction' in value)) {
      throw none(`${path} is no certificate`);
    }
    throw none(`${path} is a prediction: nothing was measured`, {
      hint: `make trials: ${typed('probe', ['-s', 'CLASS', '--run', '--out', 'certificate.json'])}`,
    });
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw none(`${path} is no certificate, or not a whole one`, { cause });
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
  const underCuts = [...Map.groupBy(cuts, ({ records }) => records).values()].flatMap(
    (rows): (Pick<PublishedClass, 'modes' | 'tailMs' | 'notes'> & { readonly name: string })[] => {
      const text = rows[0] && recordsOf(rows[0], folder);
      return text === undefined
        ? rows.map(({ name, modes, outcome, why }) => ({
            ...{ name, modes: [...modes], notes: [`${outcome}: ${why}`], tailMs: undefined },
          }))
        : ofCut(JSON.parse(text) as CutCertificate).map((cut) => ({
            ...cut,
            name: cut.origin.storageClass,
          }));
    },
  );
  return classes.map((row) => {
    const text = recordsOf(row, folder);
    const shown = ofRow(text === undefined ? row : classRowOf(text, row.records), driver, version);
    const own = underCuts.filter(({ name, modes }) => name === row.name && modes.length > 0);
    if (own.length === 0) return shown;
    // What trials leave open a cut may tell; where the two disagree nothing is left.
    const modes = shown.modes.filter((mode) => own.every((cut) => cut.modes.includes(mode)));
    const { origin, notes } = shown;
    return {
      ...{ ...shown, modes },
      origin: { ...origin, by: 'trials-and-cuts', volumes: origin.volumes + own.length },
      notes: [
        ...notes,
        ...(modes.length === 1 ? [] : own.map((cut) => `under a cut, ${cut.notes.join('; ')}`)),
      ],
      tailMs: longest([shown, ...own].map(({ tailMs }) => tailMs)),
    };
  });
}

function recordsOf(
  { name, records, sha256 }: ClassRow | CutRow,
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

function longest(tails: readonly (number | undefined)[]): number | undefined {
  const known = tails.filter((tailMs) => tailMs !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function ofRow(row: ClassRow, driver: string, version: string | null): PublishedClass {
  const { name: storageClass, measuredAt, kubernetes, volumes, modes, notes, figures } = row;
  return {
    origin: {
      ...{ by: 'trials', driver, version, storageClass, measuredAt, kubernetes },
      ...{ planHash: row.planHash, volumes },
    },
    ...{ modes: [...modes], notes, isOdd: row.mode === null && modes.length === 1 },
    tailMs: figures.find(({ what }) => what === 'answer to the last acknowledged write')?.mostMs,
  };
}

function ofCut(certificate: CutCertificate): PublishedClass[] {
  const { plan, record, classes, beganAt: measuredAt, kubernetes } = certificate;
  if (planHash(plan) !== certificate.planHash) throw none('its plan is not the one of its hash');
  const findings = classifyAll(record, plan);
  return classes.map(({ name: storageClass, driver }): PublishedClass => {
    const own = findings.filter((finding) => finding.storageClass === storageClass);
    return {
      origin: {
        ...{ by: 'cut', driver, version: null, storageClass, measuredAt, kubernetes },
        ...{ planHash: certificate.planHash, volumes: Math.max(1, own.length) },
      },
      ...{ modes: [...(modesOf(own) ?? [])], isOdd: false },
      notes: own.map(({ outcome, why }) => `${outcome}: ${why}`),
      tailMs: longest(
        own.map(({ detachedMs, lastAckMs }) =>
          detachedMs === undefined || lastAckMs === undefined
            ? undefined
            : Math.max(0, lastAckMs - detachedMs),
        ),
      ),
    };
  });
}

/**
 * Two certificates of a class, before and after an upgrade, judged by the rules of today: a Markdown table of what
 * changed, and whether the answer is the same; undefined where one of the two is undecided. Counts and times differ
 * from run to run: they are shown, and never called changed. Throws UsageError `FILE_…` and `NO_CERTIFICATE`.
 */
export function compareCertificates(
  before: string,
  after: string,
): { readonly text: string; readonly isSame: boolean | undefined } {
  const rows = [before, after].map((path) => classRowOf(certificateText(path), path));
  const names = new Set(rows.flatMap(({ figures }) => figures.map(({ what }) => what)));
  const shown: [what: string, value: (row: ClassRow) => string, mark?: string][] = [
    ['answer', answerOf, 'changed'],
    ['class', ({ name }) => name, 'changed'],
    ['parameters', ({ parameters }) => JSON.stringify(parameters), 'changed'],
    ['driver images', ({ images }) => images.join(', '), 'changed'],
    ['Kubernetes', ({ kubernetes }) => kubernetes, 'changed'],
    [
      'volumes',
      (row) => `${row.volumes} as ${row.volumeMode}, watched for ${row.horizonMs / 1000} s`,
      'changed',
    ],
    ['kept', ({ counts }) => countWords(counts.kept)],
    ['idle', ({ counts }) => countWords(counts.idle)],
    ['contested', ({ counts }) => countWords(counts.contested)],
    ['next pod', ({ next }) => countWords(next)],
    ['notes', ({ notes }) => notes.join('; ')],
    ...[...names].map((what): [string, (row: ClassRow) => string] => [
      what,
      ({ figures }) => {
        const found = figures.find((figure) => figure.what === what);
        return found ? `p50 ${found.p50Ms} ms, most ${found.mostMs} ms (n = ${found.n})` : '–';
      },
    ]),
  ];
  const [a, b] = rows.map(answerOf);
  return {
    text: markdownTable(
      ['', 'before', 'after', ''],
      shown.map(([what, value, mark = '']) => {
        const [was = '', is = ''] = rows.map(value);
        return [what, was, is, was === is ? '' : mark];
      }),
    ),
    isSame: rows.every(({ modes }) => modes.length > 0) ? a === b : undefined,
  };
}

const answerOf = ({ mode, modes }: ClassRow): string =>
  answerWord({ modes, mode: mode ?? undefined });
