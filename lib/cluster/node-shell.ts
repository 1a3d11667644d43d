/**
 * Port below a machine's verbs: what somebody outside a node can do to it, whatever it is. A container
 * has all of it, a virtual machine of the two-kernel lab all but a second start.
 */

/** How a command ended: -1 where it was ended by its timeout or a signal. */
export interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface NodeRunOptions {
  readonly signal?: AbortSignal | undefined;
  /** The command is ended after so long; default 60 000. */
  readonly timeoutMs?: number | undefined;
}

/** What is absent can't be done to such a node: whoever needs it says so before a run begins. */
export interface NodeShell {
  readonly node: string;
  /**
   * Runs a command there, from outside it: the node needs no network for it. Rejects where the command
   * could not be run; how it ended is in the answer.
   */
  run(argv: readonly string[], options?: NodeRunOptions): Promise<Ended>;
  /**
   * Runs a shell script; `$1` … are its arguments. Resolves to its stdout. Throws InfrastructureError
   * `COMMAND_FAILED` with any exit code but 0.
   */
  sh(script: string, ...args: readonly (string | number)[]): Promise<string>;
  /** The same as a line for a person's own shell. */
  byHand(argv: readonly string[]): string;
  /** Nothing on the node runs any more, until `resume`. */
  suspend?(): Promise<void>;
  resume?(): Promise<void>;
  /** At once: nothing on it is stopped in order. */
  powerOff?(): Promise<void>;
  powerOn?(): Promise<void>;
}

/** With all that a machine of this machine's own has. */
export type WholeNodeShell = Required<NodeShell>;

/** Words that run a script; `$1` … are its arguments. */
export const scriptWords = (script: string, args: readonly (string | number)[]): string[] => [
  ...['sh', '-c', script, 'sh'],
  ...args.map(String),
];
