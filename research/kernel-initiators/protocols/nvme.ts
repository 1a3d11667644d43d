/** nvmet in a third guest, one namespace on its disk; the initiator is a line to /dev/nvme-fabrics. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from '../../../lib/core/index.ts';
import { initiatorGuest } from '../guests.ts';
import type { LabGuest } from '../lab.ts';
import { blocksOf, type Protocol, type Server } from './protocol.ts';
import { volumeBytes } from '../../real-storage/token.ts';

const nqn = 'nqn.2026-01.dev.forcedetach:volume';
const hostOf = ({ node }: LabGuest): string => `nqn.2026-01.dev.forcedetach:${node}`;
const uuidOf = ({ node }: LabGuest): string =>
  `00000000-0000-4000-8000-00000000000${node === 'a' ? 1 : 2}`;

export const nvme: Protocol = {
  initiator: 'nvme-tcp',
  server: 'nvmet',
  modules: ['nvme_tcp'],
  revocations: ['host', 'namespace'],
  async serve(lab): Promise<Server> {
    const files = await initiatorGuest(['nvmet_tcp'], () => undefined);
    const disk = join(lab.folder, 'nvme.img');
    const blank = async (): Promise<void> => {
      await using file = await open(disk, 'w');
      await file.truncate(volumeBytes);
    };
    let target: LabGuest | undefined;
    const sh = async (script: string): Promise<void> =>
      void (await target?.sh(`cd /sys/kernel/config/nvmet; ${script}`));
    let a: LabGuest;
    const hosts = (guest: LabGuest): string => `subsystems/${nqn}/allowed_hosts/${hostOf(guest)}`;
    return {
      async reset(guests) {
        a = guests.a;
        await target?.[Symbol.asyncDispose]();
        await blank();
        target = await lab.guest('target', files, ['-drive', `file=${disk},if=virtio,format=raw`]);
        await target.sh('mount -t configfs config /sys/kernel/config');
        await sh(`
          mkdir subsystems/${nqn} subsystems/${nqn}/namespaces/1 ports/1
          for host in ${hostOf(guests.a)} ${hostOf(guests.b)}; do
            mkdir "hosts/$host"; ln -s "$PWD/hosts/$host" subsystems/${nqn}/allowed_hosts/
          done
          echo /dev/vdb >subsystems/${nqn}/namespaces/1/device_path
          echo 1 >subsystems/${nqn}/namespaces/1/enable
          cd ports/1; echo ipv4 >addr_adrfam; echo tcp >addr_trtype; echo 4420 >addr_trsvcid
          echo ${target.address} >addr_traddr
          ln -s /sys/kernel/config/nvmet/subsystems/${nqn} subsystems/`);
      },
      async attach(guest) {
        const how = [
          ...['transport=tcp', `traddr=${target?.address}`, 'trsvcid=4420', `nqn=${nqn}`],
          ...[`hostnqn=${hostOf(guest)}`, `hostid=${uuidOf(guest)}`],
        ];
        await guest.sh(`echo ${how.join()} >/dev/nvme-fabrics`);
        await waitFor(
          { what: 'the namespace is there', timeoutMs: 60_000, everyMs: 2000 },
          async () => (await guest.sh('ls /dev')).includes('nvme0n1') || 'no /dev/nvme0n1',
        );
        return '/dev/nvme0n1';
      },
      revoke: (how) =>
        sh(how === 'host' ? `rm ${hosts(a)}` : `echo 0 >subsystems/${nqn}/namespaces/1/enable`),
      giveBack: (how) =>
        sh(
          how === 'host'
            ? `ln -s "$PWD/hosts/${hostOf(a)}" subsystems/${nqn}/allowed_hosts/`
            : `echo 1 >subsystems/${nqn}/namespaces/1/enable`,
        ),
      async detach(guest) {
        await guest.sh('echo 1 >/sys/class/nvme/nvme0/delete_controller');
      },
      read: () => blocksOf(disk),
    };
  },
};
