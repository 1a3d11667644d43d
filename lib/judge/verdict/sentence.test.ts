/** The sentences say which node got the volume, what is left of the commits, and what shows it. */
import { expect, test } from 'vitest';
import { exampleVerdict } from '../../../test/support/example-verdict.ts';
import { mysql } from '../../mysql/database.ts';
import { sentenceOf } from './words.ts';

const intact = exampleVerdict.images.map((image) => ({ ...image, lost: 0 }));

test.each(['safe', 'exposed'] as const)('%s is no good end where nothing serves', (word) => {
  const serving = { ...exampleVerdict.serving, served: false };
  const told = { ...exampleVerdict, verdict: word, safety: word, images: intact };
  expect(sentenceOf({ ...told, serving }, mysql)).toContain(
    `. ${word === 'safe' ? 'Safe' : 'Exposed'}, but nothing serves after the heal.`,
  );
  expect(sentenceOf(told, mysql)).not.toContain('nothing serves');
});

test('a run that proves nothing does not call itself safe where nothing serves', () => {
  const serving = { ...exampleVerdict.serving, served: false };
  const told = {
    ...exampleVerdict,
    verdict: 'inconclusive',
    safety: 'safe',
    serving,
  } as const;
  expect(sentenceOf(told, mysql)).not.toContain('nothing serves');
});

test('what could not be read before the heal is not called lost', () => {
  const images = [
    { image: 'first', acked: 15_652, lost: 15_583, readable: false },
    { image: 'second', acked: 15_652, lost: 304, readable: true },
  ] as const;
  const sentence = sentenceOf({ ...exampleVerdict, images: [...images] }, mysql);
  expect(sentence).toContain(
    'Before the heal, 15,583 of 15,652 acknowledged commits could not be read. ' +
      'After the heal, 304 of 15,652 acknowledged commits were lost.',
  );
});

test('an idle database that could not be read has no count of commits', () => {
  const images = [{ image: 'second', acked: 0, lost: 0, readable: false }] as const;
  const sentence = sentenceOf({ ...exampleVerdict, images: [...images] }, mysql);
  expect(sentence).toContain('After the heal, the database could not be read.');
});
