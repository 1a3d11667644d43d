/** Records of a run that never was. */
import { combined } from '../../lib/scenario/index.ts';
import { parseScenario, type ScenarioInput } from '../../lib/scenario/scenario.ts';
import type { RunRecord, SmallRecord } from '../../lib/history/records.ts';
import type { ObservationRecord } from '../../lib/history/observations.ts';
import { type Story, tellStory } from '../../lib/judge/timeline/story.ts';
import { mysql } from '../../lib/mysql/database.ts';

/** The first record: a partition on kind, where the fields say nothing else. */
export const runRecord = (
  fields: Partial<ScenarioInput> = {},
  about: Partial<Pick<RunRecord, 'runId' | 'seed'>> = {},
): RunRecord => ({
  ...{ type: 'run', t: 0, schemaVersion: 1, runId: 'r', seed: 's' },
  ...{ backend: 'kind', basis: 'measured', replay: '' },
  scenario: parseScenario(
    combined(
      { name: 'test', question: '?', fault: { kind: 'network-partition' }, expected: ['safe'] },
      fields,
    ),
  ),
  ...about,
});

/** `node`: none where it is empty. */
export const see = (
  t: number,
  name: string,
  node = '',
  data: Readonly<Record<string, unknown>> = {},
): ObservationRecord =>
  ({
    ...{ type: 'observation', source: 'test', t, name, data },
    ...(node === '' ? {} : { node }),
  }) as ObservationRecord;

/** Of a run whose fault hits `a` from 1 s on, and of these records, put in order of time. */
export function storyOf(records: readonly SmallRecord[], fields?: Partial<ScenarioInput>): Story {
  const run = runRecord(fields);
  const { kind: name } = run.scenario.fault;
  const fault = { type: 'action', actor: 'fault', name, node: 'a' } as const;
  const held: SmallRecord[] = [
    { ...fault, t: 1000, step: 'begin' },
    { ...fault, t: 1100, step: 'done' },
  ];
  return tellStory(
    [run, ...held, ...records].toSorted((x, y) => x.t - y.t),
    mysql,
  );
}
