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
    'message="safe, and nobody served, expected safe, and served"',
  );
});
