/** A real backend that is neither of ours: its verdicts need the evidence of real ones, whatever its name. */
import { expect, test } from 'vitest';
import type { Backend } from '../../lib/cluster/port.ts';
import type { Recorder } from '../../lib/history/port.ts';
import { modelScenario, runOnModel, shortTimers } from '../support/model-run.ts';
import { openingAs } from '../support/opened.ts';

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

const scenario = modelScenario({ ...shortTimers, remedy: 'force-delete', disk: 'fenced' });

test('without evidence of its machines and its control plane it is inconclusive', async () => {
  const { verdict: predicted } = await runOnModel(scenario);
  expect(predicted).toMatchObject({ verdict: 'safe', basis: 'predicted', complete: true });
  const { verdict } = await runOnModel(scenario, '1', { on: third });
  expect(verdict).toMatchObject({ verdict: 'inconclusive', basis: 'shortened', cluster: 'vm' });
  const lacking = [
    'the observer of controller-manager told nothing in the whole run',
    'the observer of audit told nothing in the whole run',
    'no observer of controller-manager ever began',
    'no observer of audit ever began',
    expect.stringMatching(/^nobody looked after the machine from/),
  ];
  expect(verdict.incompleteBecause).toEqual(expect.arrayContaining(lacking));
});
