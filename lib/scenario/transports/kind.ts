/** What a transport is: how a node reaches the disk, and what cannot be asked of a disk that is reached so. */
import type { KindDeclaration } from '../kinds.ts';

/**
 * The array serves its paths on the storage network, and an initiator beside each node, always
 * qemu-storage-daemon, makes devices of them.
 */
export interface Ends {
  /** The initiator's `--blockdev`; `path` is the name that the array serves it by. */
  readonly connect: (host: string, path: string) => string;
  /** Of the initiator's network. */
  readonly sysctls: readonly string[];
}

export interface TransportDeclaration<Name extends string = string> extends KindDeclaration {
  readonly name: Name;
  /** Fits after `the node reaches the disk`. */
  readonly does: string;
  /** Absent: the node has the array's own device, and no network lies between. */
  readonly ends?: Ends;
}

export const transport = <const T extends TransportDeclaration>(declared: T): T => declared;
