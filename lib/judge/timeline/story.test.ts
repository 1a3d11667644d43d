import { expect, test } from 'vitest';
import { EvidenceError } from '../../core/errors.ts';
import type { RunRecord } from '../../history/records.ts';
import { runRecord } from '../../../test/support/run-record.ts';
import { tellStory } from './story.ts';
import { mysql } from '../../mysql/database.ts';

const ofVersion = (schemaVersion: unknown): RunRecord =>
  ({ ...runRecord(), schemaVersion }) as RunRecord;

test.each([
  [1, false],
  [2, true],
  [3, true],
  [4, true],
])('a history of version %i is read', (version, hasEnds) => {
  expect(tellStory([ofVersion(version)], mysql).tells.ends).toBe(hasEnds);
});

test.each([5, 99, '2', null, undefined, '__proto__'])('one of version %j is refused', (version) => {
  expect(() => tellStory([ofVersion(version)], mysql)).toThrow(
    expect.objectContaining({ code: 'HISTORY_TOO_NEW' }) as EvidenceError,
  );
});
