/**
 * What a case asks of the machines it runs on: containers of one kernel with a loop device each, or
 * virtual machines with a kernel each. Everything that is not here is done by the same shell scripts
 * on both.
 */
import type { BareMachine } from '../database/server-port.ts';

/**
 * `slow-loops`: as `loops`, with so little of a processor that a server takes as long to start as in
 * an emulated machine. It tells what the kernels make different from what slowness does.
 */
export const hostKinds = ['loops', 'slow-loops', 'vms'] as const;
export type HostKind = (typeof hostKinds)[number];

export const nodeNames = ['victim', 'successor'] as const;
export type NodeName = (typeof nodeNames)[number];
/** Tells the server's clients apart: lib/workload/ledger.ts knows two. */
export const clientOf = { victim: 'inside', successor: 'outside' } as const;

/** A machine: a container with namespaces of its own, or a virtual machine. */
export interface Node extends BareMachine, AsyncDisposable {
  readonly name: NodeName;
  /** `uname -r` */
  readonly kernel: string;
  /**
   * Runs a shell script on the node as root; `$1` … are its arguments. Resolves to its output.
   * Throws InfrastructureError `COMMAND_FAILED` with any exit code but 0.
   */
  sh(script: string, ...args: readonly (string | number)[]): Promise<string>;
  /** Gives it the array's device. Resolves to the device's name on the node. */
  attach(device: string): Promise<string>;
  /** Nothing on the node runs any more, until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /**
   * The node is gone, at once. What it had in its caches must not reach the disk afterwards: the
   * array cuts its path first, since a shared kernel would write it back.
   */
  powerOff(): Promise<void>;
}

export interface Host {
  readonly kind: HostKind;
  /** Processors that each node is held to. Default: not held. */
  readonly cpus?: number;
  /** Starts a node; it is ready for `sh` when this resolves. */
  start(name: NodeName): Promise<Node>;
}

/**
 * One line of POSIX shell that runs a script with arguments, whatever is in them.
 * Ends at the first command that fails; nothing is read from the caller's stdin.
 */
export const shellCommand = (script: string, args: readonly (string | number)[]): string =>
  ['sh', '-euc', script, 'sh', ...args.map(String)].map(quoted).join(' ') + ' </dev/null 2>&1';

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
