import { expect, test } from 'vitest';
import type { Verdict } from '../judge/verdict/verdict.ts';
import { exampleVerdict } from '../../test/support/example-verdict.ts';
import { sourceOf } from '../../test/support/example-source.ts';
import { renderJunit as render } from './junit.ts';

const renderJunit = (verdict: Parameters<typeof render>[0]): Promise<string> =>
  render(verdict, sourceOf([]));

const safeUnserved = {
  verdict: 'safe',
  expected: ['safe'],
  serving: { expected: 'yes', because: 'made up', served: false, asExpected: false },
} satisfies Partial<Verdict>;

test('JUnit has a case for the verdict, which fails or is an error', async () => {
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

test('a claim that was probed often is one case, and its time was measured', async () => {
  const claim = {
    fault: 'freeze',
    moment: 'during',
    claim: 'it is frozen',
    evidence: 'x',
  } as const;
  const probes = [true, false, true].map((holds) => ({ ...claim, holds }));
  const verdict: Verdict = {
    ...exampleVerdict,
    basis: 'measured',
    certificates: [...probes, { ...claim, moment: 'after', holds: true }],
  };
  const records = probes.map((probe, index) => ({
    ...probe,
    ...({ type: 'certificate', t: 1000 * index, wall: 0 } as const),
  }));
  const after = { ...claim, moment: 'after', holds: true, type: 'certificate', t: 62_500 } as const;
  const source = sourceOf([...records, after]);
  const junit = await render(verdict, source);
  expect(junit.match(/<testcase/g)).toHaveLength(3);
  expect(junit).toContain('name="freeze, during: it is frozen" time="2.000">');
  expect(junit).toContain('<failure message="1 of 3 probes do not hold">x</failure>');
  expect(junit).toContain('name="freeze, after: it is frozen">');
  expect(junit).toContain('name="verdict" time="62.500">');
  expect(junit).toMatch(/tests="3"\n failures="1" errors="0" time="62\.500">/);
  expect(await render({ ...verdict, basis: 'predicted' }, source)).not.toContain(' time="');
});
