/** What pipelines run, on the model instead of hosted machines: shards, their judgement, a scenario. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { commandsOf } from '../docs/pages.ts';
import { smallMatrix } from '../support/small-matrix.ts';
import { troubleWith } from '../../scripts/ci-mark.ts';
import { settingsSchema } from '../../scripts/ci-settings.ts';
import { runTask } from '../../scripts/ci-tasks.ts';

const root = join(import.meta.dirname, '../..');
const workspace = mkdtempSync(join(tmpdir(), 'forcedetach-ci-'));
afterAll(() => rmSync(workspace, { recursive: true }));
const inWorkspace = (name: string): string => join(workspace, name);
const [summary, outputs] = ['summary.md', 'outputs'].map(inWorkspace) as [string, string];
writeFileSync(inWorkspace('small.yaml'), smallMatrix);

/** Two scenarios that the model plays in a second, and what each comes to. */
const disks = { fenced: 'safe', unfenced: 'corrupt' } as const;
for (const [disk, verdict] of Object.entries(disks)) {
  writeFileSync(
    inWorkspace(`${disk}.yaml`),
    `name: ${disk}\nquestion: Is it safe?\nseed: one\npredicted: [${verdict}]\nscenario:
  fault: network-partition\n  remedy: force-delete\n  disk: ${disk}\n  load: { rate: 10, connections: 1 }
  timers: { grace: 10s, toleration: 10s, forceDetachAfter: 30s }\n  watch: { warmup: 3s, horizon: 200s }\n`,
  );
}

interface Ended {
  readonly code: number;
  /** Both streams. */
  readonly text: string;
}

/** Without the settings of the pipeline that runs these tests. */
const clean = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(GITHUB|FORCEDETACH)_/.test(name)),
);

type Words = readonly [
  task: string,
  given?: Readonly<Record<string, string>>,
  more?: Readonly<Record<string, string>>,
];

function envOf(
  given: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv {
  const fields = Object.entries(given).map(([name, value]) => [`FORCEDETACH_${name}`, value]);
  return {
    ...{ ...clean, GITHUB_WORKSPACE: workspace, FORCEDETACH_FLAGS: '--cluster sim' },
    ...{ GITHUB_STEP_SUMMARY: summary, GITHUB_OUTPUT: outputs, GITHUB_RUN_ID: '7' },
    ...{ ...Object.fromEntries(fields), ...more },
  };
}

function ci(...[task, given = {}, more = {}]: Words): Promise<Ended> {
  const options = { cwd: root, env: envOf(given, more) };
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/ci.ts', task], options, (error, ...streams) =>
      resolve({ code: error === null ? 0 : Number(error.code), text: streams.join('') }),
    );
  });
}

/** What plays prints its progress; all else is quicker in this process. */
async function codeOf(...words: Words): Promise<number> {
  const [task, given = {}, more = {}] = words;
  if (task === 'run') return (await ci(...words)).code;
  const silent = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockReturnValue(true),
  );
  try {
    return await runTask(task, envOf(given, more));
  } finally {
    for (const spy of silent) spy.mockRestore();
  }
}

const reported = (): string => readFileSync(summary, 'utf8');
const stepOutputs = (): string => readFileSync(outputs, 'utf8');
beforeEach(() => {
  for (const file of [summary, outputs]) writeFileSync(file, '');
});

interface Mark {
  readonly ended?: { readonly result?: Readonly<Record<string, string>> };
}
const readMark = (folder: string, number = 1): Mark =>
  JSON.parse(readFileSync(inWorkspace(`${folder}/shard-${number}.json`), 'utf8')) as Mark;
const writeMark = (folder: string, mark: object, number = 1): void =>
  writeFileSync(inWorkspace(`${folder}/shard-${number}.json`), JSON.stringify(mark));

const troubleIn = (FORCEDETACH_FOLDER: string): string | undefined => {
  const where = { FORCEDETACH_FOLDER, GITHUB_WORKSPACE: workspace, GITHUB_RUN_ID: '7' };
  return troubleWith(settingsSchema.parse(where), 1);
};

/** Writes another result for a shard, with the mark that its run would have left. */
function leave(folder: string, text: string, number = 1): void {
  const mark = readMark(folder, number);
  const result = mark.ended?.result ?? {};
  const file = Object.keys(result).find((name) => name.endsWith('.json')) ?? '';
  writeFileSync(inWorkspace(`${folder}/shard-${number}/${file}`), text);
  const sha256 = createHash('sha256').update(text).digest('hex');
  writeMark(
    folder,
    { ...mark, ended: { ...mark.ended, result: { ...result, [file]: sha256 } } },
    number,
  );
}

/** Each starts several processes that play on the model. */
const limit = { timeout: 120_000 };

describe('shards of a matrix', limit, () => {
  // One cell is a race, which may be counted too rarely: then the batch is open.
  const FAIL_ON = 'unexpected,inconclusive';
  const shards = { SHARDS: '2', FOLDER: 'out', FAIL_ON, SEED: 'one', NAME: 'Kubernetes 1.36' };

  test('are judged together', async () => {
    expect(await codeOf('shards', shards)).toBe(0);
    expect(stepOutputs()).toMatch(/^shards=\[1,2\]\njob=[0-9a-f-]{36}\n$/);
    writeFileSync(outputs, '');
    for (const SHARD of ['1/2', '2/2']) {
      expect(await codeOf('run', { ...shards, MATRIX: 'small.yaml', SHARD })).toBe(0);
    }
    expect(await codeOf('judge', shards)).toBe(0);
    expect(reported()).toMatch(/^## Kubernetes 1\.36\n\n### (SAFE|EXPOSED|LOST|CORRUPT): small/);
    expect(reported()).not.toContain('![');
    expect(stepOutputs()).toMatch(
      /^verdict=(expected|open)\noutcome=\1\nreport=out\/batch\/report\.html\n$/,
    );
    expect(existsSync(inWorkspace('out/batch/report.html'))).toBe(true);
  });

  test('of which one is missing fail always', async () => {
    rmSync(inWorkspace('out/shard-2/batch.json'));
    expect(await codeOf('judge', { ...shards, FAIL_ON: 'never' })).toBe(4);
    expect(reported()).toContain('shard 2: batch.json is not the one that its run left');
    expect(stepOutputs()).toMatch(/^verdict=(inconclusive|open)\n/);
  });

  test('with different seeds are refused, and an earlier verdict of theirs is not reported', async () => {
    rmSync(inWorkspace('out/shard-2'), { recursive: true });
    const other = { ...shards, SEED: 'two', MATRIX: 'small.yaml', SHARD: '2/2' };
    expect(await codeOf('run', other)).toBe(0);
    const { code, text } = await ci('judge', shards);
    expect({ code, text }).toMatchObject({
      code: 4,
      text: expect.stringContaining('SHARDS_DIFFER'),
    });
    expect(stepOutputs()).toBe('');
  });
});

describe('a scenario', limit, () => {
  const verdictFile = inWorkspace('reports/ci/shard-1/verdict.json');

  test('can fail the job with every result', async () => {
    expect(await codeOf('run', { SCENARIO: 'unfenced.yaml' })).toBe(0);
    expect(await codeOf('judge')).toBe(0);
    expect(stepOutputs()).toBe(
      'verdict=corrupt\noutcome=expected\nreport=reports/ci/shard-1/report.html\n',
    );
    expect(await codeOf('judge', { FAIL_ON: 'unexpected' })).toBe(0);
    expect(await codeOf('judge', { FAIL_ON: 'lost' })).toBe(1);
    const verdict = JSON.parse(readFileSync(verdictFile, 'utf8')) as object;
    const outcome = (change: object, FAIL_ON = ''): Promise<number> => {
      leave('reports/ci', JSON.stringify({ ...verdict, asExpected: false, ...change }));
      return codeOf('judge', { FAIL_ON });
    };
    expect(await outcome({})).toBe(1);
    expect(await outcome({ verdict: 'inconclusive' })).toBe(3);
    expect(await outcome({ verdict: 'inconclusive' }, 'lost')).toBe(3);
    expect(await outcome({ open: true })).toBe(5);
    expect(await outcome({ open: true }, 'never')).toBe(0);
  });

  test('is an annotation on GitHub, whatever its sentence has in it', async () => {
    const verdict = JSON.parse(readFileSync(verdictFile, 'utf8')) as object;
    leave('reports/ci', JSON.stringify({ ...verdict, sentence: '100 %\n::error::x' }));
    const annotation = async (given: Readonly<Record<string, string>>): Promise<string> =>
      (await ci('judge', { NAME: 'a, b', ...given }, { GITHUB_ACTIONS: 'true' })).text;
    const rest = 'title=a%2C b%3A CORRUPT::100 %25%0A::error::x\n';
    expect(await annotation({ FAIL_ON: 'open' })).toBe(`::error ${rest}`);
    expect(await annotation({ FAIL_ON: 'never' })).toBe(`::warning ${rest}`);
  });
});

describe('an earlier verdict is never reported as a new one', limit, () => {
  const FOLDER = 'again';

  test('by a second run into the same folder', async () => {
    expect(await codeOf('run', { FOLDER, SCENARIO: 'fenced.yaml' })).toBe(0);
    expect(await codeOf('judge', { FOLDER })).toBe(0);
    cpSync(inWorkspace(FOLDER), inWorkspace('safe'), { recursive: true });
    writeFileSync(outputs, '');
    const { code, text } = await ci('run', { FOLDER, SCENARIO: 'unfenced.yaml' });
    expect({ code, text }).toMatchObject({ code: 2, text: expect.stringContaining('rm -r ') });
    expect(await codeOf('judge', { FOLDER })).toBe(4);
    expect(stepOutputs()).toBe('');
    expect(reported()).toContain('shard 1: this job did not run it');
  });

  test('by a run whose words are refused', async () => {
    const again = (): void =>
      cpSync(inWorkspace('safe'), inWorkspace('words'), { recursive: true });
    const wrong = [
      { FAIL_ON: 'sometimes' },
      { SHARDS: '0' },
      { SCENARIO: '' },
      { SCENARIO: 'none.yaml' },
      { FLAGS: '--clusters sim' },
      { FLAGS: '--cluster sim --horizon x' },
    ];
    for (const words of wrong) {
      again();
      expect(await codeOf('run', { FOLDER: 'words', SCENARIO: 'fenced.yaml', ...words })).toBe(2);
      expect(troubleIn('words')).toMatch(
        /^this job did not run it$|left no result \(exit code 2\)$/,
      );
    }
    expect(await codeOf('judge', { FOLDER: 'words' })).toBe(4);
  });

  const cases: readonly (readonly [string, (mark: Mark) => object, string])[] = [
    ['of another job', (mark) => ({ ...mark, job: '6.1' }), 'another job ran it (6.1, '],
    ['of no job', (mark) => ({ ...mark, job: '' }), 'another job ran it (without an id, '],
    ['of another shard', (mark) => ({ ...mark, shard: '1/3' }), 'it ran as 1/3'],
    ['whose run died', (mark) => ({ ...mark, ended: undefined }), 'its run did not end (started '],
    [
      'whose run left nothing',
      (mark) => ({ ...mark, ended: { exitCode: 137 } }),
      'its run left no result (exit code 137)',
    ],
    [
      'whose run failed',
      (mark) => ({ ...mark, ended: { ...mark.ended, exitCode: 4 } }),
      'its run failed (exit code 4)',
    ],
    [
      'that was exchanged',
      (mark) => ({
        ...mark,
        ended: { exitCode: 0, result: { 'verdict.json': '0'.repeat(64) } },
      }),
      'verdict.json is not the one that its run left',
    ],
    [
      'whose summary was exchanged',
      (mark) => ({
        ...mark,
        ended: { exitCode: 0, result: { ...mark.ended?.result, 'summary.md': '0'.repeat(64) } },
      }),
      'summary.md is not the one that its run left',
    ],
  ];

  test.each(cases)('%s', (_, change, why) => {
    cpSync(inWorkspace('safe'), inWorkspace('changed'), { recursive: true });
    expect(troubleIn('changed')).toBeUndefined();
    writeMark('changed', change(readMark('safe')));
    expect(troubleIn('changed')).toContain(why);
  });

  test('where nothing ran at all', async () => {
    expect(await codeOf('judge', { SHARDS: '2', FOLDER: 'none' })).toBe(4);
    expect(reported()).toBe(
      '## forcedetach\n\nshard 1: this job did not run it\n\nshard 2: this job did not run it\n',
    );
  });
});

test(
  'a user who is not root measures by sudo where there is one, and gets the files back',
  limit,
  async () => {
    const bin = inWorkspace('bin');
    mkdirSync(bin);
    // It plays what would be measured on the model.
    const sudo = `#!/bin/sh
printf '%s\\n' "$*" >>${bin}/log
while [ "\${1#-}" != "$1" ]; do shift; done
[ "$1" = env ] && set -- "$@" --cluster sim
exec "$@"\n`;
    writeFileSync(join(bin, 'sudo'), sudo, { mode: 0o755 });
    const user = 'process.getuid=()=>4321,process.getgid=()=>1234';
    const asUser = {
      ...{ NODE_OPTIONS: `--import data:text/javascript,${user}`, PATH: `${bin}:${clean['PATH']}` },
    };
    const given = { FOLDER: 'owned', SCENARIO: 'fenced.yaml' };
    expect((await ci('run', { ...given, FLAGS: '' }, asUser)).code).toBe(0);
    const out = inWorkspace('owned/shard-1');
    const log = readFileSync(join(bin, 'log'), 'utf8');
    expect(log).toMatch(/^-n true\n-n -H --preserve-env env -u XDG_STATE_HOME NODE_DISABLE/);
    expect(log).toContain(`-n chown -R 4321:1234 ${out}\n`);
    rmSync(join(bin, 'log'));
    expect((await ci('run', { ...given, FOLDER: 'own' }, asUser)).code).toBe(0);
    expect(existsSync(join(bin, 'log'))).toBe(false);
  },
);

describe('docs/how-to/in-your-ci.md', () => {
  const page = 'docs/how-to/in-your-ci.md';
  const typed = (line: string, more: Readonly<Record<string, string>> = {}): Promise<number> =>
    new Promise((resolve) => {
      execFile('bash', ['-c', line], { cwd: root, env: { ...clean, ...more } }, (error) =>
        resolve(error === null ? 0 : Number(error.code)),
      );
    });

  test('shows the matrix that it runs', () => {
    const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/^```yaml\n(.*?)^```/gms)];
    const file = readFileSync(join(root, 'experiments/matrices/guard.yaml'), 'utf8');
    expect(blocks.map(([, text]) => text)).toContain(file.replaceAll(/^#.*\n/gm, ''));
  });

  test('has examples that exit as it says', limit, async () => {
    const [safe = '', corrupt = '', ...pipeline] = commandsOf(page);
    expect(await typed(`${safe} --out ${inWorkspace('docs-safe')}`)).toBe(0);
    expect(await typed(`${corrupt} --out ${inWorkspace('docs-corrupt')}`)).toBe(1);
    const where = { FORCEDETACH_FOLDER: inWorkspace('docs') };
    for (const line of pipeline) expect(await typed(line, where), line).toBe(0);
    expect(pipeline).toHaveLength(2);
  });
});

test('what makes no sense is refused', limit, async () => {
  expect(await codeOf('run', { MATRIX: 'none.yaml', SHARD: '3/3' })).toBe(2);
  expect(await codeOf('run')).toBe(2);
  expect(await codeOf('run', { MATRIX: 'small.yaml', SCENARIO: 'small.yaml' })).toBe(2);
  const { code, text } = await ci('judge', { FAIL_ON: 'corrupted' });
  expect(code).toBe(2);
  expect(text).toContain('unexpected, inconclusive, open, exposed, lost, corrupt; or never');
  expect(await codeOf('judge', { FAIL_ON: 'never,lost' })).toBe(2);
  expect(await codeOf('shards', { SHARDS: '0' })).toBe(2);
  expect(await codeOf('pray')).toBe(2);
});
