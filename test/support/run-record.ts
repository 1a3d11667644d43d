/** The first record of a run that never was. */
import { parseScenario, type ScenarioInput } from '../../lib/experiment/scenario.ts';
import type { RunRecord } from '../../lib/history/events.ts';

/** A partition on kind, where the fields say nothing else. */
export const runRecord = (
  fields: Partial<ScenarioInput> = {},
  about: Partial<Pick<RunRecord, 'runId' | 'seed'>> = {},
): RunRecord => ({
  ...{ type: 'run', t: 0, schemaVersion: 1, runId: 'r', seed: 's' },
  ...{ backend: 'kind', basis: 'measured', replay: '' },
  scenario: parseScenario({
    ...{ name: 'test', question: '?', fault: 'network-partition', expected: ['safe'] },
    ...fields,
  }),
  ...about,
});
