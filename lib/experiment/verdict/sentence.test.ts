/** The sentences say which node got the volume, what is left of the commits, and what shows it. */
import { expect, test } from 'vitest';
import { exampleVerdict } from '../../../test/support/example-verdict.ts';
import { mysql } from '../../mysql/database.ts';
import { sentenceOf } from './sentence.ts';

const noHandover = { ...exampleVerdict.phases, secondMount: null };
const intact = exampleVerdict.images.map((image) => ({ ...image, lost: 0 }));

test('no second mount is said with its horizon', () => {
  const safe = { verdict: 'safe', safety: 'safe', noticed: null, images: intact } as const;
  const { exposure } = exampleVerdict;
  const alone = {
    ...exampleVerdict,
    ...safe,
    phases: noHandover,
    exposure: { ...exposure, ms: 0 },
  };
  expect(sentenceOf(alone, mysql)).toBe(
    'No second mount came within 900.0 s after the network partition. ' +
      'All 1,258 acknowledged commits are there.',
  );
  // A node that could not mount the volume may have written it.
  expect(sentenceOf({ ...alone, exposure }, mysql)).toBe(
    'Two nodes could write the volume for 31.0 s. No second mount came within 900.0 s after the ' +
      'network partition. All 1,258 acknowledged commits are there.',
  );
});

test('a loss of what nobody acknowledged is said beside what is there', () => {
  const lost = { verdict: 'lost', images: intact } as const;
  expect(sentenceOf({ ...exampleVerdict, ...lost }, mysql)).toContain(
    'All 1,258 acknowledged commits are there. Others that a client read are gone.',
  );
});

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

test('a corrupt database says what is broken, never two things of which one is meant', () => {
  const damage = {
    ...({ level: 'damage', safety: 'corrupt', loud: true } as const),
    evidence: [],
  };
  const corrupt = { ...exampleVerdict, verdict: 'corrupt', safety: 'corrupt' } as const;
  const findings = [
    { ...damage, code: 'LEDGER_UNREADABLE', summary: 'second image: 0 of 9 can be read' },
    { ...damage, code: 'SERVER_CANNOT_START', summary: 'second image: the start fails' },
  ];
  expect(sentenceOf({ ...corrupt, findings }, mysql)).toContain(
    `The database is corrupt: ${mysql.server} cannot start.`,
  );
  expect(sentenceOf({ ...corrupt, findings: findings.slice(0, 1) }, mysql)).toContain(
    'The database is corrupt: 0 of 9 can be read.',
  );
});
