/** A procedure on a cluster that is none: its history, its end, and what is closed whatever happens. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { ProcedureTestbed } from './testbed.ts';
import { realClock } from '../../../lib/core/time.ts';
import { openHistory } from '../../../lib/history/reader.ts';
import { tellStory } from '../../../lib/judge/timeline/story.ts';
import { readAnswers, type AnsweredClaim } from '../answer.ts';
import type { Procedure } from '../claim.ts';
import { defineNote, reading } from './notes.ts';
import { recordProcedure, procedureScenario } from './run-procedures.ts';
import { mysql } from '../../../lib/mysql/database.ts';

const seen = defineNote('seen', { count: z.number() });
const read = reading({ seen }, ({ seen: { count } }) => ({
  ...{ asExpected: count === 1, said: `${count} was seen.` },
}));

interface Ended {
  readonly folder: string;
  readonly told: AnsweredClaim | undefined;
  readonly said: readonly string[];
  /** What became of the testbed, in order. */
  readonly steps: readonly string[];
}

async function recorded(
  act: Procedure['act'],
  signal: AbortSignal = new AbortController().signal,
): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-procedure-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const clock = realClock();
  const said: string[] = [];
  const steps: string[] = [];
  const testbed = {
    ...{ clock, nodes: ['one', 'two'], versions: { kubernetes: '1.37.2' }, timers: {} },
    observe: () => {
      steps.push('observed');
      return Promise.resolve({
        [Symbol.asyncDispose]: () => Promise.resolve(void steps.push('unobserved')),
      });
    },
    close: () => Promise.resolve(void steps.push('closed')),
  } as unknown as ProcedureTestbed;
  const claim = {
    number: 33,
    title: '',
    statement: 'It is so.',
    expected: '',
    procedure: { act, read },
  };
  await recordProcedure({
    ...{ claim, runId: 'r', folder, clock, signal },
    scenario: procedureScenario(claim, {
      kubernetes: { version: '1.37' },
      timers: { grace: 10_000, forceDetachAfter: 360_000 },
    }),
    open: () => Promise.resolve(testbed),
    say: (line) => said.push(line),
  });
  return { folder, told: readAnswers(folder, [claim])[0], said, steps };
}

const orderly = ['observed', 'unobserved', 'closed'];

test('its history has a run, a setup and the answer', async () => {
  const { folder, told, steps } = await recorded(async (bench) => {
    await bench.pause(1);
    bench.note(seen, { count: 1 }, bench.nodes[1]);
  });
  expect(steps).toEqual(orderly);
  expect(told?.measured).toMatchObject({
    scenario: { claim: 33 },
    ...{ source: 'npx zx research/claims.mjs 33', basis: 'shortened' },
    versions: { kubernetes: '1.37.2' },
    outcome: {
      ...{ asExpected: true, said: '1 was seen.' },
      evidence: [expect.stringContaining('claim seen two {"count":1}')],
    },
  });
  const records = [...openHistory(folder).smallRecords()];
  expect(records.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['run', 'phase', 'setup', 'action', 'observation']),
  );
  expect(records.flatMap((each) => (each.type === 'action' ? each.name : []))).toEqual([
    'claim 33',
    'claim 33',
  ]);
  expect(() => tellStory(records, mysql)).toThrow(/procedure of claim 33/);
});

test('one that fails has no answer, says why, and is closed', async () => {
  const { told, said, steps } = await recorded(async (bench) => {
    bench.note(seen, { count: 1 });
    await bench.wait('it comes', () => Promise.resolve('not yet'), 1);
  });
  expect(told?.reading).toMatch(/^the procedure failed: .*waiting until it comes/);
  expect(said.at(-1)).toMatch(/^FAILED: run: /);
  expect(steps).toEqual(orderly);
});

test('Ctrl-C ends its waits at once, and it is closed', async () => {
  const interrupt = new AbortController();
  const { told, steps } = await recorded(async (bench) => {
    setTimeout(() => interrupt.abort(new Error('Ctrl-C')), 1);
    await bench.pause(60_000);
  }, interrupt.signal);
  expect(told?.reading).toBe('the procedure failed: Ctrl-C');
  expect(steps).toEqual(orderly);
});

test('an interrupt is no answer, whatever the procedure made of it', async () => {
  const interrupt = new AbortController();
  const { told } = await recorded(async (bench) => {
    setTimeout(() => interrupt.abort(new Error('Ctrl-C')), 1);
    await bench.pause(60_000).catch(() => undefined);
    bench.note(seen, { count: 1 });
  }, interrupt.signal);
  expect(told?.reading).toBe('the procedure failed: Ctrl-C');
});

test('what does not come in time is an answer, what cannot be waited for is none', async () => {
  const never = (): Promise<string> => Promise.resolve('not yet');
  const { told } = await recorded(async (bench) => {
    const came = await bench.inTime(bench.wait('it comes', never, 1));
    bench.note(seen, { count: came ? 1 : 0 });
  });
  expect(told?.reading).toMatchObject({ said: '0 was seen.' });
  const failed = await recorded(async (bench) => {
    await bench.inTime(Promise.reject(new Error('no such pod')));
  });
  expect(failed.told?.reading).toBe('the procedure failed: no such pod');
});
