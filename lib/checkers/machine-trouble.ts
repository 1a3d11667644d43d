/**
 * The auditing machine's own trouble, told apart from damage by what the tools say: no memory, no
 * space, no lock, killed. It proves nothing of the volume. What names damage beside it is damage.
 */
import type { ImageEvidence, ServerStart } from './evidence.ts';

export interface MachineTrouble {
  readonly name: string;
  readonly pattern: RegExp;
  /** Who says so, and where that is written. */
  readonly source: string;
}

export const machineTroubles: readonly MachineTrouble[] = [
  {
    name: 'no memory',
    pattern: /cannot allocate memory|\bENOMEM\b|errno:? 12\b|\bOS error:? 12\b|error number 12\b/i,
    source: 'strerror(12), in mount(8), e2fsck, InnoDB (os0file.cc, buf0buf.cc: mmap failed)',
  },
  {
    name: 'no memory for a statement',
    pattern: /\bout of (sort )?memory\b|memory allocation (error|failed)|\bstd::bad_alloc\b/i,
    source:
      'ER_OUTOFMEMORY, ER_OUT_OF_SORTMEMORY, ER_STD_BAD_ALLOC_ERROR; e2fsck (EXT2_ET_NO_MEMORY)',
  },
  {
    name: 'no space',
    pattern: /no space left on device|\bENOSPC\b|errno:? 28\b|\bOS error:? 28\b|error number 28\b/i,
    source: 'strerror(28), in cp, InnoDB (os0file.cc) and ER_DISK_FULL',
  },
  {
    name: 'no lock',
    pattern: /unable to lock |already have another mysqld process/i,
    source: 'innochecksum.cc (`Unable to lock file::`), os0file.cc (MY-012574 `Unable to lock ./`)',
  },
  {
    name: 'no asynchronous I/O',
    pattern: /\bio_setup\(\)|cannot initialize AIO sub-system/i,
    source: 'InnoDB, os0file.cc: /proc/sys/fs/aio-max-nr is used up',
  },
  {
    name: 'no file handles',
    pattern:
      /too many open files|\bE[MN]FILE\b|errno:? 2[34]\b|OS error:? 2[34]\b|error number 2[34]\b/i,
    source: 'strerror(23), strerror(24)',
  },
  {
    name: 'no threads',
    pattern: /can't create (a new )?thread|pthread_create.* (EAGAIN|returned 11)/i,
    source: 'ER_CANT_CREATE_THREAD, mysqld.cc',
  },
];

/** Whoever says this speaks of what is on the disk, whatever else it says. */
const saysDamage =
  /corrupt|structure needs cleaning|bad message|checksum mismatch|in the future|assertion failure/i;

/** What mysqld says after any error that it does not survive: it accuses nobody. */
const afterwords: readonly RegExp[] = [
  /Plugin initialization aborted|Failed to initialize DD Storage Engine/,
  /Data Dictionary initialization failed|\[Server\] Aborting|ib::fatal triggered/,
  /^InnoDB: (If you get repeated assertion|corruption in the InnoDB tablespace\. Please)/,
  /mysqld got signal 6/,
];

/** Its name; undefined where the text tells of none, or of damage. */
export function troubleIn(text: string): string | undefined {
  if (saysDamage.test(text)) return undefined;
  return machineTroubles.find(({ pattern }) => pattern.test(text))?.name;
}

const isAfterword = (line: string): boolean => afterwords.some((each) => each.test(line));

/** As a shell tells of a process that was ended with SIGKILL: most often for want of memory. */
const killed = ['exit code 137'];

/**
 * Why a start failed through no fault of the volume. A single line of InnoDB's that tells of
 * anything else makes it the volume's fault.
 */
export function troubleOfStart({ ready, died, errorLines }: ServerStart): string | undefined {
  if (ready && died === undefined) return undefined;
  const telling = errorLines.filter((line) => !isAfterword(line));
  const troubles = telling.map(troubleIn);
  const accuses = (line: string): boolean => line.includes('[InnoDB]') || saysDamage.test(line);
  if (telling.some((line, n) => troubles[n] === undefined && accuses(line))) return undefined;
  return troubles.find((each) => each !== undefined) ?? killedBy(died);
}

const killedBy = (died: string | undefined): string | undefined =>
  died !== undefined && killed.includes(died) ? 'killed' : undefined;

/** Every trouble that an audit met and what it kept from being read. */
export function troublesOf(evidence: ImageEvidence): string[] {
  const { mountError, starts, sqlFailures = [], innochecksum, tables } = evidence;
  const told: string[] = [];
  const tell = (what: string, trouble: string | undefined, said: string): void => {
    if (trouble !== undefined) told.push(`${what}: ${trouble} (${said})`);
  };
  if (mountError !== undefined) tell('mount', troubleIn(mountError), mountError);
  for (const start of starts) {
    tell(`server for ${start.purpose}`, troubleOfStart(start), start.errorLines.join('; '));
  }
  for (const { what, error } of sqlFailures) tell(what, troubleIn(error), error);
  for (const { command, exitCode, output } of innochecksum) {
    if (exitCode !== 0) tell(command, troubleIn(output), output);
  }
  for (const { table, check } of tables) {
    if (check !== undefined) tell(`CHECK TABLE of ${table}`, troubleIn(check), check);
  }
  return told;
}
