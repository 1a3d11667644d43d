/** The paths that need an uncertain attachment, each on the disk that permits most. */
import { combined } from '../scenario/index.ts';
import { expect, test } from 'vitest';
import { notices } from '../sim/sightings.ts';
import { modelScenario } from '../../test/support/model-run.ts';
import type { ScenarioInput } from '../scenario/scenario.ts';
import { knownPaths } from './judge.ts';
import { play } from './play.ts';

type Fields = Partial<ScenarioInput>;

const uncertain = ['P5', 'R6', 'R7', 'R11'];
const seeds = Array.from({ length: 12 }, (_, n) => String(n));

/** Which of those paths are seen with any of the seeds. */
function seen(fields: Fields): string[] {
  const outcomes = seeds.map((seed) => play(modelScenario(fields), seed));
  return knownPaths
    .filter(({ name, shows }) => uncertain.includes(name) && outcomes.some(shows))
    .map(({ name }) => name);
}

const unfenced = { disk: { mode: 'unfenced', attachWhileBusy: 'granted' } } as const;

/** An attacher that is away for longer than the controller manager waits for it. */
const timedOut: Fields = {
  remedy: { kind: 'force-delete' },
  also: { kind: 'attacher-down', at: 'pod-gone', for: 600_000 },
  watch: { horizon: 1_800_000 },
};
/** The pod GC has removed the pod by half of the wait, which would go on for three minutes. */
const nodeless: Fields = { remedy: { kind: 'delete-node' }, also: { kind: 'controller-restart' } };
/** Killed as soon as the runner can after the detach began. */
const cutShort: Fields = {
  remedy: { kind: 'force-delete' },
  also: { kind: 'controller-restart', at: 'force-detach' },
};

test.each<[string, Fields, string[]]>([
  ['a detach that timed out', timedOut, ['P5', 'R6']],
  ['the Node gone, then a new leader', nodeless, ['R7']],
])('on an unfenced disk that grants the attach: %s', (_, fields, paths) => {
  expect(seen(combined(unfenced, fields))).toEqual(paths);
});

test.each<[string, Fields]>([
  ['a detach that timed out', timedOut],
  ['the Node gone, then a new leader', nodeless],
  ['a leader that ends in the middle of a detach', cutShort],
])('declared for many nodes it is another path: %s', (_, fields) => {
  expect(seen(combined(unfenced, fields, { volume: { accessMode: 'ReadWriteMany' } }))).toEqual([]);
});

test('R11: a leader that ends between the list and the attachment', () => {
  const plain: Fields = { ...unfenced, remedy: { kind: 'force-delete' } };
  const shownOn = (fields: Fields, seed: string): string[] => {
    const { trace, victim, faultAtUs } = play(modelScenario(plain), seed);
    const unlisted = trace.codes.findIndex(
      (code, at) => code === notices.unlisted && trace.nodes[at] === victim,
    );
    const unlistedMs = Math.ceil(((trace.timesUs[unlisted] ?? 0) - faultAtUs) / 1000);
    // The runner looks, proves and kills: 0.6 to 3 s.
    const also = { kind: 'controller-restart', at: unlistedMs - 1500 } as const;
    const outcome = play(modelScenario(combined(plain, { also }, fields)), seed);
    return knownPaths.filter(({ shows }) => shows(outcome)).map(({ name }) => name);
  };
  const hits = Array.from({ length: 100 }, (_, n) => String(n)).filter((seed) =>
    shownOn({}, seed).includes('R11'),
  );
  expect(hits).not.toEqual([]);
  for (const seed of hits)
    expect(shownOn({ disk: { attachWhileBusy: 'refused' } }, seed)).toEqual([]);
});

test('the next node has the volume before the runner can stop the attacher', () => {
  const scenario = modelScenario(
    combined(unfenced, {
      remedy: { kind: 'force-delete' },
      also: { kind: 'attacher-down', at: 'force-detach', for: 3_600_000 },
    }),
  );
  const came = seeds.filter((seed) => play(scenario, seed).secondMountUs !== undefined);
  expect(came).not.toEqual([]);
});

test('a disk that counts its attachments refuses the next node: no such path', () => {
  expect(seen(combined({ disk: { mode: 'unfenced' } }, nodeless))).toEqual([]);
});
