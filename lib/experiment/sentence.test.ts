/** The sentence says who was let in, what became of the commits, and whether anybody noticed. */
import { expect, test } from 'vitest';
import { exampleVerdict } from '../report/example.ts';
import { sentenceOf } from './sentence.ts';

const noHandover = { ...exampleVerdict.phases, secondMount: null };
const intact = exampleVerdict.images.map((image) => ({ ...image, lost: 0 }));

test('a loss is told image by image, and that it was silent', () => {
  expect(sentenceOf(exampleVerdict)).toBe(
    'Another node mounted the volume 414.2 s after the network partition while the victim could ' +
      'still write, for 31.0 s; before the heal 59 of 1,258 acknowledged commits were lost, and ' +
      'after the heal 59 of 1,258 acknowledged commits were lost; ' +
      'no check of MySQL or the file system noticed.',
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
