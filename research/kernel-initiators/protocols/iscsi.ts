/** tgt, one target with one LUN; open-iscsi with what Debian ships as its settings. */
import { join } from 'node:path';
import { waitFor } from '../../../lib/core/index.ts';
import { inside, type LabGuest } from '../lab.ts';
import { blocksOf, type Protocol, type Server } from './protocol.ts';
import { volumeBytes } from '../../real-storage/token.ts';

const iqn = 'iqn.2026-01.dev.forcedetach:volume';
const device = '/dev/sda';

export const iscsi: Protocol = {
  initiator: 'open-iscsi',
  server: 'tgt',
  modules: ['iscsi_tcp', 'sd_mod'],
  revocations: ['acl', 'session', 'acl+session', 'read-only'],
  async serve(lab): Promise<Server> {
    const portal = await lab.addressOf('servers');
    const admin = (script: string): Promise<string> =>
      lab.exec('servers', `t() { tgtadm -C 0 --lld iscsi "$@"; }; ${script}`);
    await lab.background('servers', 'tgtd -f -C 0', 'tgtd.log');
    await waitFor(
      { what: 'tgtd serves', timeoutMs: 20_000 },
      async () =>
        (await lab.exec('servers', 'tgtadm -C 0 --op show --mode sys || true')).includes(
          'State: ready',
        ) || 'not yet',
    );
    const acl = (op: 'bind' | 'unbind', { address }: LabGuest): Promise<string> =>
      admin(`t --op ${op} --mode target --tid 1 -I ${address}`);
    const killSessions = ({ address }: LabGuest): Promise<string> =>
      admin(`${killScript} ${address}`);
    const readOnly = (value: 0 | 1): Promise<string> =>
      admin(`t --op update --mode logicalunit --tid 1 --lun 1 --params readonly=${value}`);
    let a: LabGuest;
    return {
      async reset(guests) {
        a = guests.a;
        await admin(`
          t --op delete --mode target --tid 1 --force || true
          rm -f ${inside}/iscsi.img; truncate -s ${volumeBytes} ${inside}/iscsi.img
          t --op new --mode target --tid 1 -T ${iqn}
          t --op new --mode logicalunit --tid 1 --lun 1 -b ${inside}/iscsi.img --bstype rdwr --bsoflags direct`);
        await acl('bind', guests.a);
        await acl('bind', guests.b);
      },
      async attach(guest) {
        await guest.sh(loginScript(guest.node, portal));
        await waitFor(
          { what: 'the LUN is there', timeoutMs: 60_000, everyMs: 2000 },
          async () => (await guest.sh('ls /dev')).includes('sda') || 'no /dev/sda',
        );
        return device;
      },
      async revoke(how) {
        if (how.startsWith('acl')) await acl('unbind', a);
        if (how.endsWith('session')) await killSessions(a);
        if (how === 'read-only') await readOnly(1);
      },
      async giveBack(how) {
        if (how.startsWith('acl')) await acl('bind', a);
        if (how === 'read-only') await readOnly(0);
      },
      async detach(guest) {
        await guest.sh(`iscsiadm -m node -T ${iqn} -p ${portal} --logout`);
      },
      read: () => blocksOf(join(lab.folder, 'iscsi.img')),
    };
  },
};

/** Every session of an address: one that is left over is a way in. */
const killScript = `
  k() {
    t --op show --mode target | awk -v address="$1" '
      /I_T nexus: / { sid = $3 } /Connection: / { cid = $2 }
      /IP Address: / && $3 == address { print sid, cid }' |
    while read -r sid cid; do t --op delete --mode conn --tid 1 --sid "$sid" --cid "$cid"; done
  }; k`;

/** The root is read-only; the database of nodes and the settings are in /etc/iscsi. */
const loginScript = (name: string, portal: string): string => `
  mkdir -p /run/lock/iscsi; cp -a /etc/iscsi /run/iscsi; mount --bind /run/iscsi /etc/iscsi
  echo InitiatorName=iqn.2026-01.dev.forcedetach:${name} >/etc/iscsi/initiatorname.iscsi
  setsid iscsid -f >/run/iscsid.log 2>&1 </dev/null &
  for second in 1 2 3 4 5; do iscsiadm -m node -o new -T ${iqn} -p ${portal} && break; sleep 1; done
  iscsiadm -m node -T ${iqn} -p ${portal} --login`;
