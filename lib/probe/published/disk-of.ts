/** From a certificate to the disk of a scenario: one class, one mode, and where they are from. */
import type { DiskMode } from '../../disk-modes/index.ts';
import { UsageError } from '../../errors.ts';
import type { ScenarioInput } from '../../experiment/scenario.ts';
import { shownIn, type PublishedClass } from './shown.ts';

export interface DiskWish {
  /** Default: the only one that there is. */
  readonly storageClass?: string | undefined;
  /** One of those that the certificate leaves open. */
  readonly disk?: DiskMode | undefined;
}

type CertifiedDisk = Pick<ScenarioInput, 'disk' | 'cutAfterMs' | 'diskFrom'>;

/**
 * Throws UsageError `FILE_…`, `NO_CERTIFICATE`, `CERTIFICATE_CLASS`, `CERTIFICATE_UNDECIDED`,
 * `CERTIFICATE_OPEN` or `DISK_CONFLICT`.
 */
export function certifiedDisk(path: string, wish: DiskWish = {}): CertifiedDisk {
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
  throw new UsageError(
    'CERTIFICATE_CLASS',
    wanted === undefined
      ? `${path} has ${all.length} classes`
      : `${path} has ${fitting.length} classes called ${wanted}`,
    { hint: `name one by --disk-class: ${names}` },
  );
}

function modeOf(
  { origin, modes, notes, isOdd }: PublishedClass,
  wanted: DiskMode | undefined,
): DiskMode {
  const [only, ...others] = modes;
  const { storageClass } = origin;
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
