/** A headline has at most fifteen words, and answers what the experiment asks. */
import { combined } from '../../scenario/fields.ts';
import { expect, test } from 'vitest';
import { exampleVerdict } from '../../../test/support/example-verdict.ts';
import { headlineOf } from './words.ts';
import type { Verdict } from './verdict.ts';

const told = (fields: Partial<Verdict>): string => {
  const headline = headlineOf({ ...exampleVerdict, ...fields });
  expect(headline.split(' ').length).toBeLessThanOrEqual(15);
  return headline;
};
const exposure = { ms: 0, bytesVictim: 0, bytesSuccessor: 0 };

test('when is a pod Ready that comes back to its node?', () => {
  const evidence = ['9.5 s (by force)', '10.4 s (as usual)', '21.3 s (as usual)'];
  const recreated: Verdict['findings'][number] = {
    ...({ code: 'PODS_RECREATED', level: 'note', safety: 'safe', loud: false } as const),
    ...{ summary: 'made up', evidence },
  };
  const phases = { ...exampleVerdict.phases, secondMount: null };
  const safe = { verdict: 'safe', safety: 'safe', acked: 4266 } as const;
  expect(told({ ...safe, exposure, phases, findings: [recreated] })).toBe(
    'Ready after 10.4 s at the median of 3 deletions; all 4,266 commits are there.',
  );
});

test('does a mount mean that another server serves? Not where it waits for the locks', () => {
  const scenario = combined(exampleVerdict.scenario, {
    disk: { mode: 'shared-file', fileLocks: 'shared' },
  });
  const phases = { ...exampleVerdict.phases, secondMount: 21.2 };
  const safe = { verdict: 'safe', safety: 'safe', acked: 4274 } as const;
  expect(told({ ...safe, exposure, phases, scenario })).toBe(
    'Another node mounted after 21.2 s, locked out; all 4,274 commits are there.',
  );
});

test('does a node that gets its volume back use its old mount?', () => {
  const about = { level: 'note', safety: 'safe', loud: false, summary: '', evidence: [] } as const;
  const findings = [{ code: 'OLD_MOUNT_USED', ...about, evidence: [] }];
  expect(told({ verdict: 'corrupt', findings })).toBe(
    'The database is corrupt: the first node used its old mount.',
  );
  const serving = { ...exampleVerdict.serving, served: false };
  expect(told({ verdict: 'safe', acked: 4266, serving, findings })).toBe(
    'The first node used its old mount; all 4,266 commits are there, but nothing serves.',
  );
});
