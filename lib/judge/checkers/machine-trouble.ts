/**
 * The auditing machine's own trouble, told apart from damage by what the tools say: no memory, no
 * space, no lock, killed. It proves nothing of the volume. What names damage beside it is damage.
 */
import type { MachineTrouble, ServerLog } from '../database.ts';
import type { ServerStart } from '../../history/index.ts';

/** What any database's machine may lack. */
const machineTroubles: readonly MachineTrouble[] = [
  {
    name: 'no memory',
    pattern: /cannot allocate memory|\bENOMEM\b|errno:? 12\b|\bOS error:? 12\b|error number 12\b/i,
    source: 'strerror(12), in mount(8), e2fsck and servers',
  },
  {
    name: 'no memory for a statement',
    pattern: /\bout of (sort )?memory\b|memory allocation (error|failed)|\bstd::bad_alloc\b/i,
    source: 'servers’ own errors; e2fsck (EXT2_ET_NO_MEMORY)',
  },
  {
    name: 'no space',
    pattern: /no space left on device|\bENOSPC\b|errno:? 28\b|\bOS error:? 28\b|error number 28\b/i,
    source: 'strerror(28), in cp and servers',
  },
  {
    name: 'no file handles',
    pattern:
      /too many open files|\bE[MN]FILE\b|errno:? 2[34]\b|OS error:? 2[34]\b|error number 2[34]\b/i,
    source: 'strerror(23), strerror(24)',
  },
];

/** Whoever says this speaks of what is on the disk, whatever else it says. */
const saysDamage =
  /corrupt|structure needs cleaning|bad message|checksum mismatch|in the future|assertion failure/i;

/** What a database's log and tools say of the machine. */
type TroubleLog = Pick<ServerLog, 'troubles'>;

/** Its name; undefined where the text tells of none, or of damage. */
export function troubleIn(text: string, log: TroubleLog): string | undefined {
  if (saysDamage.test(text)) return undefined;
  return [...machineTroubles, ...log.troubles].find(({ pattern }) => pattern.test(text))?.name;
}

/** Words of a shell for a process that was ended with SIGKILL: most often for want of memory. */
const killed = ['exit code 137'];

/**
 * Why a start failed through no fault of the volume. A single line of the storage's own
 * that tells of anything else makes it the volume's fault.
 */
export function troubleOfStart(
  { ready, died, errorLines }: ServerStart,
  log: ServerLog,
): string | undefined {
  if (ready && died === undefined) return undefined;
  const telling = errorLines.filter((line) => !log.afterwords.some((each) => each.test(line)));
  const troubles = telling.map((line) => troubleIn(line, log));
  const accuses = (line: string): boolean => line.includes(log.ofStorage) || saysDamage.test(line);
  if (telling.some((line, n) => troubles[n] === undefined && accuses(line))) return undefined;
  return troubles.find((each) => each !== undefined) ?? killedBy(died);
}

const killedBy = (died: string | undefined): string | undefined =>
  died !== undefined && killed.includes(died) ? 'killed' : undefined;
