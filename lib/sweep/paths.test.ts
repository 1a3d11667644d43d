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
/** Killed within the tenths of a second in which the detach is under way. */
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

test('R11: a leader that ends while the storage still refuses the detach', () => {
  expect(
    seen(combined({ disk: { mode: 'pending-while-busy', attachWhileBusy: 'granted' } }, cutShort)),
  ).toContain('R11');
});

test('R11: a leader that ends between the list and the attachment, to the hundredth', () => {
  const fields: Fields = { ...unfenced, remedy: { kind: 'force-delete' } };
  const { trace, victim, faultAtUs } = play(modelScenario(fields), '1');
  const unlisted = trace.codes.findIndex(
    (code, at) => code === notices.unlisted && trace.nodes[at] === victim,
  );
  const unlistedMs = Math.ceil(((trace.timesUs[unlisted] ?? 0) - faultAtUs) / 1000);
  const ended: Fields = { also: { kind: 'controller-restart', at: unlistedMs + 10 } };
  const outcome = play(modelScenario(combined(fields, ended)), '1');
  const found = knownPaths.filter(({ shows }) => shows(outcome)).map(({ name }) => name);
  expect(found).toContain('R11');
  const refused = play(
    modelScenario(combined(fields, ended, { disk: { attachWhileBusy: 'refused' } })),
    '1',
  );
  expect(knownPaths.filter(({ shows }) => shows(refused)).map(({ name }) => name)).toEqual([]);
});

test('a disk that counts its attachments refuses the next node: no such path', () => {
  expect(seen(combined({ disk: { mode: 'unfenced' } }, nodeless))).toEqual([]);
});
