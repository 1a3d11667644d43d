/** docs/reference/claims.md says what the store has, and that is what the committed histories say; `vitest -u` writes it. */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readAnswers } from '../../research/claims/answer.ts';
import { halves } from '../../research/claims/halves.ts';
import { claims } from '../../research/claims/list.ts';
import { linesOf, type StoredLine } from '../../lib/batch/measurements.ts';
import {
  answerSchema,
  answersTo,
  claimsPagePath,
  isTicked,
  renderedPage,
} from '../../research/claims/page.ts';

const measured = linesOf(answerSchema);

test('the page is made from the data', () =>
  expect(renderedPage(measured)).toMatchFileSnapshot(claimsPagePath));

test('each part of each claim is ticked, or says why it is not, never both', () => {
  for (const { number } of claims) {
    const parts = halves[number] ?? [];
    expect(parts.length, `claim ${number}`).toBeGreaterThan(0);
    const answers = answersTo(number, measured);
    const wrong = parts.filter((part) => isTicked(part, answers) === (part[2] !== undefined));
    expect(
      wrong.map(([text]) => text),
      `claim ${number}`,
    ).toEqual([]);
  }
});

const committed = [...new Set(measured.map(({ source }) => source))].filter((source) =>
  existsSync(`${source}/history`),
);

const byId = (a: StoredLine, b: StoredLine): number => (a.id < b.id ? -1 : 1);

describe.each(committed)('%s', (folder) => {
  test('its answers follow from its history', () => {
    const quoted = measured.filter(({ source }) => source === folder);
    const asked = claims.filter(({ number }) => answersTo(number, quoted).length > 0);
    // Evidence may quote a verdict, whose words change now and then; answers must not.
    const evidence: unknown = expect.anything();
    const answers = quoted.map((answer) => ({
      ...answer,
      outcome: { ...answer.outcome, evidence },
      records: undefined,
    }));
    const told = readAnswers(folder, asked).flatMap(({ measured: answer }) => answer ?? []);
    expect(told.toSorted(byId)).toEqual(answers.toSorted(byId));
  });
});
