/** What a transport is: how a node reaches the disk, and what cannot be asked of a disk that is reached so. */
import type { KindDeclaration } from '../kinds.ts';

export type ServerImage = 'initiator' | 'ceph';

/**
 * The array serves its paths on the storage network, and an initiator beside each node, always
 * qemu-storage-daemon, makes devices of them.
 */
export interface Ends {
  /** Image that the array's container runs in beside the server that it brings. Absent: the array serves by itself. */
  readonly serves?: ServerImage;
  /** The initiator's `--blockdev`; `path` is the name that the array serves it by. */
  readonly connect: (host: string, path: string) => string;
  /** The kernel's own initiator, which no run uses. */
  readonly module: string;
  /** Of the initiator's network. */
  readonly sysctls: readonly string[];
}

/** How storage takes a path from a node. */
export interface Revocation {
  /** Fits after `the storage`. */
  readonly does: string;
  /** The mode that a cut done so comes to, as measured. */
  readonly worth: 'fenced' | 'unfenced';
  /** What a node's request comes to. `hangs`: it waits, and is carried out where the path is given back. */
  readonly victim: 'gets an error' | 'hangs' | 'goes on';
  /** It names a client of the node: one that is started again has another name, and writes on. */
  readonly endsAtConnect?: true;
}

/** By the array itself, whatever lies between. */
const cut = {
  does: 'refuses each request itself',
  worth: 'fenced',
  victim: 'gets an error',
} as const satisfies Revocation;

export interface TransportDeclaration<Name extends string = string> extends KindDeclaration {
  readonly name: Name;
  /** Fits after `the node reaches the disk`. */
  readonly does: string;
  /** Absent: the node has the array's own device, and no network lies between. */
  readonly ends?: Ends;
  /** By their names. */
  readonly revocations: Revocations;
  /** A successor's client cuts off a node whose storage network is gone: nobody has to revoke anything. */
  readonly fencesSilent?: true;
}

type Revocations = Readonly<Record<string, Revocation>> & { readonly cut: Revocation };

export const transport = <
  const T extends Omit<TransportDeclaration, 'revocations'>,
  const R extends Readonly<Record<string, Revocation>>,
>(
  declared: T,
  ways: R,
) => ({ ...declared, revocations: { cut, ...ways } });

export const untried = 'that has not been measured over a storage network';

/**
 * Of a client that connects anew by TCP: a connection that was cut is given up after 13 s, and made anew within 16 s of
 * the heal.
 */
export const givesUpSoon = ['net.ipv4.tcp_retries2=5', 'net.ipv4.tcp_syn_retries=2'] as const;

/** What no client that holds its requests is asked. */
export const untriedOverNetworks = {
  'fault.link': {
    errors: 'the client holds its requests while the storage network is gone: give stalls',
  },
  'fault.kind': { 'node-reboot': untried },
  'database.kind': { 'group-replication': untried },
} as const;
