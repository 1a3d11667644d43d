/**
 * Formats, checks and mounts a device as Kubernetes' own mount code does: SafeFormatAndMount in
 * k8s.io/mount-utils (mount_linux.go). What it does to a disk that another node still writes is a
 * good part of what the experiments measure, so nothing here is more careful than the original.
 */
import { InfrastructureError } from '../../core/index.ts';
import { must, runProgram } from './run-program.ts';

export interface Mounted {
  /** What blkid called the device before; empty where it found nothing. */
  readonly formatBefore: string;
  /** True where a blank disk was formatted: on a used volume, a finding. */
  readonly formatted: boolean;
  /** fsck's exit code and words; absent where it did not run. */
  readonly fsckExitCode?: number;
  readonly fsck?: string;
}

export interface MountRequest {
  readonly device: string;
  readonly mountPoint: string;
  readonly fsType: 'ext4' | 'xfs';
  /** ext4 that notes in the file system who has it mounted, and refuses a second one. */
  readonly multipleMountProtection: boolean;
  readonly options: readonly string[];
}

/** From fsck(8): errors were left uncorrected. Only this code keeps the original from mounting. */
const fsckUncorrected = 4;
/** From blkid(8): the tokens were not found. */
const blkidNothingFound = 2;

export async function formatAndMount(request: MountRequest): Promise<Mounted> {
  const { device, fsType } = request;
  const options = [...request.options, ...ownOptions[fsType]];
  const readOnly = options.includes('ro');
  const formatBefore = await formatOf(device);
  if (formatBefore === '' && readOnly) {
    throw new InfrastructureError('UNFORMATTED', `${device} is blank and asked for read-only`);
  }
  if (formatBefore === '') await must(`mkfs.${fsType}`, ...mkfsArgs(request));
  const checked = formatBefore === '' || readOnly ? {} : await check(device);
  const flags = [...options, 'defaults'].join(',');
  await must('mount', ...['-t', fsType, '-o', flags, device, request.mountPoint]);
  return { formatBefore, formatted: formatBefore === '', ...checked };
}

/**
 * XFS refuses a second file system of the same UUID, by a table of the kernel that machines do not
 * share: here it would keep two nodes apart that nothing keeps apart in a real cluster.
 */
const ownOptions = { ext4: [], xfs: ['nouuid'] } as const;

function mkfsArgs({ device, fsType, multipleMountProtection }: MountRequest): string[] {
  if (fsType === 'xfs') return ['-f', device];
  return ['-F', '-m0', ...(multipleMountProtection ? ['-O', 'mmp'] : []), device];
}

async function formatOf(device: string): Promise<string> {
  const args = ['-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', device];
  const { exitCode, output, stdout } = await runProgram('blkid', ...args);
  if (exitCode === blkidNothingFound) return '';
  if (exitCode !== 0) {
    throw new InfrastructureError('FORMAT_UNKNOWN', `blkid could not read ${device}: ${output}`, {
      command: ['blkid', ...args].join(' '),
    });
  }
  return formatIn(stdout);
}

/** A partition table counts as a format, so that it is never overwritten. */
export function formatIn(blkidOutput: string): string {
  const found = new Map<string, string>();
  for (const line of blkidOutput.split('\n')) {
    const [name, value] = line.split('=');
    if (name !== undefined && value !== undefined) found.set(name, value);
  }
  return found.has('PTTYPE') ? 'unknown data, probably partitions' : (found.get('TYPE') ?? '');
}

async function check(device: string): Promise<{ fsckExitCode: number; fsck: string }> {
  const { exitCode, output } = await runProgram('fsck', '-a', device);
  if (exitCode === fsckUncorrected) {
    throw new InfrastructureError(
      'FSCK_REFUSED',
      `fsck found errors on ${device} but could not correct them: ${output}`,
    );
  }
  // 1 means corrected; above 4 the original only logs, and so does the call log.
  return { fsckExitCode: exitCode, fsck: output };
}
