/** Which volumes count as clean: the scenario says it, and what the disk saw may say no. */
import { combined } from '../../lib/scenario/index.ts';
import { expect, test } from 'vitest';
import type { Settings } from '../../lib/scenario/fields.ts';
import { cleanVolumeOf } from '../../research/false-alarms/kind-runs.ts';
import { openHistory, type History } from '../../lib/history/reader.ts';
import { modelScenario, runOnModel, shortTimers } from '../support/model-run.ts';

/** The same history, told as one of kind's. */
async function kindHistory(fields: Settings): Promise<History> {
  const { folder } = await runOnModel(modelScenario(combined(shortTimers, fields)));
  const history = openHistory(folder);
  return {
    ...history,
    *smallRecords() {
      for (const record of history.smallRecords()) {
        yield record.type === 'run' ? { ...record, backend: 'kind', basis: 'measured' } : record;
      }
    },
  };
}

const cutOff = { fault: { kind: 'network-partition' }, remedy: { kind: 'force-delete' } } as const;
const beforeTheFault = 'written under load, before any fault';

test('a volume that was expected to be safe counts with all its copies', async () => {
  const volume = cleanVolumeOf(
    await kindHistory({ ...cutOff, disk: { mode: 'fenced' } }),
    'a test',
  );
  expect(volume?.outcome).toMatchObject({ images: 3, flagged: [] });
  expect(volume?.scenario).toMatchObject({ filesystem: 'ext4' });
  expect(volume?.scenario.story).not.toBe(beforeTheFault);
});

test('one that two could write counts until its fault only, whatever was expected', async () => {
  const volume = cleanVolumeOf(
    await kindHistory({ ...cutOff, disk: { mode: 'unfenced' } }),
    'a test',
  );
  expect(volume?.outcome).toMatchObject({ images: 1, flagged: [] });
  expect(volume?.scenario.story).toBe(beforeTheFault);
});
