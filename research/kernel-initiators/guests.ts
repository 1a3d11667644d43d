/** Guests whose kernel is the initiator, or the target: Debian's full kernel, and what its initiators need beside it. */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { $ } from '../../lib/kind/index.ts';
import { type GuestFiles, guestFiles, machineModules } from '../two-kernels/guest-files.ts';

/** iscsid logs in again after a lost connection; the other initiators are all in the kernel. */
const packages = ['open-iscsi', 'socat', 'kmod', 'iproute2', 'mount'];
const suite = 'bookworm';

export const initiatorGuest = (
  modules: readonly string[],
  onProgress: (line: string) => void,
): Promise<GuestFiles> =>
  guestFiles({
    kernel: 'linux-image-amd64',
    modules: [...machineModules, ...modules],
    root: {
      name: `Debian ${suite} with ${packages.join(', ')}`,
      key: `initiators-${hash('sha256', [suite, ...packages].join()).slice(0, 12)}`,
      async make(scratch) {
        const include = `--include=${packages.join(',')}`;
        const flags = ['--quiet', '--variant=essential', include];
        const newer = [
          '--aptopt=APT::Install-Recommends "false"',
          '--aptopt=Acquire::Check-Valid-Until "false"',
        ];
        await $({
          quiet: true,
        })`mmdebstrap ${[...flags, ...newer]} ${suite} ${join(scratch, 'root')}`;
      },
    },
    onProgress,
  });
