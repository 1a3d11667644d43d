/** nfs-ganesha; the kernel mounts NFSv4.2 as Kubernetes does, hard, and the writer keeps one file open. */
import { join } from 'node:path';
import { waitFor } from '../../../lib/core/index.ts';
import { inside, type LabGuest } from '../lab.ts';
import { blocksOf, type Protocol, type Server } from './protocol.ts';
import { volumeBytes } from '../../real-storage/token.ts';

export const nfs: Protocol = {
  initiator: 'nfsv4',
  server: 'nfs-ganesha',
  modules: ['nfsv4'],
  revocations: ['client', 'unexport'],
  async serve(lab): Promise<Server> {
    const address = await lab.addressOf('servers');
    const exported = `${inside}/nfs`;
    const configure = async (clients: readonly LabGuest[], isExported = true): Promise<void> =>
      lab.write('ganesha.conf', configOf(isExported ? exportOf(exported, clients) : ''));
    await lab.exec(
      'servers',
      `mkdir -p ${exported} ${inside}/recovery /run/ganesha /var/run/ganesha /run/rpcbind; rpcbind -w || true`,
    );
    await configure([]);
    await lab.background(
      'servers',
      `ganesha.nfsd -F -L ${inside}/ganesha.log -f ${inside}/ganesha.conf -p /run/ganesha.pid`,
      'ganesha.out',
    );
    await waitFor(
      { what: 'ganesha serves', timeoutMs: 60_000 },
      async () => (await lab.exec('servers', 'ss -ltn')).includes(':2049') || 'not yet',
    );
    const reload = async (clients: readonly LabGuest[], isExported = true): Promise<void> => {
      await configure(clients, isExported);
      await lab.exec('servers', 'kill -HUP "$(cat /run/ganesha.pid)"; sleep 0.5');
    };
    let both: readonly [LabGuest, LabGuest];
    let trial = 0;
    const file = (): string => `volume-${trial}.img`;
    return {
      async reset({ a, b }) {
        both = [a, b];
        trial += 1;
        await lab.exec('servers', `truncate -s ${volumeBytes} ${exported}/${file()}`);
        await reload(both);
      },
      async attach(guest) {
        const options = `vers=4.2,addr=${address},clientaddr=${guest.address},hard`;
        await guest.sh(
          `echo ${guest.node} >/proc/sys/kernel/hostname; mount -i -t nfs4 -o ${options} ${address}:/volume /mnt`,
        );
        return `/mnt/${file()}`;
      },
      revoke: (how) => reload(both.slice(1), how !== 'unexport'),
      giveBack: () => reload(both),
      detach: async (guest) => void (await guest.sh('umount /mnt')),
      read: () => blocksOf(join(lab.folder, 'nfs', file())),
    };
  },
};

const configOf = (exports: string): string => `
NFS_CORE_PARAM { allow_set_io_flusher_fail = true; Protocols = 4; Enable_NLM = false; Enable_RQUOTA = false; }
NFSv4 { RecoveryBackend = fs; RecoveryRoot = ${inside}/recovery; Only_Numeric_Owners = true; Graceless = true; }
LOG { Default_Log_Level = EVENT; }
${exports}`;

const exportOf = (path: string, clients: readonly LabGuest[]): string => `
EXPORT {
  Export_Id = 1; Path = ${path}; Pseudo = /volume; Access_Type = NONE; Squash = No_root_squash;
  SecType = sys; Protocols = 4; Transports = TCP; FSAL { Name = VFS; }
  ${clients.map(({ address }) => `CLIENT { Clients = ${address}; Access_Type = RW; Squash = No_root_squash; }`).join('\n  ')}
}`;
