/** Does a node that gets its volume back use the mount that it had before another node wrote? */
import { expect, test } from 'vitest';
import { runRecord, see } from '../../../test/support/run-record.ts';
import { csiCalls, observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/records.ts';
import { tellStory } from '../timeline/story.ts';
import { wayBackFindings } from './findings.ts';
import { mysql } from '../../mysql/database.ts';

const call = (t: number, name: string, fields = {}): SmallRecord =>
  see(t, observed.csiCall, 'a', { call: name, ...fields });

function codes(calls: readonly SmallRecord[], moveBack = true): string[] {
  const story = tellStory(
    [
      runRecord({
        fault: { kind: 'network-partition' },
        remedy: { kind: 'force-delete', moveBack },
      }),
      see(600, observed.mounted, 'a'),
      { type: 'action', t: 1000, actor: 'fault', name: 'x', step: 'begin', node: 'a' },
      { type: 'phase', t: 5000, phase: 'heal' },
      ...calls,
    ],
    mysql,
  );
  return wayBackFindings(story).map(({ code }) => code);
}

const publish = call(9000, csiCalls.nodePublish);

test('with neither unstage nor stage since the fault it is the old mount', () => {
  expect(codes([publish])).toEqual(['OLD_MOUNT_USED']);
  expect(codes([call(6000, csiCalls.unstage, { error: 'busy' }), publish])).toEqual([
    'OLD_MOUNT_USED',
  ]);
});

test('unstaged and staged, it is a new one', () => {
  const calls = [call(6000, csiCalls.unstage), call(8000, csiCalls.stage), publish];
  expect(codes(calls)).toEqual(['MOUNTED_ANEW']);
});

test('nobody was sent back, or nothing came back: nothing to say', () => {
  expect(codes([publish], false)).toEqual([]);
  expect(codes([])).toEqual([]);
});
