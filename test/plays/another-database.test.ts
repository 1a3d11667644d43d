/**
 * A run with a database from outside, on the model: nothing that the run records, judges or tells may say
 * MySQL, and the other one's own signs and checks must be the ones that are asked.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import * as api from '../../index.ts';
import { kindCapabilities } from '../../lib/run/ports/limits.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { assembleVerdict } from '../../lib/judge/verdict/assemble.ts';
import { writtenOf } from '../../lib/scenario/written.ts';
import { shortTimers } from '../support/model-run.ts';
import { mysql } from '../../lib/mysql/database.ts';

const cluster = await api.simulated();
const { timers = {} } = writtenOf(shortTimers);
const usual = { timers, cluster, remedy: api.forceDelete() };

/** What it notes of each copy: entries, and its own sum of them. */
interface Notes {
  readonly entries: number;
}

const notes: api.OwnCheck<Notes> = {
  name: 'notes',
  check: ({ entries }, { image }) => [
    api.note('NOTES_READ', `${image} image: its notes have ${entries} entries`, []),
  ],
};

const toyOf: api.OwnDatabase<Notes> = {
  ...{ name: 'toy', title: 'Toy', server: 'toyd' },
  log: {
    signs: { error: 'oh no', ready: 'here I am', stopped: 'good night' },
    damage: /oh no/,
    modelled: { locked: 'oh no, taken', recovered: 'all replayed' },
  },
  audit: ({ length }) => ({ entries: length }),
  checks: [notes],
};
const toy = api.customDatabase(toyOf);

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-toy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const bytesOf = ({ folder }: api.FinishedRun): Buffer =>
  readFileSync(join(folder, 'history/run.hist'));

test('a run takes another database without a word of MySQL', async () => {
  const folder = newFolder();
  const fault = api.networkPartition();
  const run = await api
    .experiment({ ...usual, database: toy, fault })
    .run({ seed: 'toy-1', folder });
  const { details } = run;
  expect(details).toMatchObject({ incompleteBecause: [], custom: { database: 'toy' }, open: true });
  expect(details.findings.map(({ code }) => code)).toContain('NOTES_READ');
  const records = [...openHistory(folder).smallRecords()];
  const sources = records.flatMap((record) => ('source' in record ? [record.source] : []));
  expect(sources).toContain('toyd');
  expect(JSON.stringify(records)).toContain('here I am');
  const texts = {
    history: JSON.stringify(records),
    verdict: readFileSync(join(folder, 'verdict.json'), 'utf8'),
    summary: readFileSync(join(folder, 'summary.md'), 'utf8'),
    page: readFileSync(join(folder, 'report.html'), 'utf8'),
  };
  for (const [name, text] of Object.entries(texts)) {
    // A field of scenarios, and whom the model measured.
    const said = text.replaceAll(/&quot;binlog&quot;|"binlog"|>binlog<|played as MySQL/g, '');
    expect([name, ...saying(said)]).toEqual([name]);
  }
  expect(texts.page).toContain('toyd');
  expect(texts.page).toContain('database toy, played as MySQL');
});

const saying = (text: string): string[] =>
  [...text.matchAll(/.{0,60}(mysql|innodb|innochecksum|binlog|gtid).{0,60}/gi)].map(([all]) => all);

test('its checks judge, what they miss is missed, and only it can judge anew', async () => {
  const finds: api.OwnCheck<Notes> = {
    name: 'finds',
    check: (_, { image }) => [
      api.damage({
        ...{ code: 'FOUND', image, safety: 'lost', loud: false, summary: 'it', evidence: [] },
      }),
    ],
  };
  const judged = (changed: Partial<typeof toyOf>): Promise<api.FinishedRun> => {
    const database = api.customDatabase({ ...toyOf, ...changed });
    return api.experiment({ ...usual, database, fault: api.nodeCrash() }).run({ seed: '1' });
  };
  expect(await judged({})).toMatchObject({ verdict: 'safe', exitCode: 5 });
  // The audit before the fault finds it, too.
  const found = await judged({ checks: [finds] });
  expect(found.details.incompleteBecause.join()).toContain('before anything was broken');
  const gaps = await judged({ missing: ({ entries }) => [`no list of ${entries} entries`] });
  expect(gaps.verdict).toBe('inconclusive');
  const { folder } = await judged({});
  const anew = { code: 'DATABASE_NOT_HERE', exitCode: 3 };
  expect(() => assembleVerdict(openHistory(folder), { database: mysql })).toThrow(
    expect.objectContaining(anew),
  );
});

test('commits reach the disk as it says', async () => {
  const early = api.customDatabase({ ...toyOf, like: api.mysql({ trxCommit: 2 }) });
  const storage = api.array({ mode: 'fenced' });
  const run = api.experiment({ ...usual, storage, database: early, fault: api.nodeCrash() });
  expect(run.scenario).toMatchObject({ database: { trxCommit: 2 } });
  expect((await run.run({ seed: '1' })).verdict).toBe('lost');
});

test('two databases run at the same time, and neither leaves a trace in the other’s run', async () => {
  const ours = api.experiment({ ...usual, fault: api.nodeCrash() });
  const theirs = api.experiment({ ...usual, database: toy, fault: api.nodeCrash() });
  const alone = [await ours.run({ seed: '1' }), await theirs.run({ seed: '1' })];
  const both = await Promise.all([ours.run({ seed: '1' }), theirs.run({ seed: '1' })]);
  expect(both.map(bytesOf)).toEqual(alone.map(bytesOf));
  expect(both.map(({ details }) => details)).toEqual(alone.map(({ details }) => details));
  const serversIn = ({ folder }: api.FinishedRun): string[] => {
    const records = [...openHistory(folder).smallRecords()];
    const sources = new Set(records.map((each) => ('source' in each ? each.source : '')));
    return ['mysqld', 'toyd'].filter((each) => sources.has(each));
  };
  expect(both.map(serversIn)).toEqual([['mysqld'], ['toyd']]);
});

test('a cluster that cannot play it refuses it before it is opened, whatever its name', async () => {
  const says = { backend: 'vm', isModel: false, why: '', capabilities: kindCapabilities('built') };
  const open = vi.fn<typeof cluster.open>();
  const real = { ...cluster, open, choose: () => Promise.resolve(says) };
  const its = api.experiment({ ...usual, cluster: real, database: toy, fault: api.nodeCrash() });
  await expect(its.run()).rejects.toMatchObject({
    ...{ code: 'NOT_ON_THIS_CLUSTER', exitCode: 2 },
    message: expect.stringContaining('✖ toy: it cannot play a database from outside'),
  });
  expect(open).not.toHaveBeenCalled();
});

test('by a name that is taken it is refused when it is put together', () => {
  const fault = api.nodeCrash();
  const taken = [
    { name: 'mysql' },
    { name: 'My Own' },
    { checks: [{ ...notes, name: 'balances' }] },
  ];
  for (const changed of taken) {
    const database = api.customDatabase({ ...toyOf, ...changed });
    expect(() => api.experiment({ ...usual, database, fault })).toThrow(
      expect.objectContaining({ code: 'CUSTOM_NAME' }),
    );
  }
});
