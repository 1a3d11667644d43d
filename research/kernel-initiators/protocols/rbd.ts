/** A monitor and an OSD; krbd with what it does by itself: exclusive-lock, no timeout. */
import { readFile } from 'node:fs/promises';
import { waitFor } from '../../../lib/core/index.ts';
import type { LabGuest } from '../lab.ts';
import type { Protocol, Server } from './protocol.ts';
import { volumeBytes } from '../../real-storage/token.ts';

const cephScript = new URL('../../../examples/ember-csi/ceph.sh', import.meta.url);

export const rbd: Protocol = {
  initiator: 'krbd',
  server: 'ceph',
  modules: ['rbd'],
  revocations: ['blocklist', 'lock-rm', 'lock-rm-only'],
  async serve(lab): Promise<Server> {
    await lab.startCeph();
    const address = await lab.addressOf('ceph');
    const ceph = (script: string): Promise<string> => lab.exec('ceph', script);
    await lab.write('ceph.sh', await readFile(cephScript, 'utf8'));
    await lab.background('ceph', 'bash /lab/ceph.sh rbd', 'ceph.out');
    await ceph('until [ -e /run/ceph/ready ]; do sleep 0.2; done');
    let image = 0;
    let a: LabGuest;
    /** Of the image as it is now. */
    const name = (): string => `volume-${image}`;
    let prefix = '';
    /** Of A, as the OSD knows it: address and nonce. */
    const clientOf = async ({ address }: LabGuest): Promise<string> => {
      const status = JSON.parse(await ceph(`rbd status --format json ${name()}`)) as Status;
      return status.watchers.find((each) => each.address.startsWith(`${address}:`))?.address ?? '';
    };
    let client = '';
    return {
      async reset(guests) {
        a = guests.a;
        image += 1;
        await ceph(`rbd create --size ${volumeBytes}B --image-feature exclusive-lock ${name()}`);
        prefix = /block_name_prefix: (\S+)/.exec(await ceph(`rbd info ${name()}`))?.[1] ?? '';
      },
      async attach(guest) {
        const options = `name=admin`;
        await guest.sh(
          `echo "${address}:6789 ${options} rbd ${name()}" >/sys/bus/rbd/add_single_major`,
        );
        await waitFor(
          { what: 'the image is mapped', timeoutMs: 60_000, everyMs: 2000 },
          async () => (await guest.sh('ls /dev')).includes('rbd0') || 'no /dev/rbd0',
        );
        return '/dev/rbd0';
      },
      async revoke(how) {
        client = await clientOf(a);
        if (how === 'blocklist') {
          await ceph(`ceph osd blocklist add ${client}`);
          return;
        }
        const locks = JSON.parse(await ceph(`rbd lock ls --format json ${name()}`)) as Lock[];
        const flag = how === 'lock-rm-only' ? '--rbd-blocklist-on-break-lock=false' : '';
        for (const { id, locker } of locks)
          await ceph(`rbd lock rm ${flag} ${name()} "${id}" ${locker}`);
      },
      giveBack: async () => void (await ceph(`ceph osd blocklist rm ${client}`)),
      detach: async (guest) => void (await guest.sh('echo 0 >/sys/bus/rbd/remove_single_major')),
      async read() {
        // The first object has all blocks that are written.
        const get = `rados -p rbd get ${prefix}.0000000000000000`;
        return Buffer.from(await ceph(`${get} /run/object; base64 -w0 /run/object`), 'base64');
      },
    };
  },
};

interface Status {
  readonly watchers: readonly { readonly address: string }[];
}

interface Lock {
  readonly id: string;
  readonly locker: string;
}
