import { expect, test } from 'vitest';
import { modelScenario, runOnModel, shortTimers } from '../../test/support/model-run.ts';
import { openHistory } from '../history/reader.ts';
import type { ScenarioInput } from './scenario.ts';

/** The API answers only at the heal, which must not wait for a call that waits for the API. */
const hanging: Readonly<Record<string, Partial<ScenarioInput>>> = {
  'a remedy': { fault: 'api-outage', remedy: 'force-delete', remedyAt: 5_000 },
  'a way back': {
    ...{ fault: 'freeze', remedy: 'force-delete', remedyAt: 'terminating', moveBack: true },
    ...{ also: 'api-outage', alsoAt: 'force-detach', alsoForMs: 9_000_000 },
  },
};

test.each(Object.entries(hanging))(
  'the heal never waits for %s',
  { timeout: 30_000 },
  async (_, fields) => {
    const { folder } = await runOnModel(
      modelScenario({ ...shortTimers, ...fields, horizonMs: 90_000 }),
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
  },
);
