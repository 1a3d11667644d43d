/**
 * A real backend that is neither of ours: its verdicts need the evidence of real ones, whatever its name,
 * and it is asked for no verb that it lacks.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Backend } from '../../lib/run/ports/cluster.ts';
import { simBackend } from '../../lib/sim/backend.ts';
import type { Scenario } from '../../lib/scenario/scenario.ts';
import type { Recorder } from '../../lib/history/observers.ts';
import { performRun, planRun, type RunWish } from '../../lib/cli/library/run-plan.ts';
import { having } from '../support/exact-backend.ts';
import { modelScenario, runOnModel, shortTimers } from '../support/model-run.ts';
import { openingAs } from '../support/opened.ts';
import { mysql } from '../../lib/mysql/database.ts';

const unwatched = 'controller-manager';

/** What it records has nothing of the control plane's own log. */
const deaf = (recorder: Recorder): Recorder => ({
  subscribe: (listener) => recorder.subscribe(listener),
  record(record) {
    if (record.type !== 'observation') return recorder.record(record);
    const { sees } = record.data;
    if (record.source === unwatched) return;
    const data = Array.isArray(sees)
      ? { ...record.data, sees: sees.filter((each) => each !== unwatched) }
      : record.data;
    recorder.record({ ...record, data });
  },
});

/** The model under another name, which says that it is real and watches neither machine nor control plane. */
const third = (model: Backend): Backend => ({
  ...openingAs((testbed) => ({
    ...testbed,
    observe: (recorder) => testbed.observe(deaf(recorder)),
  }))(model),
  ...{ backend: 'vm', isModel: false },
});

const scenario = modelScenario({
  ...shortTimers,
  remedy: { kind: 'force-delete' },
  disk: { mode: 'fenced' },
});

test('without evidence of its machines and its control plane it is inconclusive', async () => {
  const { verdict: predicted } = await runOnModel(scenario);
  expect(predicted).toMatchObject({ verdict: 'safe', basis: 'predicted', complete: true });
  const { verdict } = await runOnModel(scenario, '1', { on: third });
  expect(verdict).toMatchObject({ verdict: 'inconclusive', basis: 'shortened', cluster: 'vm' });
  const lacking = [
    'the controller manager’s log reported nothing in the whole run',
    'the audit log reported nothing in the whole run',
    'the observer of controller-manager reported nothing in the whole run',
    'the observer of audit reported nothing in the whole run',
    expect.stringMatching(/^the observer of the machine reported nothing/),
  ];
  expect(verdict.incompleteBecause).toEqual(expect.arrayContaining(lacking));
});

/** One that takes nodes off the network and does nothing else to them. */
function onLittle(scenario: Scenario): RunWish & { readonly missed: Set<string> } {
  const out = mkdtempSync(join(tmpdir(), 'forcedetach-third-'));
  onTestFinished(() => rmSync(out, { recursive: true }));
  const capabilities = ['node-network', 'force-detach-wait'] as const;
  const missed = new Set<string>();
  const backend = having(capabilities, { called: new Set(), missed })(simBackend());
  const cluster = {
    choose: () =>
      Promise.resolve({ backend: 'vm', isModel: false, why: 'asked for', capabilities }),
    open: () => Promise.resolve({ ...backend, backend: 'vm', isModel: false }),
  };
  const folder = join(out, 'run');
  const about = {
    database: mysql,
    scenario,
    seed: '1',
    runId: 'run',
    folder,
    replay: () => 'none',
  };
  return { ...about, cluster, missed };
}

test('one that needs no more than it has is played there, and no other verb is asked for', async () => {
  const wish = onLittle(modelScenario({ ...shortTimers, remedy: { kind: 'force-delete' } }));
  const { signal } = new AbortController();
  const told = { onProgress: () => undefined, onPhase: () => undefined, signal };
  const { verdict } = await performRun(await planRun(wish), () => told);
  expect(verdict.certificates.filter(({ holds }) => !holds)).toEqual([]);
  expect(verdict).toMatchObject({ cluster: 'vm', basis: 'shortened' });
  expect([...wish.missed]).toEqual([]);
});
