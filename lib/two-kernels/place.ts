/**
 * Names and loop devices of one run of the experiment. The name of its first container claims them,
 * since the engine refuses a second one; what a dead run left there is removed first.
 */
import { rm } from 'node:fs/promises';
import { commandError, inspect, tryDocker } from '../cluster/kind/engine.ts';
import { label } from '../cluster/kind/labels.ts';
import { releaseLoops } from '../cluster/kind/loops.ts';
import { currentOwner, decodeOwner, encodeOwner, ownerState } from '../cluster/kind/owner.ts';
import { InfrastructureError } from '../errors.ts';

export interface Place {
  readonly containers: Readonly<Record<'lab' | 'array' | 'victim' | 'successor', string>>;
  readonly loops: Readonly<Record<'victim' | 'successor' | 'audit', number>>;
  /** `--label k=v …` of every container. */
  readonly labels: readonly string[];
  /** On the host: volumes, copies, the array's socket. */
  readonly folder: string;
}

/** So many runs fit side by side. */
const placeCount = 16;
/** Above all leases of clusters (lib/cluster/kind/lease.ts). */
const firstLoop = 4096;
const loopsPerPlace = 8;

/** Claims the first free place: `argv` starts its lab. Throws InfrastructureError `NO_PLACE`. */
export async function claimPlace(
  folder: string,
  tools: string,
  argv: (place: Place) => readonly string[],
): Promise<Place> {
  for (let index = 0; index < placeCount; index += 1) {
    const place = placeAt(index, folder);
    if (!(await clearDead(place, tools))) continue;
    const started = await tryDocker(argv(place));
    if (started.exitCode === 0) return place;
    if (!started.stderr.includes('already in use')) throw commandError(['docker', 'run'], started);
  }
  throw new InfrastructureError('NO_PLACE', `${placeCount} runs of two-kernels are under way`);
}

/** Containers, loop devices and folder of a run are gone when this resolves. */
export async function releasePlace(place: Place, tools: string): Promise<void> {
  await tryDocker(['rm', '--force', '--volumes', ...Object.values(place.containers)]);
  const loops = { first: place.loops.victim, count: loopsPerPlace };
  await releaseLoops({ loops }, place.folder, tools);
  await rm(place.folder, { recursive: true, force: true });
}

function placeAt(index: number, folder: string): Place {
  const name = (what: string): string => `fd-two-kernels-${index}-${what}`;
  const [lab, array, victim, successor] = [
    name('lab'),
    name('array'),
    name('victim'),
    name('successor'),
  ];
  const loop = firstLoop + index * loopsPerPlace;
  const owner = `${label.owner}=${encodeOwner(currentOwner())}`;
  return {
    containers: { lab, array, victim, successor },
    loops: { victim: loop, successor: loop + 1, audit: loop + 2 },
    labels: ['--label', owner, '--label', `${label.state}=${folder}`],
    folder,
  };
}

interface Inspected {
  readonly Config: { readonly Labels: Readonly<Record<string, string>> | null };
}

/** False where somebody who lives holds the place, or who can't be seen from here. */
async function clearDead(place: Place, tools: string): Promise<boolean> {
  const [found] = (await inspect('container', [place.containers.lab])) as Inspected[];
  if (found === undefined) return true;
  const { [label.owner]: owner, [label.state]: folder } = found.Config.Labels ?? {};
  const holder = decodeOwner(owner ?? '');
  if (folder === undefined || holder === undefined || ownerState(holder) !== 'dead') return false;
  await releasePlace({ ...place, folder }, tools);
  return true;
}
