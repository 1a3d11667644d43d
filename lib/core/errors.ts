/** The one family of errors a user can meet. Each has a stable `code`, says what to do (`hint`), and where one helps, a command to paste (`command`). */

/** Controls but tab and newline, and the marks that turn the direction of writing. */
// oxlint-disable-next-line no-control-regex
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Each such character as `\u001b`. */
export const plainText = (text: string): string =>
  text.replace(obeyed, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

export interface ErrorDetail {
  /** What the user can do about it, one sentence. */
  readonly hint?: string;
  /** A shell command to paste, shown on a line of its own. */
  readonly command?: string;
  /** What would do, in place of a command: the command that was typed, with these words behind it. */
  readonly again?: readonly string[];
  readonly cause?: unknown;
}

/** Exit codes of every experiment (design: "Verdict"). */
export const exitCode = {
  expected: 0,
  unexpected: 1,
  usage: 2,
  inconclusive: 3,
  infrastructure: 4,
  /** A verdict, and nothing was expected that it could be held against. */
  open: 5,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

export abstract class ForcedetachError extends Error {
  /** Stable and greppable, e.g. `ENGINE_MISSING`. */
  readonly code: string;
  readonly hint: string | undefined;
  readonly command: string | undefined;
  readonly again: readonly string[] | undefined;
  abstract readonly exitCode: ExitCode;

  constructor(code: string, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = new.target.name;
    this.code = code;
    this.hint = detail.hint;
    this.command = detail.command;
    this.again = detail.again;
  }
}

/** The user asked for something that can't be: a bad flag, scenario or file. Nothing was created. */
export class UsageError extends ForcedetachError {
  override readonly exitCode = exitCode.usage;
}

/** The machine, the engine or the cluster can't do it: missing, full, broken, or not ours. */
export class InfrastructureError extends ForcedetachError {
  override readonly exitCode = exitCode.infrastructure;
}

/** The run went wrong in a way that takes its evidence away: the verdict is inconclusive. */
export class EvidenceError extends ForcedetachError {
  override readonly exitCode = exitCode.inconclusive;
}

/** The run was ended from outside (Ctrl-C, SIGTERM); the heal and the clean-up still run. */
export class InterruptError extends ForcedetachError {
  override readonly exitCode = exitCode.infrastructure;
}

/** One error as lines for a terminal: message, hint, command, then the chain of causes. */
export const describeError = (error: unknown): string => plainText(linesOf(error));

function linesOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A clean-up failed too: what went wrong first is what the user must hear first.
  if (error instanceof SuppressedError) {
    const [first, later] = [error.suppressed, error.error].map(linesOf);
    return `${first}\nthen, while cleaning up: ${later}`;
  }
  const lines = [
    error instanceof ForcedetachError ? `${error.code}: ${error.message}` : error.message,
  ];
  if (error instanceof ForcedetachError) {
    if (error.hint !== undefined) lines.push(`  hint: ${error.hint}`);
    if (error.command !== undefined) lines.push(`  try:  ${error.command}`);
  }
  let said = error.message;
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    // A reader names the file in its own words, which may be those underneath.
    if (cause.message !== said) lines.push(`  because: ${cause.message}`);
    said = cause.message;
  }
  return lines.join('\n');
}
