/**
 * How tools end, and what that means. An answer is damage only where the tool ended as it does where it
 * has looked and found some. What no row has is no answer: the machine's own trouble, whatever its words.
 */
import type { CommandEvidence } from '../../core/index.ts';
import type { ImageEvidence, ServerStart } from '../../history/index.ts';
import type { ServerLog } from '../database.ts';

/** `none`: it could not look. */
export type Answer = 'sound' | 'damage' | 'none';

export interface ExitKind {
  readonly tool: string;
  readonly exit: (code: number) => boolean;
  /** Default: whatever it prints. */
  readonly says?: RegExp;
  readonly means: 'sound' | 'damage';
  /** Where that is written, or was tried. */
  readonly source: string;
}

const is =
  (...codes: readonly number[]) =>
  (code: number): boolean =>
    codes.includes(code);

/** Of the file systems' tools; a database adds its own. The first row that fits holds. */
const exitKinds: readonly ExitKind[] = [
  {
    tool: 'e2fsck',
    exit: (code) => code < 4,
    means: 'sound',
    source: 'e2fsck(8), EXIT CODE: 1 and 2 corrected errors, as a journal that it replays',
  },
  {
    tool: 'e2fsck',
    exit: (code) => code < 16 && (code & 4) !== 0,
    means: 'damage',
    source: 'e2fsck(8), EXIT CODE: 4 errors left; 16, 32, 128 usage, cancelled, no library',
  },
  {
    tool: 'e2fsck',
    exit: is(8),
    says: /bad magic number in super-block|superblock .*(corrupt|checksum does not match)/i,
    means: 'damage',
    source: 'e2fsck 1.47.4 on an image of zeros; 8 alone is any operational error',
  },
  { tool: 'xfs_repair', exit: is(0), means: 'sound', source: 'xfs_repair(8), EXIT STATUS' },
  {
    tool: 'xfs_repair',
    exit: is(1),
    says: /^(?![^]*fatal error --)[^]*(^\s*bad |corruption detected|\bwould\b|, counted \d|valid secondary superblock)/im,
    means: 'damage',
    source:
      'xfs_repair(8): 1 is damage or a runtime error; without leave to mend, it says what it would do',
  },
  { tool: 'mount', exit: is(0), means: 'sound', source: 'mount(8), EXIT STATUS' },
  {
    tool: 'mount',
    exit: is(32),
    says: /structure needs cleaning|bad message|probably corrupted filesystem/i,
    means: 'damage',
    source: 'util-linux 2.38 on scribbled images; `bad superblock` is any EINVAL',
  },
];

const toolOf = (command: string): string => /^\S*?([^/\s]+)(\s|$)/.exec(command)?.[1] ?? '';

const kindsOf = (command: string, own: readonly ExitKind[]): readonly ExitKind[] =>
  [...exitKinds, ...own].filter(({ tool }) => tool === toolOf(command));

export function answerOf(
  { command, exitCode, output }: Omit<CommandEvidence, 'durationMs'>,
  own: readonly ExitKind[],
): Answer {
  const kind = kindsOf(command, own).find(
    ({ exit, says }) => exit(exitCode) && says?.test(output) !== false,
  );
  return kind?.means ?? 'none';
}

/** Some ends of this tool are answers: where it gives none, it is asked again. */
export const hasExitKinds = (command: string, own: readonly ExitKind[]): boolean =>
  kindsOf(command, own).length > 0;

const isBroken = ({ fsck }: Pick<ImageEvidence, 'fsck'>): boolean =>
  fsck !== undefined && answerOf(fsck, []) === 'damage';

/** What fsck finds broken, the kernel refuses in words that it has for anything. */
export function answerOfMount(evidence: ImageEvidence): Answer {
  const { mounted, mountError: output } = evidence;
  if (mounted || output === undefined) return 'sound';
  const answer = answerOf({ command: 'mount', exitCode: 32, output }, []);
  return isBroken(evidence) ? 'damage' : answer;
}

/** Signals by which a server dies of what it reads (signal(7)); others come from outside, or from the machine's memory. */
const crashes = ['SIGSEGV', 'SIGFPE', 'SIGABRT'];

/** It gave up by itself; a shell's 128 + n is a signal. */
const gaveUp = /^exit code \d\d?$/;

export const isServing = ({ ready, died }: ServerStart): boolean => ready && died === undefined;

/**
 * A server that ends tells by its log whether the volume is to blame. On a file system that fsck finds broken
 * it need not: `Aborting` is all that mysqld logged of that in seven recorded runs.
 */
export function answerOfStart(
  start: ServerStart,
  evidence: Pick<ImageEvidence, 'fsck'>,
  log: Pick<ServerLog, 'damage'>,
): Answer {
  const { died, errorLines } = start;
  if (isServing(start)) return 'sound';
  if (died !== undefined && crashes.includes(died)) return 'damage';
  if (died !== undefined && !gaveUp.test(died)) return 'none';
  const isNamed = errorLines.some((line) => log.damage.test(line));
  return isNamed || (died !== undefined && isBroken(evidence)) ? 'damage' : 'none';
}
