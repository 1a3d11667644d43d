/** What every node's shell keeps, whatever the node is: what it can do it does, and the rest is absent. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { InfrastructureError } from '../../lib/core/errors.ts';
import type { Arming, NodeShell } from '../../lib/run/ports/node-shell.ts';

const capabilities = [
  ...(['outOfBand', 'byHand', 'arm'] as const),
  ...(['suspend', 'resume', 'powerOff', 'powerOn'] as const),
];

export interface NodeShellCase {
  readonly has: readonly (typeof capabilities)[number][];
  /** Whose node is new, and nobody else's. */
  readonly now: () => NodeShell;
}

/** `now` is asked in the tests; the last of them may leave its node powered off. */
export function testNodeShell({ has, now }: NodeShellCase): void {
  const can = (...those: NodeShellCase['has']): boolean =>
    those.every((each) => has.includes(each));
  /** Whether a command is known to have run well; what is late or can't be run is not. */
  const answers = async (timeoutMs = 60_000): Promise<boolean> =>
    now()
      .run(['true'], { timeoutMs })
      .then(
        ({ exitCode }) => exitCode === 0,
        () => false,
      );

  test('it has what it says, and lacks the rest', () => {
    const shell = now();
    expect(capabilities.filter((each) => shell[each] !== undefined)).toEqual(
      capabilities.filter((each) => has.includes(each)),
    );
  });

  test('words arrive as they are', async () => {
    const words = ["it's", '$HOME', 'two words', '"', '\\', '', '*', 'a;b'];
    const { exitCode, stdout } = await now().run(['printf', '<%s>', ...words]);
    expect({ exitCode, stdout }).toEqual({
      ...{ exitCode: 0, stdout: words.map((word) => `<${word}>`).join('') },
    });
  });

  test('how a command ended is an answer, with what it said', async () => {
    const ended = await now().run(['sh', '-c', 'echo out; echo err >&2; exit 3']);
    expect(ended).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('out') });
    expect(`${ended.stdout}${ended.stderr}`).toContain('err');
    // A shell says 127, some engines 126.
    const { exitCode } = await now().run(['no-such-program']);
    expect([126, 127]).toContain(exitCode);
  });

  test('a script gets its arguments, and what it said is the answer', async () => {
    expect(await now().sh('echo "$1-$2"', 'a b', 7)).toBe('a b-7');
  });

  test('a script that fails is an error that says why', async () => {
    const failed = await now()
      .sh('echo the reason >&2; exit 3')
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(InfrastructureError);
    expect(failed).toMatchObject({
      ...{ code: 'COMMAND_FAILED', message: expect.stringMatching(/ 3: .*the reason/s) },
      command: expect.stringContaining('the reason'),
    });
  });

  test('nobody types anything', async () => {
    expect(await now().run(['cat'])).toMatchObject({ exitCode: 0, stdout: '' });
  });

  test('what is late is no answer', async () => {
    const late = now().run(['sleep', '20'], { timeoutMs: 1000 });
    const exitCode = await late.then(
      (ended) => ended.exitCode,
      () => -1,
    );
    expect(exitCode).toBe(-1);
  });

  test('who gives up is not answered', async () => {
    const over = new AbortController();
    const waiting = now().run(['sleep', '20'], { signal: over.signal });
    setTimeout(() => over.abort(), 300);
    await expect(waiting).rejects.toThrow();
  });

  if (can('byHand')) {
    test('a person can do the same', () => {
      expect(now().byHand?.(['kill', '-CONT', '1'])).toContain('kill -CONT 1');
    });
  }

  if (can('arm')) testArming(now);

  if (can('suspend', 'resume')) {
    test('held, it answers nobody until it goes on', async () => {
      await now().suspend?.();
      expect(await answers(2000)).toBe(false);
      await now().resume?.();
      expect(await answers()).toBe(true);
    });
  }

  if (can('powerOff')) {
    test('powered off, it answers nobody', async () => {
      await now().powerOff?.();
      expect(await answers(2000)).toBe(false);
    });
  }

  if (can('powerOn')) {
    test('powered on again, it answers', async () => {
      await now().powerOn?.();
      expect(await answers()).toBe(true);
    });
  }
}

function testArming(now: () => NodeShell): void {
  const run = 'forcedetach-contract';
  const folder = `/tmp/${run}`;
  const later = { name: 'later', afterMs: 2000, script: `echo of later >> ${folder}/did` };
  const atOnce = { name: 'soon', script: `echo of soon >> ${folder}/did` };
  const arming: Arming = {
    ...{ run, folder, units: [later, atOnce] },
    before: `echo first; rm -rf ${folder}; mkdir ${folder}`,
    proof: 'echo proven',
  };
  const arm = async (asked: Arming) => (await now().arm?.(asked))?.ended();
  const did = async (): Promise<string> => (await now().run(['cat', `${folder}/did`])).stdout;

  test('what is armed is done later, and nobody has to live for it', async () => {
    expect(await arm(arming)).toMatchObject({ exitCode: 0, stdout: 'first\nproven' });
    for (const endMs = Date.now() + 30_000; Date.now() < endMs; await sleep(500)) {
      if ((await did()) === 'of soon\nof later') break;
    }
    expect(await did()).toBe('of soon\nof later');
    await now().run(['rm', '-r', folder]);
  });

  test('nothing is armed where that can not be', async () => {
    const refused = { ...arming, before: `mkdir -p ${folder}; echo no; false` };
    expect(await arm(refused)).toMatchObject({ exitCode: 1, stdout: 'no' });
    expect(await now().sh(`ls ${folder}; rm -r ${folder}`)).toBe('');
  });

  test('a proof that fails is the answer', async () => {
    expect(await arm({ ...arming, units: [], proof: 'echo not so; exit 4' })).toMatchObject({
      ...{ exitCode: 4, stdout: 'first\nnot so' },
    });
    await now().run(['rm', '-r', folder]);
  });
}
