/** One mysqld on the copy: own socket, no network, own error log. It is started as the pod starts its own (binary log on, else prepared transactions could not be recovered); where it is to be read whatever its grant tables say, without them: nobody else can reach it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EvidenceError } from '../../core/index.ts';
import type { ServerStart } from '../../history/index.ts';
import { refusalOf, SqlClient, type Account } from './sql-client.ts';

/** Lines kept as evidence of one start. */
const maxLines = 50;
const maxLineLength = 500;

const alarming = /\[(ERROR|FATAL)\]|corrupt|Assertion failure|mysqld got signal/i;

/**
 * Lines of level ERROR, or that name corruption or a crash; at most 50, the first ones. Reads no
 * further: a server that fails at the same page again and again writes gigabytes.
 */
export async function alarmingLines(
  log: AsyncIterable<string> | Iterable<string>,
): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of log) {
    if (!alarming.test(line)) continue;
    lines.push(line.slice(0, maxLineLength));
    if (lines.length === maxLines) break;
  }
  return lines;
}

/** A file's lines, piece by piece: a wild log fits into no memory. Throws where there is no file. */
async function* logLines(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(path, 'utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

export interface MysqldOptions {
  readonly purpose: ServerStart['purpose'];
  readonly dataDirectory: string;
  /** Scratch directory outside the copy, for socket, pid file, error log and temporary files. */
  readonly scratch: string;
  /** Starts with the grant tables, and logs in so. Default: without them, as anybody. */
  readonly account?: Account;
  /** A server that does not answer by then hangs. Default 180 000. */
  readonly startTimeoutMs?: number;
  readonly signal: AbortSignal;
}

const defaultStartTimeoutMs = 180_000;
const stopTimeoutMs = 90_000;
const exitSeenMs = 5_000;
const pollMs = 50;

export class Mysqld {
  readonly #options: MysqldOptions;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #startedMs = performance.now();
  #stopping = false;
  #killed = false;
  #died: string | undefined;
  #ready = false;
  #refused: string | undefined;
  #durationMs = 0;

  /** Begins to start; `ready` tells how that ended. */
  constructor(options: MysqldOptions) {
    this.#options = options;
    // mysqld appends to its log: what an earlier try said is not this one's.
    rmSync(this.#logPath, { force: true });
    // The kernel ends the server with the audit, even one that is killed.
    this.#child = spawn('setpriv', ['--pdeathsig', 'KILL', 'mysqld', ...this.#flags()], {
      stdio: 'ignore',
    });
    this.#exited = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.#died ??= error.message;
        resolve();
      });
      this.#child.once('exit', (code, killedBy) => {
        const asAsked = this.#killed || (this.#stopping && code === 0);
        if (!asAsked) this.#died ??= killedBy ?? `exit code ${code}`;
        resolve();
      });
    });
  }

  /** A client as soon as the server answers; undefined when it died, hung or refused the login. */
  async ready(): Promise<SqlClient | undefined> {
    const client = await this.#connect();
    this.#durationMs = Math.round(performance.now() - this.#startedMs);
    this.#ready = client !== undefined || this.#refused !== undefined;
    return client;
  }

  get refused(): string | undefined {
    return this.#refused;
  }

  get died(): string | undefined {
    return this.#died;
  }

  /** A connection breaks a moment before the exit of its server is seen: waits for that, 5 s. */
  async diedSoon(): Promise<boolean> {
    await Promise.race([this.#exited, sleep(exitSeenMs, undefined, { ref: false })]);
    return this.#died !== undefined;
  }

  /** Ends the server as a power loss would. */
  async kill(): Promise<void> {
    this.#killed = true;
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  /** Asks the server to shut down; rejects where it has to be killed after 90 s. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#child.kill('SIGTERM');
    const patience = sleep(stopTimeoutMs, 'hung', { ref: false });
    if ((await Promise.race([this.#exited, patience])) !== 'hung') return;
    await this.kill();
    const why = `mysqld did not stop within ${stopTimeoutMs / 1000} s`;
    throw new EvidenceError('MYSQLD_STOP_HUNG', why);
  }

  async record(): Promise<ServerStart> {
    return {
      purpose: this.#options.purpose,
      ready: this.#ready,
      durationMs: this.#durationMs,
      ...(this.#died === undefined ? {} : { died: this.#died }),
      // One that could not be started has no log.
      errorLines: await alarmingLines(logLines(this.#logPath)).catch(() => []),
    };
  }

  get #logPath(): string {
    return join(this.#options.scratch, `${this.#options.purpose}.err`);
  }

  get #socketPath(): string {
    return join(this.#options.scratch, 'mysqld.sock');
  }

  #flags(): string[] {
    const { dataDirectory, scratch, account } = this.#options;
    return [
      '--no-defaults',
      '--user=root',
      `--datadir=${dataDirectory}`,
      `--socket=${this.#socketPath}`,
      `--pid-file=${join(scratch, 'mysqld.pid')}`,
      `--log-error=${this.#logPath}`,
      `--tmpdir=${scratch}`,
      '--skip-networking',
      ...(account === undefined ? ['--skip-grant-tables'] : []),
      '--mysqlx=OFF',
      '--secure-file-priv=NULL',
      '--performance-schema=OFF',
      '--event-scheduler=OFF',
      '--gtid-mode=ON',
      '--enforce-gtid-consistency=ON',
      '--binlog-expire-logs-auto-purge=OFF',
      // A dump of the buffer pool would only slow the stop down.
      '--innodb-buffer-pool-dump-at-shutdown=OFF',
    ];
  }

  async #connect(): Promise<SqlClient | undefined> {
    const { signal, account, startTimeoutMs = defaultStartTimeoutMs } = this.#options;
    while (performance.now() - this.#startedMs < startTimeoutMs) {
      signal.throwIfAborted();
      if (this.#died !== undefined) return undefined;
      try {
        return await SqlClient.connect(this.#socketPath, account);
      } catch (error) {
        this.#refused = refusalOf(error)?.message;
        if (this.#refused !== undefined) return undefined;
      }
      await sleep(pollMs);
    }
    return undefined;
  }
}

/** A server that did not start is evidence; one that can't even be run is not. */
export function assertRunnable(start: ServerStart): void {
  if (start.died?.includes('ENOENT') === true || start.died === 'exit code 127') {
    throw new EvidenceError('MYSQLD_MISSING', 'mysqld cannot be run in the lab container', {
      hint: 'The tools image must have mysqld and setpriv on its PATH.',
    });
  }
}
