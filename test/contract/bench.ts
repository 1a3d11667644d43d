/** A backend under the contract: its recorder, what was recorded, and waits on its own clock. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend } from '../../lib/run/ports/cluster.ts';
import { openAlone, type AloneTestbed } from '../support/opened.ts';
import { parseScenario } from '../../lib/scenario/scenario.ts';
import type { HistoryRecord } from '../../lib/history/records.ts';
import type { ObservationRecord } from '../../lib/history/observations.ts';
import { openRecorder, type RunRecorder } from '../../lib/history/recorder.ts';
import { mysql } from '../../lib/mysql/database.ts';

export const scenario = parseScenario({
  name: 'contract',
  question: 'Does this backend do what the port says?',
  fault: { kind: 'network-partition' },
  load: { rate: 20 },
  expected: ['safe'],
});
export const seed = 'contract';

export class Bench {
  readonly folder = mkdtempSync(join(tmpdir(), 'forcedetach-contract-'));
  readonly records: HistoryRecord[] = [];
  readonly recorder: RunRecorder;
  readonly backend: Backend;
  readonly signal = new AbortController().signal;

  constructor(backend: Backend) {
    this.backend = backend;
    this.recorder = openRecorder(this.folder, backend.clock);
    this.recorder.subscribe((record) => this.records.push(record));
  }

  open(): Promise<AloneTestbed> {
    const { folder, recorder, signal } = this;
    const onProgress = (): void => undefined;
    const runId = 'contract';
    const options = {
      database: mysql,
      scenario,
      runId,
      seed,
      folder,
      recorder,
      signal,
      onProgress,
    };
    return openAlone(this.backend, options);
  }

  seen(fits: (observation: ObservationRecord) => boolean): boolean {
    return this.records.some((record) => record.type === 'observation' && fits(record));
  }

  /** True as soon as the condition holds, on the backend's own clock. */
  async within(ms: number, condition: () => boolean | Promise<boolean>): Promise<boolean> {
    const { clock } = this.backend;
    const deadlineMs = clock.nowMs() + ms;
    while (!(await condition())) {
      if (clock.nowMs() >= deadlineMs) return false;
      await clock.sleep(200);
    }
    return true;
  }

  close(): void {
    this.recorder.close();
    rmSync(this.folder, { recursive: true });
  }
}
