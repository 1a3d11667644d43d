import { expect, test } from 'vitest';
import { runRecord } from '../../../test/support/run-record.ts';
import { ReadMeter } from '../timeline/clients.ts';
import { tellStory } from '../timeline/story.ts';
import { readFindings } from './findings.ts';
import { mysql } from '../../mysql/database.ts';

test('reads that go back are a loss that no operator is told of', () => {
  const meter = new ReadMeter();
  const server = { node: 'a', podUid: 'old', startedAtS: 0 };
  for (const seq of [4, 3]) {
    const head = { client: 'outside', connection: 0, session: 0, seq };
    meter.see({ type: 'read', t: 9, sentAtMs: 8, client: 'inside', server, head });
  }
  const story = tellStory([runRecord()], mysql);
  expect(readFindings(story, new ReadMeter())).toEqual([]);
  const [found] = readFindings(story, meter);
  expect(found).toMatchObject({ code: 'READS_WENT_BACK', level: 'damage', safety: 'lost' });
  expect(found?.evidence.join()).toContain('outside/0/0/4 had been the newest row');
});
