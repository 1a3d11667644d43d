import { combined } from '../scenario/index.ts';
import { expect, test } from 'vitest';
import { modelScenario, runOnModel, shortTimers } from '../../test/support/model-run.ts';
import { type Backend, openedAlone } from './ports/cluster.ts';
import { openAlone, openingAs, type AloneTestbed } from '../../test/support/opened.ts';
import { openHistory } from '../history/reader.ts';
import type { ScenarioInput } from '../scenario/scenario.ts';

/** The API answers only at the heal, which must not wait for a call that waits for the API. */
const hanging: Readonly<Record<string, Partial<ScenarioInput>>> = {
  'a remedy': { fault: { kind: 'api-outage' }, remedy: { kind: 'force-delete', at: 5_000 } },
  'a way back': {
    fault: { kind: 'freeze' },
    remedy: { kind: 'force-delete', at: 'terminating', moveBack: true },
    also: { kind: 'api-outage', at: 'force-detach', for: 9_000_000 },
  },
};

test.each(Object.entries(hanging))('the heal never waits for %s', async (_, fields) => {
  const { folder } = await runOnModel(
    modelScenario(combined(shortTimers, fields, { watch: { horizon: 90_000 } })),
  );
  const records = [...openHistory(folder).records()];
  const heal = records.find((record) => record.type === 'phase' && record.phase === 'heal');
  expect(heal?.t).toBeLessThan(2_400_000);
  const said = records.flatMap((record) =>
    record.type === 'error'
      ? record.message
      : record.type === 'action'
        ? (record.detail ?? '')
        : '',
  );
  expect(said.join('\n')).toContain('GIVEN_UP');
  // What was given up takes nothing else with it.
  expect(records).toContainEqual(expect.objectContaining({ type: 'image', image: 'second' }));
});

const never = (): Promise<never> => new Promise(() => undefined);

/** By what is given up: the model, where one call never returns. */
const stuck: Readonly<Record<string, (testbed: AloneTestbed) => AloneTestbed>> = {
  observe: (testbed) => ({ ...testbed, observe: never }),
  'stop-observers': (testbed) => ({
    ...testbed,
    observe: () => Promise.resolve({ [Symbol.asyncDispose]: never }),
  }),
  'start-writers': (testbed) => ({ ...testbed, startWriters: never }),
  'stop-writers': (testbed) => ({
    ...testbed,
    startWriters: async (specs) => ({ ...(await testbed.startWriters(specs)), stop: never }),
  }),
  steady: (testbed) => ({ ...testbed, disk: { ...testbed.disk, copy: never } }),
  'lead-up': (testbed) => ({
    ...testbed,
    kubernetes: { ...testbed.kubernetes, databaseContainer: never },
  }),
  fault: (testbed) => ({
    ...testbed,
    machine: (node) => ({ ...testbed.machine(node), disconnect: never }),
  }),
  'remove-database': (testbed) => ({ ...testbed, removeDatabase: never }),
  audit: (testbed) => ({ ...testbed, auditor: { audit: never } }),
  'export-writes': (testbed) => ({
    ...testbed,
    disk: { ...testbed.disk, exportWrites: never },
  }),
  close: (testbed) => ({ ...testbed, close: never }),
};

test.each(Object.entries(stuck))('a run ends where %s never does', async (what, change) => {
  // Two hours of audit take long where the clients go on and are fast.
  const scenario = modelScenario({
    ...shortTimers,
    load: { ...shortTimers.load, rate: 1 },
    watch: { ...shortTimers.watch, horizon: 90_000 },
    fault: { serverKills: 2 },
  });
  const { folder } = await runOnModel(scenario, '1', { on: openingAs(change) });
  const records = [...openHistory(folder).records()];
  const errors = records.flatMap((record) => (record.type === 'error' ? record.message : []));
  expect(errors.join('\n')).toContain(`GIVEN_UP: ${what} did not end in time and was abandoned`);
  const phases = records.flatMap((record) => (record.type === 'phase' ? record.phase : []));
  expect(phases.includes('heal')).toBe(phases.includes('fault'));
});

test('a testbed that opens too late is closed', async () => {
  let closed = 0;
  const late = (model: Backend): Backend => ({
    ...model,
    open: openedAlone(async (options) => {
      await model.clock.sleep(7_500_000);
      // Deaf to the signal, too.
      const deaf = { ...options, signal: new AbortController().signal };
      const testbed = await openAlone(model, deaf);
      return {
        ...testbed,
        close() {
          closed += 1;
          return Promise.resolve();
        },
      };
    }),
  });
  const run = runOnModel(modelScenario(shortTimers), '1', { on: late });
  await expect(run).rejects.toMatchObject({ code: 'GIVEN_UP' });
  expect(closed).toBe(1);
});
