/**
 * What a case asks of the machines it runs on: containers of one kernel with a loop device each, or
 * virtual machines with a kernel each. Everything that is not here is done by the same shell scripts
 * on both.
 */
import type { ShellWith, BareMachine } from '../../lib/run/index.ts';

/**
 * `slow-loops`: as `loops`, with so little of a processor that a server takes as long to start as in
 * an emulated machine. It tells what the kernels make different from what slowness does.
 */
export const hostKinds = ['loops', 'slow-loops', 'vms'] as const;
export type HostKind = (typeof hostKinds)[number];

export const comparedFilesystems = ['ext4', 'xfs'] as const;
export type ComparedFilesystem = (typeof comparedFilesystems)[number];

export const nodeNames = ['victim', 'successor'] as const;
export type NodeName = (typeof nodeNames)[number];
/** Tells the server's clients apart: lib/history/workload.ts knows two. */
export const clientOf = { victim: 'inside', successor: 'outside' } as const;

/** A machine: a container with namespaces of its own, or a virtual machine. */
export interface Node
  extends BareMachine,
    ShellWith<'suspend' | 'resume' | 'powerOff'>,
    AsyncDisposable {
  readonly name: NodeName;
  /** `uname -r` */
  readonly kernel: string;
  /** Gives it the array's device. Resolves to the device's name on the node. */
  attach(device: string): Promise<string>;
  // What a node that is powered off had in its caches must not reach the disk afterwards: the array
  // cuts its path first, since a shared kernel would write it back.
}

export interface Host {
  readonly kind: HostKind;
  /** Processors that each node is held to. Default: not held. */
  readonly cpus?: number;
  /** Starts a node; it is ready for `sh` when this resolves. */
  start(name: NodeName): Promise<Node>;
}

/** Ends at the first command that fails; reads nothing of the caller's stdin, and says all in one. */
export const strict = (script: string): string => `set -eu; exec </dev/null 2>&1; ${script}`;
