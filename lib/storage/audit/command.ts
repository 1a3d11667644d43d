/** Runs one of the audit's tools with a time limit and keeps its answer as evidence. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { type CommandEvidence, EvidenceError } from '../../core/index.ts';
import { troubleIn, type MachineTrouble } from '../../judge/index.ts';
import { patiently } from './patience.ts';

export interface CommandLimits {
  /** The tool is killed after so long. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** It crashes on what it cannot make sense of: that is its answer. Default: it was killed. */
  readonly mayCrash?: boolean;
  /** The machine's troubles that only this tool reports. Default: none. */
  readonly troubles?: readonly MachineTrouble[];
}

/** How a program ends by its own doing. */
const crashes: readonly string[] = ['SIGFPE', 'SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL'];

/** Bytes of output kept as evidence. */
const maxOutputBytes = 4096;
const cutMark = '\n… (cut)';

/**
 * Resolves with any exit code; rejects where the tool is missing, hung, or was killed or crashed. A tool that
 * lacked memory, space or a lock is asked again.
 */
export function runTool(argv: readonly string[], limits: CommandLimits): Promise<CommandEvidence> {
  const { troubles = [] } = limits;
  return patiently({
    work: () => runOnce(argv, limits),
    isTrouble: ({ exitCode, output }) =>
      exitCode !== 0 && troubleIn(output, { troubles }) !== undefined,
    signal: limits.signal,
  });
}

function runOnce(
  argv: readonly string[],
  { timeoutMs, signal, mayCrash = false }: CommandLimits,
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
      if (killedBy !== null && mayCrash && crashes.includes(killedBy)) {
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
