/** A volume on a bare host, and the disk that it is while a node has it attached and mounted. */
import { BareServer } from './bare-server.ts';
import type { BareHost } from './bare-host.ts';
import { shared } from './bare-lab.ts';

/** From linux/loop.h. struct loop_info64 has 232 bytes; lo_sizelimit is the u64 at offset 32. */
const cutScript = `
  $b = "\\0" x 232;
  open F, "+<", $ARGV[0] or die "open: $!";
  ioctl(F, 0x4C05, $b) or die "LOOP_GET_STATUS64: $!";
  substr($b, 32, 8) = pack("Q<", 512);
  ioctl(F, 0x4C04, $b) or die "LOOP_SET_STATUS64: $!"`;

export class BareVolume {
  readonly #host: BareHost;
  readonly path: string;

  constructor(host: BareHost, path: string) {
    this.#host = host;
    this.path = path;
  }

  /** Puts the volume as it is where the auditor looks for the copy of that label. */
  async copy(label: string): Promise<BareVolume> {
    // A stopped process's kernel still writes back: only an undisturbed copy is one moment.
    const script = `written() { cat "/sys/block/loop$a/stat" "/sys/block/loop$b/stat" 2>/dev/null || true; }
      a=$3; b=$4
      for try in $(seq 20); do before=$(written); cp --sparse=always "$1" "$2"
      [ "$before" = "$(written)" ] && exit 0; sleep 0.25; done; exit 1`;
    const to = `${shared}/copies/${label}.img`;
    await this.#host.sh(script, this.path, to, this.#host.loops.a, this.#host.loops.b);
    return new BareVolume(this.#host, to);
  }

  /** A loop device of its own with direct I/O, checked and mounted, as NodeStage does. */
  async attach(node: 'a' | 'b'): Promise<BareDisk> {
    const mountPoint = `/mnt/${node}`;
    const script = `losetup --direct-io=on /dev/loop$1 "$2"; mkdir -p "$3"
      options=defaults; [ "$(blkid -p -s TYPE -o value "$2")" != xfs ] || options=nouuid
      fsck -a /dev/loop$1 || [ $? = 1 ]; mount -o $options /dev/loop$1 "$3"; mkdir -p "$3/canary"`;
    await this.#host.sh(script, this.#host.loops[node], this.path, mountPoint);
    return new BareDisk(this.#host, node, mountPoint);
  }
}

export class BareDisk {
  readonly mountPoint: string;
  readonly #host: BareHost;
  readonly #node: 'a' | 'b';

  constructor(host: BareHost, node: 'a' | 'b', mountPoint: string) {
    this.#host = host;
    this.#node = node;
    this.mountPoint = mountPoint;
  }

  startServer(...flags: string[]): Promise<BareServer> {
    return BareServer.start(this.#host, this.#node, this.mountPoint, flags);
  }

  /** Every later read and write fails: one sector is all that is left of the device. */
  async cut(): Promise<void> {
    await this.#host.sh('perl -e "$1" "$2"', cutScript, `/dev/loop${this.#host.loops[this.#node]}`);
  }

  async detach(): Promise<void> {
    await this.#host.sh(
      'umount "$1"; losetup -d /dev/loop$2',
      this.mountPoint,
      this.#host.loops[this.#node],
    );
  }
}
