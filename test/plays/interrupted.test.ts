/** An interrupt shortens what is left: whatever never ends is given up soon, and the heal comes. */
import { expect, test } from 'vitest';
import { modelScenario, runOnModel, shortTimers } from '../support/model-run.ts';
import { openingAs, type AloneTestbed as Testbed } from '../support/opened.ts';
import { InfrastructureError } from '../../lib/core/errors.ts';
import type { HistoryRecord, PhaseName } from '../../lib/history/records.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { afterInterrupt } from '../../lib/run/moments.ts';

const never = (): Promise<never> => new Promise(() => undefined);

interface Interrupted {
  /** When the interrupt came, and when the fault's heal began, on the run's clock. */
  readonly atMs: number;
  readonly healAtMs: number | undefined;
  readonly records: readonly HistoryRecord[];
  readonly unhealed: readonly string[];
}

/** Interrupts as that phase begins. */
async function interruptedIn(
  phase: PhaseName,
  change: (testbed: Testbed) => Testbed,
): Promise<Interrupted> {
  const interrupt = new AbortController();
  const unhealed: string[] = [];
  const { folder } = await runOnModel(
    modelScenario({ ...shortTimers, watch: { ...shortTimers.watch, horizon: 90_000 } }),
    '1',
    {
      on: openingAs(change),
      signal: interrupt.signal,
      onPhase: (entered) => {
        if (entered === phase) interrupt.abort(new Error('ended by SIGINT'));
      },
      onUnhealed: (what) => unhealed.push(what),
    },
  );
  const records = [...openHistory(folder).records()];
  const at = (name: PhaseName): number | undefined =>
    records.find((record) => record.type === 'phase' && record.phase === name)?.t;
  return { atMs: at(phase) ?? 0, healAtMs: at('heal'), records, unhealed };
}

const errorsOf = (records: readonly HistoryRecord[]): string =>
  records.flatMap((record) => (record.type === 'error' ? record.message : [])).join('\n');

const noCopy = (testbed: Testbed): Testbed => ({
  ...testbed,
  disk: {
    ...testbed.disk,
    copy: (label, ...more) => (label === 'steady' ? testbed.disk.copy(label, ...more) : never()),
  },
});

test.each([
  [
    'fault',
    'fault',
    (testbed: Testbed): Testbed => ({
      ...testbed,
      machine: (node) => ({ ...testbed.machine(node), disconnect: never }),
    }),
  ],
  ['first-image', 'first-image', noCopy],
] as const)('%s that never ends', async (phase, step, change) => {
  const { atMs, healAtMs, records } = await interruptedIn(phase, change);
  const tookMs = (healAtMs ?? Number.NaN) - atMs;
  expect(tookMs).toBeGreaterThan(0);
  expect(tookMs).toBeLessThan(afterInterrupt(step).mostMs + 100);
  expect(errorsOf(records)).toContain(
    `GIVEN_UP: ${step} did not end in time and was abandoned\n  because: ended by SIGINT`,
  );
});

test('an audit ends at once', async () => {
  const slow = (testbed: Testbed): Testbed => ({
    ...testbed,
    auditor: {
      audit: (...args) => (args[0] === 'steady' ? testbed.auditor.audit(...args) : never()),
    },
  });
  const { records } = await interruptedIn('audit', slow);
  expect(errorsOf(records)).toMatch(/ended by SIGINT/);
  expect(records.filter((record) => record.type === 'image')).toHaveLength(1);
});

test('a heal that never ends is given up, and named with what stays', async () => {
  const stuck = (testbed: Testbed): Testbed => ({
    ...testbed,
    machine: (node) => ({ ...testbed.machine(node), reconnect: never }),
    close: () =>
      Promise.reject(new InfrastructureError('X', 'no', { command: 'docker rm -f fd-main-lab' })),
  });
  const { unhealed, records, healAtMs } = await interruptedIn('watch', stuck);
  expect(unhealed).toEqual([
    expect.stringContaining('heal: GIVEN_UP: heal did not end in time'),
    expect.stringContaining('try:  docker rm -f fd-main-lab'),
  ]);
  const end = records.findLast((record) => record.type === 'error')?.t ?? 0;
  expect(end - (healAtMs ?? 0)).toBeLessThan(afterInterrupt('heal').mostMs + 60_000);
});
