/** One node's machine: a part of the port between an experiment and its cluster. */
import type { Able, Capability } from '../../core/index.ts';
import type { Proof } from './storage.ts';

/** What of a node can be made to stand still, and the agents that are meant. */
export const stalls = { kubelet: ['kubelet'], runtime: ['kubelet', 'containerd'] } as const;
export type Stall = keyof typeof stalls;

/** What it is asked, every cluster answers; what is done to it, not each one can. All idempotent. */
export interface Machine {
  readonly node: string;
  /** `running`, `frozen` or `stopped`. */
  state(): Promise<'running' | 'frozen' | 'stopped'>;
  /** Agents that stand still now. */
  stalled(): Promise<readonly string[]>;
  /** Whether this node can reach the API server now (asked on the node itself). */
  reachesApi(): Promise<boolean>;
  /** Whether the outside client's network can reach this node now. */
  reachedFromOutside(): Promise<boolean>;
  /** Stops every process of the node. [`node-freeze`] */
  freeze?(): Promise<void>;
  /** [`node-freeze`] */
  thaw?(): Promise<void>;
  /** Ends every process of the node at once. [`node-power`] */
  kill?(): Promise<void>;
  /** Boots a killed node, networking restored. [`node-power`] */
  start?(): Promise<void>;
  /** Takes the node off the cluster's network. [`node-network`] */
  disconnect?(): Promise<void>;
  /** Puts it back with its old address and routes. [`node-network`] */
  reconnect?(): Promise<void>;
  /** Drops all that passes between the node and the control plane; the rest of its network works. [`node-isolation`] */
  isolate?(): Promise<void>;
  /** Lets it pass again. [`node-isolation`] */
  rejoin?(): Promise<void>;
  /** Makes these agents stand still (kind: SIGSTOP); the containers that they started run on. [`agent-stall`] */
  stall?(what: Stall): Promise<void>;
  /** Lets every agent go on. [`agent-stall`] */
  resume?(): Promise<void>;
  /** Ends the kubelet and starts it again; resolves to its process before and after. [`kubelet-restart`] */
  restartKubelet?(): Promise<{
    readonly before: string | undefined;
    readonly after: string | undefined;
  }>;
  /** Ends every database process of the node at once (SIGKILL); verified where there was one. [`server-kill`] */
  killServer?(): Promise<Proof>;
  /** Leaves all processes of the node together this share of one CPU. [`cpu-limit`] */
  throttle?(share: number): Promise<void>;
  /** [`cpu-limit`] */
  unthrottle?(): Promise<void>;
  /** In which share of the scheduler's periods, now, that limit stops processes. [`cpu-limit`] */
  throttled?(): Promise<number>;
}

export type MachineWith<C extends Capability> = Able<Machine, 'machine', C>;
