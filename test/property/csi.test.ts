/**
 * The driver under calls that come twice, at once, in any order, and are cut off by the death of
 * their process or by an error between any two steps: for every mode of detach, on the real code.
 */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { type DiskMode, diskModes } from '../../lib/scenario/disks/index.ts';
import type { Strike } from '../support/steps.ts';
import { type CallName, type NodeName, nodes } from './csi-calls.ts';
import { Rules } from './csi-rules.ts';
import { type Errand, type Event, type Race, type Story, story } from './csi-stories.ts';
import { CsiWorld, type Outcome } from './csi-world.ts';

const { os } = vi.hoisted(() => ({ os: { world: undefined as CsiWorld | undefined } }));

vi.mock('node:fs/promises', async (original) => {
  const names = Object.keys(await original<object>());
  const faked = names.map((name) => [
    name,
    (path: string, ...rest: never[]): unknown => {
      const fake = os.world?.machine.fs[name];
      if (fake === undefined) throw new Error(`nobody said what ${name} ${path} does`);
      return fake(path, ...rest);
    },
  ]);
  return Object.fromEntries(faked) as object;
});
vi.mock('node:child_process', async (original) => ({
  ...(await original<object>()),
  execFile: (...args: Parameters<CsiWorld['machine']['processes']['execFile']>) =>
    os.world?.machine.processes.execFile(...args),
  spawn: () => os.world?.machine.processes.spawn(),
}));

async function play(mode: DiskMode, { events, choices }: Story): Promise<CsiWorld> {
  const world = new CsiWorld({ mode, choices });
  os.world = world;
  const rules = new Rules(world, mode);
  await world.start();
  for (const each of events) await happen(world, rules, each);
  await world.steps.run();
  world.steps.calm();
  await world.steps.run();
  await rules.atRest();
  expect(rules.broken.slice(0, 1)).toEqual([]);
  await recover(world, rules);
  expect(rules.broken.slice(0, 1)).toEqual([]);
  return world;
}

async function happen(world: CsiWorld, rules: Rules, each: Event): Promise<void> {
  if (each.do === 'call') {
    const { name: call, node: who, old, alone, strike: struck } = each;
    if (world.off.has(who) && isOfNode(call)) return;
    const called = rules.call(call, who, world.contexts.get(who)?.at(-1 - old), struck);
    if (alone) await world.settle(called);
  } else if (each.do === 'race') await runRace(world, rules, each);
  else if (each.do === 'run') await world.steps.run(each.steps);
  else if (each.do === 'kill') world.kill(each.who);
  else if (each.do === 'wait') world.array.clockNs += each.ms * 1e6;
  else if (each.do === 'taint') {
    world.taints.set(each.node, ['node.kubernetes.io/out-of-service']);
  } else await runErrand(world, rules, each);
}

async function runRace(world: CsiWorld, rules: Rules, race: Race): Promise<void> {
  for (const each of race.before) await runErrand(world, rules, { do: each, node: 'a' });
  if (!world.off.has('a')) {
    void rules.call(race.name, 'a', world.latest('a'), race.strike);
  }
  await world.steps.run();
  for (const each of race.meanwhile) await runErrand(world, rules, each);
  world.steps.resume();
  await world.steps.run();
}

async function runErrand(world: CsiWorld, rules: Rules, errand: Errand): Promise<void> {
  const { do: what, node: who } = errand;
  if (what === 'crash' || what === 'boot') return void (await world[what](who));
  const names = what === 'attach' ? attaching : what === 'detach' ? detaching : [what];
  for (const each of names) {
    if (world.off.has(who) && isOfNode(each)) continue;
    await world.settle(rules.call(each, who));
  }
}

const attaching = ['publish', 'stage', 'nodePublish'] as const;
const detaching = ['nodeUnpublish', 'unstage', 'unpublish'] as const;
const isOfNode = (name: CallName): boolean => name.startsWith('node') || name.endsWith('stage');

/** Whatever happened: once all are there again, the volume can be taken away and given anew. */
async function recover(world: CsiWorld, rules: Rules): Promise<void> {
  const ask = async (name: CallName, who: NodeName): Promise<Outcome> => {
    const first = await world.settle(rules.call(name, who));
    const second = await world.settle(rules.call(name, who));
    expect(second, `${name} ${who}, repeated`).toEqual(first);
    return first;
  };
  const must = async (name: CallName, who: NodeName): Promise<void> => {
    expect(await ask(name, who), `${name} ${who}`).toHaveProperty('answer');
  };
  for (const who of nodes) expect(await world.boot(who)).toBe(true);
  await must('create', 'a');
  for (const who of nodes) {
    for (const name of detaching) await must(name, who);
  }
  world.array.clockNs += 60e9;
  await must('publish', 'b');
  await must('stage', 'b');
  await must('nodePublish', 'b');
  const [path, ...more] = world.paths.filter(({ state, claimed }) => state === 'open' && claimed);
  expect(path).toMatchObject({ node: 'b' });
  expect(more).toEqual([]);
  for (const name of [...detaching, 'delete', 'create', 'publish'] as const) await must(name, 'b');
  // The array un-cuts nothing, so the next volume of the name goes on counting.
  expect(Number(world.latest('b')?.['generation'])).toBeGreaterThan(path?.generation ?? Infinity);
}

/** Each call with what Kubernetes does before it. */
const inOrder: readonly Pick<Race, 'name' | 'before'>[] = [
  { name: 'publish', before: [] },
  { name: 'stage', before: ['publish'] },
  { name: 'nodePublish', before: ['publish', 'stage'] },
  { name: 'unstage', before: ['publish', 'stage'] },
  { name: 'unpublish', before: ['publish', 'stage'] },
];
const meanwhiles: readonly (readonly Errand[])[] = [
  [
    { do: 'detach', node: 'a' },
    { do: 'attach', node: 'a' },
  ],
  [
    { do: 'detach', node: 'a' },
    { do: 'attach', node: 'b' },
  ],
];

/** Strikes a call between any two of its steps, and lets the volume move on. */
async function strikeEverywhere(
  mode: DiskMode,
  kind: Strike['kind'],
  race: CallRace,
): Promise<void> {
  for (let after = 0; ; after += 1) {
    const story: Race = { do: 'race', ...race, strike: { after, kind } };
    try {
      const { steps } = await play(mode, {
        events: [story, { do: 'attach', node: 'b' }],
        choices: [],
      });
      if (steps.struck === 0) return;
    } catch (cause) {
      throw new Error(`hurt by ${JSON.stringify(story)}`, { cause });
    }
  }
}
type CallRace = Pick<Race, 'name' | 'before' | 'meanwhile'>;
const races = inOrder.flatMap((call) => meanwhiles.map((meanwhile) => ({ ...call, meanwhile })));

/** More for a longer search. */
const numRuns = Number(process.env['FORCEDETACH_RUNS'] ?? 200);
/** A busy machine takes its time. */
describe.each(diskModes.filter((mode) => mode !== 'shared-file'))('%s', (mode) => {
  test.each(['pause', 'kill', 'fail'] as const)('%s between any two steps', async (kind) => {
    for (const race of races) await strikeEverywhere(mode, kind, race);
  });

  test('whatever is called, in whatever order, whoever dies: the rules hold', async () => {
    await fc.assert(
      fc.asyncProperty(story, async (each) => void (await play(mode, each))),
      { numRuns, seed: 1 },
    );
  });
});

test('the same story gives the same run', async () => {
  const [each] = fc.sample(story, { numRuns: 1, seed: 7 });
  if (each === undefined) throw new Error('no story');
  const first = await play('fenced', each);
  const second = await play('fenced', each);
  expect(first.steps.trace.length).toBeGreaterThan(100);
  expect(second.steps.trace).toEqual(first.steps.trace);
});
