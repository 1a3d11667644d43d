/** The sentence says who was let in, what became of the commits, and whether anybody noticed. */
import { expect, test } from 'vitest';
import { exampleVerdict } from '../../../test/support/example-verdict.ts';
import { sentenceOf } from './sentence.ts';

const noHandover = { ...exampleVerdict.phases, secondMount: null };
const intact = exampleVerdict.images.map((image) => ({ ...image, lost: 0 }));

test('a loss is told image by image, and that it was silent', () => {
  expect(sentenceOf(exampleVerdict)).toBe(
    'Another node mounted the volume 414.2 s after the network partition while the victim could ' +
      'still write, for 31.0 s; before the heal 59 of 1,258 acknowledged commits were lost, and ' +
      'after the heal 59 of 1,258 acknowledged commits are missing; ' +
      'no event, probe, error log or check told of it.',
  );
});

test('no second mount is said with its horizon', () => {
  const safe = { verdict: 'safe', safety: 'safe', noticed: null, images: intact } as const;
  const { exposure } = exampleVerdict;
  const alone = {
    ...exampleVerdict,
    ...safe,
    phases: noHandover,
    exposure: { ...exposure, ms: 0 },
  };
  expect(sentenceOf(alone)).toBe(
    'No second mount within 900.0 s after the network partition; ' +
      'all 1,258 acknowledged commits are there.',
  );
  // A node that could not mount the volume may have written it.
  expect(sentenceOf({ ...alone, exposure })).toBe(
    'Two nodes could write for 31.0 s, though no second mount came within 900.0 s after the ' +
      'network partition; all 1,258 acknowledged commits are there.',
  );
});

test('a loss of what nobody acknowledged is said beside what is there', () => {
  const lost = { verdict: 'lost', images: intact } as const;
  expect(sentenceOf({ ...exampleVerdict, ...lost })).toContain(
    'all 1,258 acknowledged commits are there, and others that somebody saw are gone;',
  );
});

test('a prediction says so, and inconclusive says why', () => {
  const sentence = sentenceOf({
    ...exampleVerdict,
    basis: 'predicted',
    verdict: 'inconclusive',
    incompleteBecause: ['the first image was not audited'],
  });
  expect(sentence).toMatch(/^Prediction: Another node/);
  expect(sentence).toContain('inconclusive, since the first image was not audited');
});

test.each(['safe', 'exposed'] as const)('%s is no good end where nothing serves', (word) => {
  const serving = { ...exampleVerdict.serving, served: false };
  const told = { ...exampleVerdict, verdict: word, safety: word, images: intact };
  expect(sentenceOf({ ...told, serving })).toContain(
    `; ${word}, but nothing serves after the heal`,
  );
  expect(sentenceOf(told)).not.toContain('nothing serves');
});

test('a run that proves nothing does not call itself safe where nothing serves', () => {
  const serving = { ...exampleVerdict.serving, served: false };
  const told = {
    ...exampleVerdict,
    verdict: 'inconclusive',
    safety: 'safe',
    serving,
  } as const;
  expect(sentenceOf(told)).not.toContain('nothing serves');
});

test('what could not be read before the heal is not called lost', () => {
  const images = [
    { image: 'first', acked: 15_652, lost: 15_583, readable: false },
    { image: 'second', acked: 15_652, lost: 304, readable: true },
  ] as const;
  const sentence = sentenceOf({ ...exampleVerdict, images: [...images] });
  expect(sentence).toContain(
    'before the heal 15,583 of 15,652 acknowledged commits could not be read, and ' +
      'after the heal 304 of 15,652 acknowledged commits are missing',
  );
});

const refused = {
  ...{ node: 'worker2', fromS: 65.2, bytesWritten: 196_608, times: 14, firstS: 66, lastS: 640 },
  ...{ mountedS: null, errors: ['fsck: exit 4'] },
};

test('a mount that was refused says who had the volume, what he wrote, and who was told', () => {
  const notice = {
    ...{ by: 'fsck', what: 'the mount on worker2 was refused', count: 14, firstS: 66 },
    ...{ lastS: 640, ofHarm: true, evidence: 'exit 4' },
    when: 'before the heal' as const,
  };
  const told = {
    ...exampleVerdict,
    ...({ verdict: 'exposed', safety: 'exposed', noticed: 'loud' } as const),
    ...{ images: intact, phases: noHandover, notices: [notice], refusedMounts: [refused] },
  };
  expect(sentenceOf(told)).toBe(
    'Node worker2 had the volume from +65.2 s on, wrote 196,608 bytes, and was refused the mount ' +
      '14 times; two nodes could write for 31.0 s; no second mount within 900.0 s after the ' +
      'network partition; all 1,258 acknowledged commits are there; an operator would have been ' +
      'told, by fsck 14 times from +66.0 s on: the mount on worker2 was refused.',
  );
});
