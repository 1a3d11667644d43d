/** Runs one of the audit's tools with a time limit and keeps its answer as evidence. */
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { type CommandEvidence, EvidenceError } from '../../core/index.ts';
import { answerOf, type ExitKind, hasExitKinds } from '../../judge/index.ts';

/** Three tries in all, ten seconds apart; then the last one is kept as it is. */
const tries = 3;
const pauseMs = 10_000;

interface RetriedWork<T> {
  readonly work: () => Promise<T>;
  /** It could not be done, and may be another time. */
  readonly isTrouble: (result: T) => boolean;
  readonly signal: AbortSignal;
  /** Default 10 000. */
  readonly waitMs?: number;
}

/** Resolves to the first result without trouble, or to the last one. */
export async function patiently<T>(attempt: RetriedWork<T>): Promise<T> {
  const { work, isTrouble, signal, waitMs = pauseMs } = attempt;
  for (let left = tries - 1; ; left--) {
    const result = await work();
    if (left === 0 || !isTrouble(result)) return result;
    await sleep(waitMs, undefined, { signal });
  }
}

export interface CommandLimits {
  /** The tool is killed after so long. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Of a tool that no file system's is. Default: none. */
  readonly kinds?: readonly ExitKind[];
}

/** Bytes of output kept as evidence. */
const maxOutputBytes = 4096;
const cutMark = '\n… (cut)';

/**
 * Resolves with any exit code; rejects where the tool is missing or hung. One whose end is no answer is
 * asked again; a signal is an end like any other of those whose ends are known, and rejects of others.
 */
export function runTool(argv: readonly string[], limits: CommandLimits): Promise<CommandEvidence> {
  const { kinds = [], signal } = limits;
  const isKnown = hasExitKinds(argv.join(' '), kinds);
  return patiently({
    work: () => runOnce(argv, limits, isKnown),
    isTrouble: (ended) => isKnown && answerOf(ended, kinds) === 'none',
    signal,
  });
}

function runOnce(
  argv: readonly string[],
  { timeoutMs, signal }: CommandLimits,
  mayBeKilled: boolean,
): Promise<CommandEvidence> {
  const [program = '', ...args] = argv;
  const command = argv.join(' ');
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      signal,
    });
    let output = '';
    const keep = (chunk: Buffer): void => {
      if (output.length <= maxOutputBytes) output += chunk.toString();
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', reject);
    child.once('close', (exitCode, killedBy) => {
      const durationMs = Math.round(performance.now() - startedMs);
      if (killedBy !== null && mayBeKilled && durationMs < timeoutMs) {
        const said = `${cut(output.trim())}\nended by ${killedBy}`.trim();
        // As a shell tells of it.
        const code = 128 + constants.signals[killedBy];
        resolve({ command, exitCode: code, output: said, durationMs });
        return;
      }
      if (exitCode === null) {
        const why = `\`${command}\` was ended by ${killedBy} after ${durationMs} ms`;
        reject(new EvidenceError('AUDIT_TOOL_HUNG', why, { command }));
        return;
      }
      resolve({ command, exitCode, output: cut(output.trim()), durationMs });
    });
  });
}

/** Runs it as `runTool`, and rejects with any exit code but 0. */
export async function mustRun(argv: readonly string[], limits: CommandLimits): Promise<string> {
  const { command, exitCode, output } = await runTool(argv, limits);
  if (exitCode === 0) return output;
  throw new EvidenceError('AUDIT_TOOL_FAILED', `\`${command}\` ended with ${exitCode}: ${output}`, {
    command,
  });
}

const cut = (text: string): string =>
  text.length <= maxOutputBytes ? text : text.slice(0, maxOutputBytes - cutMark.length) + cutMark;
