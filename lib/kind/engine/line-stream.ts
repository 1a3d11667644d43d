/** A command that talks in lines for as long as it runs. */
import { InfrastructureError } from '../../core/index.ts';
import { type StartChild, startHere } from './child.ts';

export interface LineStream extends AsyncDisposable {
  /** Sends one line to the command's stdin (without the newline). */
  write(line: string): void;
  /** Resolves when the command ended by disposal, rejects when it ended otherwise. */
  readonly closed: Promise<void>;
}

/** Opens a command's stream; `sharedStreams` gives another such one. */
export type OpenStream = (
  argv: readonly string[],
  onLine: (line: string) => void,
) => Promise<LineStream>;

/** Disposal closes the command's stdin, which ends any that reads it, then kills what is left. */
export async function openStream(
  argv: readonly string[],
  onLine: (line: string) => void,
  start: StartChild = startHere,
): Promise<LineStream> {
  const onErr: string[] = [];
  const child = start(
    { argv, hasStdin: true },
    {
      onOut: linesTo(onLine),
      onErr: (text) => void onErr.splice(0, onErr.length - 20, text),
    },
  );
  let disposed = false;
  const closed = child.exited.then(async ({ exitCode, signal }) => {
    if (!disposed) throw await endedEarly(argv, `${exitCode ?? signal}: ${onErr.join('')}`);
  });
  // Whoever awaits `closed` gets the error; nothing has to.
  closed.catch(() => undefined);
  await child.started;
  return {
    closed,
    write: (line) => child.write(`${line}\n`),
    async [Symbol.asyncDispose](): Promise<void> {
      disposed = true;
      child.end();
      const patience = setTimeout(() => child.kill('SIGKILL'), 1_000);
      await closed.catch(() => undefined);
      clearTimeout(patience);
    },
  };
}

/** Takes text as it comes, and hands on each line that is whole. */
export function linesTo(onLine: (line: string) => void): (text: string) => void {
  let begun = '';
  return (text) => {
    const lines = `${begun}${text}`.split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  };
}

async function endedEarly(argv: readonly string[], how: string): Promise<InfrastructureError> {
  const why = `\`${argv.slice(0, 5).join(' ')} …\` ended with ${how}`;
  // Only here: zx takes more memory than all that the stream of an audit needs.
  const { pasteable } = await import('./pasteable.ts');
  return new InfrastructureError('STREAM_ENDED', why, { command: pasteable(argv) });
}
