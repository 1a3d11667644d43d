/**
 * The lab: one privileged container beside the cluster that sees its shared directory, its loop
 * devices and its nodes' processes. The disk and its observer act through it, so that nothing of
 * this project has to run on the host itself.
 */

export interface Lab {
  /** Name of the container, for commands that a person may paste. */
  readonly container: string;
  /** Runs a command in the lab and resolves to its stdout; rejects when it exits with an error. */
  exec(argv: readonly string[]): Promise<string>;
  /** Starts a command in the lab; each line of its stdout goes to `onLine`. Ended by disposal. */
  stream(argv: readonly string[], onLine: (line: string) => void): Promise<LabStream>;
}

export interface LabStream extends AsyncDisposable {
  /** Sends one line to the command's stdin (without the newline). */
  write(line: string): void;
  /** Resolves when the command ended by disposal, rejects when it ended otherwise. */
  readonly closed: Promise<void>;
}
