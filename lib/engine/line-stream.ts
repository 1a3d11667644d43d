/** A command that talks in lines for as long as it runs. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { InfrastructureError } from '../errors.ts';
import { remember } from './children.ts';

export interface LineStream extends AsyncDisposable {
  /** Sends one line to the command's stdin (without the newline). */
  write(line: string): void;
  /** Resolves when the command ended by disposal, rejects when it ended otherwise. */
  readonly closed: Promise<void>;
}

/** Opens a command's stream; `sharedStreams` gives another such one. */
export type OpenStream = typeof openStream;

/** Disposal closes the command's stdin, which ends any that reads it, then kills what is left. */
export async function openStream(
  argv: readonly string[],
  onLine: (line: string) => void,
): Promise<LineStream> {
  const [command = '', ...rest] = argv;
  // A session of its own: Ctrl-C ends the run, which then ends this.
  const child = spawn(command, rest, { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  remember(child);
  const said: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.splice(0, said.length - 20, chunk.toString()));
  child.stdin.on('error', () => undefined);
  createInterface({ input: child.stdout }).on('line', onLine);
  let disposed = false;
  const closed = ended(child).then(async (how) => {
    if (!disposed) throw await endedEarly(argv, `${how}: ${said.join('')}`);
  });
  // Whoever awaits `closed` sees the error; nobody has to.
  closed.catch(() => undefined);
  await once(child, 'spawn');
  return {
    closed,
    write: (line) => void child.stdin.write(`${line}\n`),
    async [Symbol.asyncDispose](): Promise<void> {
      disposed = true;
      child.stdin.end();
      const patience = setTimeout(() => child.kill('SIGKILL'), 1_000);
      await closed.catch(() => undefined);
      clearTimeout(patience);
    },
  };
}

/** Resolves to its exit code or signal; rejects where it could not be started. */
async function ended(child: ChildProcess): Promise<string> {
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return String(code ?? signal);
}

async function endedEarly(argv: readonly string[], how: string): Promise<InfrastructureError> {
  const why = `\`${argv.slice(0, 5).join(' ')} …\` ended with ${how}`;
  // Only here: zx takes more memory than all that the stream of an audit needs.
  const { pasteable } = await import('./pasteable.ts');
  return new InfrastructureError('STREAM_ENDED', why, { command: pasteable(argv) });
}
