import { expect, test } from 'vitest';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import { exampleVerdict } from '../../test/support/example-verdict.ts';
import { renderJunit } from './junit.ts';

const safeUnserved = {
  verdict: 'safe',
  expected: ['safe'],
  serving: { expected: 'yes', because: 'made up', served: false, asExpected: false },
} satisfies Partial<Verdict>;

test('JUnit has a case for the verdict and one for each certificate', async () => {
  expect(await renderJunit(exampleVerdict)).toContain('failures="0" errors="0"');
  const unexpected = { ...exampleVerdict, asExpected: false };
  expect(await renderJunit(unexpected)).toContain('failures="1" errors="0"');
  const inconclusive = { ...unexpected, verdict: 'inconclusive' as const };
  expect(await renderJunit(inconclusive)).toContain('failures="0" errors="1"');
  const unserved = { ...unexpected, ...safeUnserved };
  expect(await renderJunit(unserved)).toContain(
    'message="safe, and nothing served, expected safe, and served"',
  );
});

test('a verdict without a volume has its loss too, and neither a score of audits nor who served', async () => {
  const { serving: _, missing: __, images: ___, open: ____, ...ofGroup } = exampleVerdict;
  const expected = await renderJunit({ ...ofGroup, acked: 12, lost: 2 });
  expect(expected).toContain('<property name="Acknowledged commits" value="2 of 12 lost"/>');
  expect(expected).not.toContain('name="audit"');
  expect(expected.match(/<testcase/g)).toHaveLength(1 + ofGroup.certificates.length);
  const unexpected = { ...ofGroup, verdict: 'safe' as const, asExpected: false, lost: null };
  const failed = await renderJunit({ ...unexpected, expected: ['lost'] });
  expect(failed).toContain('message="safe, expected lost"');
  expect(failed).toContain('value="not known"');
});
