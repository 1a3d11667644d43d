/** The array's own modes, as the model plays them, against each stored trial: none is kinder than what was measured. */
import { expect, test } from 'vitest';
import { linesOf } from '../../lib/batch/measurements.ts';
import { combined } from '../../lib/scenario/index.ts';
import { transportOf, transports } from '../../lib/scenario/transports/index.ts';
import type { Revocation, TransportDeclaration } from '../../lib/scenario/transports/kind.ts';
import { Volume, type Path } from '../../lib/sim/disk/volume.ts';
import { Kernel } from '../../lib/sim/kernel.ts';
import { type Cell, cells } from '../../research/real-storage/cells.ts';
import { type TrialLine, trialSchema, userInitiator } from '../../research/real-storage/result.ts';
import { type Ends, endsOf } from '../../research/real-storage/summary.ts';
import { modelScenario, runOnModel, shortTimers } from '../support/model-run.ts';

type Way = Omit<Revocation, 'does'>;

/** A cut as the model has it: refused, or held for ever. */
const revoke = (volume: Volume, { worth, victim }: Way): void => {
  if (worth === 'fenced') volume.cut(volume.pathsOf('a'), victim === 'hangs');
};

/** Tells what becomes of what is asked. */
function client(path: Path): { readonly ask: () => void; readonly ends: () => Ends } {
  const answers: (boolean | undefined)[] = [];
  return {
    ask() {
      const place = answers.push(undefined) - 1;
      path.submit((passes) => (answers[place] = passes));
    },
    ends() {
      if (answers.includes(true)) return 'lands';
      return answers.includes(undefined) ? 'hangs' : 'error';
    },
  };
}

/** The cell's story on a volume of the model. */
function playedOn(volume: Volume, cell: Cell, way: Way): Ends {
  const path = volume.publish('a');
  const { ask, ends } = client(path);
  if (cell.victim === 'cut-off') {
    volume.setLink('a', 'stall');
    if (cell.load === 'writing') ask();
  }
  if (cell.revoke !== 'after') revoke(volume, way);
  volume.publish('b');
  if (cell.revoke === 'after') revoke(volume, way);
  volume.setLink('a', 'pass');
  if (cell.after !== 'reboot') {
    ask();
    return ends();
  }
  // The model stages no path that was cut; a client of another name is another path.
  if (path.cut && way.endsAtConnect !== true) return 'nothing';
  volume.unpublish('a');
  const restarted = client(volume.publish('a'));
  restarted.ask();
  return restarted.ends();
}

/** Nobody revokes: with RBD the lock goes to and fro between two living nodes, and both write. */
const none: Way = { worth: 'unfenced', victim: 'goes on' };

function wayOf({ scenario }: TrialLine): Way | undefined {
  const name = transports.find((each) => each === scenario.transport);
  if (name === undefined) return undefined;
  const { fencesSilent, revocations }: TransportDeclaration = transportOf[name];
  const way = scenario.revocation === 'none' ? none : revocations[scenario.revocation];
  const isFenced = fencesSilent === true && cells[scenario.cell].victim !== 'living';
  return isFenced && way === none ? revocations.cut : way;
}

/** No run gives a path back: a node that gets the volume again gets a path of its own. */
const asked = linesOf(trialSchema).flatMap((line) => {
  const { after }: Cell = cells[line.scenario.cell];
  const way = after === 'give-back' ? undefined : wayOf(line);
  return way === undefined ? [] : [{ line, way }];
});

const kindestFirst: readonly Ends[] = ['nothing', 'error', 'hangs', 'lands'];

test('none of the array’s modes is kinder than a trial of what it stands for', () => {
  const kinder = asked.filter(({ line: { scenario, outcome }, way }) => {
    const measured = endsOf(scenario.cell, outcome);
    const modelled = playedOn(new Volume({ clock: new Kernel() }), cells[scenario.cell], way);
    // What cannot even connect, and what is refused then, both land nothing.
    if (modelled === 'nothing') return measured === 'lands' || measured === 'hangs';
    return kindestFirst.indexOf(modelled) < kindestFirst.indexOf(measured);
  });
  expect(kinder.map(({ line }) => `${line.scenario.initiator}: ${line.id}`)).toEqual([]);
  expect(asked.length).toBeGreaterThan(200);
});

test('what a fenced node is told on the array is what it was told by the protocol', () => {
  const differs = asked.filter(({ line: { scenario, outcome }, way }) => {
    if (way.worth === 'unfenced' || scenario.initiator !== userInitiator) return false;
    if (cells[scenario.cell].after === 'reboot') return false;
    const modelled = playedOn(new Volume({ clock: new Kernel() }), cells[scenario.cell], way);
    return modelled !== endsOf(scenario.cell, outcome);
  });
  expect(differs.map(({ line }) => line.id)).toEqual([]);
});

test('two living nodes that share RBD’s lock are unfenced, a silent one is fenced', () => {
  const shared = asked.filter(
    ({ line: { scenario } }) => scenario.transport === 'rbd' && scenario.revocation === 'none',
  );
  const byVictim = Map.groupBy(shared, ({ line }) => cells[line.scenario.cell].victim);
  const endsIn = (victim: Cell['victim']): Ends[] => [
    ...new Set(byVictim.get(victim)?.map(({ line }) => endsOf(line.scenario.cell, line.outcome))),
  ];
  expect([endsIn('living'), endsIn('cut-off')]).toEqual([['lands'], ['error']]);
});

test.each(['survives', 'stalls'] as const)(
  'a run whose cut hangs (link %s): the successor is alone, and the victim keeps its mount',
  async (link) => {
    const hangs = {
      fault: { kind: 'network-partition', link },
      remedy: { kind: 'force-delete' },
      disk: { mode: 'fenced', revocation: 'hang' },
    } as const;
    const { verdict } = await runOnModel(modelScenario(combined(shortTimers, hangs)));
    expect(verdict).toMatchObject({ verdict: 'safe', exposure: { ms: 0, bytesVictim: 0 } });
    // As on a cluster: at most one node has the volume of a database that is back.
    expect(verdict.availability.recovered).toBe(false);
  },
);
