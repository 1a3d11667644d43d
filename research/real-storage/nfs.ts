/**
 * NFSv3 by nfs-ganesha, on a file system of the server's own: no array, so no log of writes. The data of one node's
 * path is the other's, as on a real filer.
 */
import { waitFor } from '../../lib/core/index.ts';
import { engine, run, tryRun } from '../../lib/kind/index.ts';
import type { Ends } from '../../lib/scenario/index.ts';
import { volumeBytes } from './token.ts';

const folder = '/export';
const imageOf = (volume: string): string => `${folder}/${volume}.img`;

export const nfsEnds: Ends = {
  module: 'nfs',
  connect: (host, volume) =>
    `driver=nfs,server.type=inet,server.host=${host},path=${imageOf(volume)},cache.direct=on`,
  sysctls: ['net.ipv4.tcp_retries2=5', 'net.ipv4.tcp_syn_retries=2'],
};

const configFile = '/etc/ganesha/forcedetach.conf';

const configOf = (clients: readonly string[] | 'not exported'): string => `
NFS_CORE_PARAM {
  Protocols = 3; NFS_Port = 2049; MNT_Port = 20048; Enable_NLM = false; Enable_RQUOTA = false;
  mount_path_pseudo = false; allow_set_io_flusher_fail = true;
}
LOG { Default_Log_Level = EVENT; }
${clients === 'not exported' ? '' : exportOf(clients)}`;

const exportOf = (clients: readonly string[]): string => `EXPORT {
  Export_Id = 1; Path = ${folder}; Pseudo = ${folder}; Access_Type = NONE; Squash = No_root_squash;
  SecType = sys; Protocols = 3; Transports = TCP; FSAL { Name = VFS; }
${clients.map((address) => `  CLIENT { Clients = ${address}; Access_Type = RW; Squash = No_root_squash; }`).join('\n')}
}`;

/** The image has no netbase; the server ignores file systems in memory, and finds mounts by mtab. */
const main = `set -eu
mkdir -p /run/rpcbind /run/ganesha /var/run/ganesha /var/lib/nfs/ganesha /etc/ganesha
ln -sf /proc/self/mounts /etc/mtab
printf 'tcp 6 TCP\\nudp 17 UDP\\n' > /etc/protocols
printf 'sunrpc 111/tcp portmapper\\nsunrpc 111/udp portmapper\\n' > /etc/services
printf 'portmapper 100000\\nnfs 100003\\nmountd 100005\\n' > /etc/rpc
printf '%s' "$0" > ${configFile}
rpcbind -w
exec ganesha.nfsd -F -L /dev/stdout -f ${configFile} -p /run/ganesha/pid`;

export class NfsServer {
  readonly #container: string;
  readonly #addresses: readonly string[];

  private constructor(container: string, addresses: readonly string[]) {
    this.#container = container;
    this.#addresses = addresses;
  }

  /** `flags`: of the container's making. `addresses`: of its clients, in the order of the nodes. */
  static async start(
    { container, image, flags }: { container: string; image: string; flags: readonly string[] },
    addresses: readonly string[],
  ): Promise<NfsServer> {
    const all = ['--name', container, ...flags, '--volume', folder, '--entrypoint', 'sh'];
    await run(engine.start(all, image, '-c', main, configOf(addresses)));
    await waitFor({ what: 'the NFS server answers', timeoutMs: 60_000 }, async () => {
      const list = await run(engine.shell(container, 'rpcinfo -p 127.0.0.1 2>&1 || true'));
      return /100005 +3 +tcp/.test(list) || list;
    });
    return new NfsServer(container, addresses);
  }

  newVolume(name: string): Promise<string> {
    return this.#shell(`truncate -s ${volumeBytes} ${imageOf(name)}`);
  }

  async readVolume(name: string, to: string): Promise<void> {
    await run(engine.copyOut(this.#container, imageOf(name), to));
    await this.#shell(`rm ${imageOf(name)}`);
  }

  async revoke(how: string): Promise<void> {
    await this.#configure(how === 'unexport' ? 'not exported' : this.#addresses.slice(1));
  }

  async giveBack(): Promise<void> {
    await this.#configure(this.#addresses);
  }

  /** Resolves once the server has read it. */
  async #configure(clients: readonly string[] | 'not exported'): Promise<void> {
    const { length: before } = await this.#reloads();
    const script = `printf '%s' "$0" > ${configFile} && kill -HUP $(cat /run/ganesha/pid)`;
    await this.#shell(script, configOf(clients));
    const wait = { what: 'the NFS server read its configuration', timeoutMs: 10_000, everyMs: 50 };
    await waitFor(wait, async () => (await this.#reloads()).length > before || 'not yet');
  }

  async #reloads(): Promise<string[]> {
    const { stdout } = await tryRun(engine.logs(this.#container));
    return (
      stdout.match(/Reread of (the )?exports? (complete|failed)|reread.*export.*complete/gi) ?? []
    );
  }

  #shell(script: string, ...args: readonly string[]): Promise<string> {
    return run(engine.shell(this.#container, script, ...args));
  }
}
