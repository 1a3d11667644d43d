/**
 * Port below a machine's verbs: what somebody outside a node can do to it, whatever it is. A container
 * (lib/kind/engine) can be reached at any time, held and ended; a virtual machine (research/two-kernels) held and
 * ended; a privileged pod (lib/probe/node.ts) can arm what its node does by itself.
 */
import { InfrastructureError } from '../../core/index.ts';

/** How a command ended: -1 where it was ended by its timeout or a signal, or nobody can tell. */
export interface Ended {
  readonly exitCode: number;
  /** Both where a node does not tell them apart. */
  readonly stdout: string;
  readonly stderr: string;
}

export interface NodeRunOptions {
  /** Nobody waits for the answer any longer; the command is ended where that can be. */
  readonly signal?: AbortSignal | undefined;
  /** The same after so long: exit code -1, or it rejects. Default: 60 000 on a container. */
  readonly timeoutMs?: number | undefined;
}

/** A script that a node starts by itself. */
export interface ArmedUnit {
  /** Names its file; its unit is called `RUN-NAME`. */
  readonly name: string;
  readonly script: string;
  /** Default: at once. */
  readonly afterMs?: number;
  /** Default: the node's own. */
  readonly accuracyMs?: number;
}

/** What is left with a node, to be done though nobody reaches it, or lives, any more. */
export interface Arming {
  readonly run: string;
  /** Holds the scripts, on the node. `before` makes it where it is not there. */
  readonly folder: string;
  /** Runs first: where it fails nothing is armed. */
  readonly before: string;
  readonly units: readonly ArmedUnit[];
  /** Runs last: how it ends, and what both say, is the answer. */
  readonly proof: string;
}

/** What was sent to a node, and is under way. */
export interface Sent {
  /** Resolves and rejects as `run` does. From a node that cuts itself off no word may ever come. */
  ended(options?: NodeRunOptions): Promise<Ended>;
}

/** What is absent can't be done to such a node: whoever needs it says so before a run begins. */
export interface NodeShell {
  readonly node: string;
  /** Runs a command there. Rejects where it could not be run; how it ended is in the answer. */
  run(argv: readonly string[], options?: NodeRunOptions): Promise<Ended>;
  /**
   * Runs a shell script; `$1` … are its arguments. Resolves to its stdout. Throws InfrastructureError
   * `COMMAND_FAILED` with any exit code but 0.
   */
  sh(script: string, ...args: readonly (string | number)[]): Promise<string>;
  /** Commands come to a node that is cut off: they need neither its network nor its kubelet. */
  readonly outOfBand?: true;
  /** The same as `run`, as a line for a person's own shell. */
  byHand?(argv: readonly string[]): string;
  /** Has the node do something by itself, later. Resolves once it is sent. */
  arm?(arming: Arming): Promise<Sent>;
  /** Nothing on the node runs any more, until `resume`. */
  suspend?(): Promise<void>;
  resume?(): Promise<void>;
  /** At once: nothing on it is stopped in order. */
  powerOff?(): Promise<void>;
  powerOn?(): Promise<void>;
}

/** A shell that has at least these. */
export type ShellWith<Verb extends keyof NodeShell> = NodeShell & Required<Pick<NodeShell, Verb>>;

/** For what cuts a node off, and takes that back by the same way. */
export type OutOfBandShell = ShellWith<'outOfBand' | 'byHand'>;

/** All that a machine of this machine's own has; what can always be reached needs nothing armed. */
export type WholeNodeShell = Required<Omit<NodeShell, 'arm'>>;

/** Words that run a script; `$1` … are its arguments. */
export const scriptWords = (script: string, args: readonly (string | number)[]): string[] => [
  ...['sh', '-c', script, 'sh'],
  ...args.map(String),
];

/** One line of POSIX shell, which knows none of the quotes that a person's own shell does. */
export const posixLine = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');

/** `sh` of a shell that can `run`. */
export const shBy =
  ({ node, run }: Pick<NodeShell, 'node' | 'run'>): NodeShell['sh'] =>
  async (script, ...args) => {
    const argv = scriptWords(script, args);
    const { exitCode, stdout, stderr } = await run(argv);
    if (exitCode === 0) return stdout;
    const why = `on ${node}, exit code ${exitCode}: ${(stderr || stdout).slice(-1000)}`;
    throw new InfrastructureError('COMMAND_FAILED', why, { command: posixLine(argv) });
  };
