/** One run on the model, and what it cost. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simBackend } from '../../lib/sim/backend.ts';
import { runScenario } from '../../lib/run/run.ts';
import type { Scenario } from '../../lib/scenario/scenario.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { mysql } from '../../lib/mysql/database.ts';

export interface Played {
  readonly verdict: Verdict;
  /** Virtual. */
  readonly tookMs: number;
  readonly historyBytes: number;
}

export async function playOnce(scenario: Scenario, seed: string): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-any-'));
  const backend = simBackend();
  try {
    const verdict = await runScenario({
      ...{ database: mysql, scenario, seed, runId: 'run', folder, backend, replay: 'none' },
      onProgress: () => undefined,
      onPhase: () => undefined,
      signal: new AbortController().signal,
    });
    return {
      verdict,
      tookMs: backend.clock.nowMs(),
      historyBytes: sizeOf(join(folder, 'history')),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const sizeOf = (directory: string): number =>
  readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
