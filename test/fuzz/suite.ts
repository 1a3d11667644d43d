/** The fuzz suite: a plan that the seed alone decides, spread evenly, and what became of each case. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomStream } from '../../lib/core/random.ts';
import { makeBases, scheduleFile, type Bases } from './bases.ts';
import { shuffled, type FuzzCase, type Surface } from './case.ts';
import { commandNames, surfacesOf } from './commands.ts';
import { Runner, type Result } from './runner.ts';

export interface FuzzOptions {
  /** Draws every case; the same one draws the same. */
  readonly seed: string;
  readonly cases: number;
  /** Each so-many-th case has a process of its own. */
  readonly spawnEvery: number;
  readonly onProgress: (line: string) => void;
}

export type Fault = 'stackTrace' | 'hang' | 'wrongCode' | 'wrongForm' | 'obeyed' | 'polluted';

export interface Failure
  extends Pick<FuzzCase, 'number' | 'command' | 'surface' | 'field' | 'how'> {
  readonly fault: Fault;
  readonly args: readonly string[];
  readonly code: number | undefined;
  readonly said: string;
}

export interface FuzzResult {
  readonly cases: number;
  /** Cases of each command, and of each of its surfaces. */
  readonly spread: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Different fields that were made strange, of those there are. */
  readonly fields: { readonly met: number; readonly of: number };
  readonly spawned: number;
  readonly seconds: number;
  readonly failures: readonly Failure[];
}

export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const startedMs = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-fuzz-'));
  await using runner = new Runner(folder);
  try {
    const bases = await makeBases(runner, join(folder, 'bases'));
    const surfaces = await allSurfaces(runner, bases);
    const told = await runAll(options, surfaces, runner, folder);
    return { ...told, seconds: Math.round((performance.now() - startedMs) / 1000) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Words before the help that names the flags, where it is not the command's own. */
const subcommands: Readonly<Record<string, readonly string[]>> = {
  replay: [scheduleFile],
};

type Surfaces = ReadonlyMap<string, readonly Surface[]>;

async function allSurfaces(runner: Runner, bases: Bases): Promise<Surfaces> {
  const all = new Map<string, readonly Surface[]>();
  for (const command of commandNames) {
    const args = [...(subcommands[command] ?? []), '--help'];
    const help = await runner.run({ command, args, number: -1 });
    all.set(command, surfacesOf(command, help?.stdout ?? '', bases));
  }
  return all;
}

/** Commands take turns, then each one's surfaces, then each one's fields in an order of its own. */
export function placeOf(
  index: number,
  surfaces: Surfaces,
  seed: string,
): { readonly command: string; readonly surface: Surface; readonly field: string } {
  const commands = [...surfaces.keys()];
  const command = commands[index % commands.length] ?? '';
  const own = surfaces.get(command) ?? [];
  const turn = Math.floor(index / commands.length);
  const surface = own[turn % own.length];
  if (surface === undefined) throw new Error(`${command} has no surface`);
  const fields = shuffled(randomStream(`${seed}/${command}/${surface.name}`), surface.fields);
  const field = fields[Math.floor(turn / own.length) % fields.length] ?? '';
  return { command, surface, field };
}

async function runAll(
  { seed, cases, spawnEvery, onProgress }: FuzzOptions,
  surfaces: Surfaces,
  runner: Runner,
  folder: string,
): Promise<Omit<FuzzResult, 'seconds'>> {
  const spread: Record<string, Record<string, number>> = {};
  const met = new Set<string>();
  const failures: Failure[] = [];
  let spawned = 0;
  for (let number = 0; number < cases; number++) {
    const { command, surface, field } = placeOf(number, surfaces, seed);
    const own = join(folder, `case-${number}`);
    mkdirSync(own);
    const draft = surface.make(field, randomStream(`${seed}/${number}`), own);
    const drawn: FuzzCase = { number, command, surface: surface.name, field, ...draft };
    const isSpawned = number % spawnEvery === spawnEvery - 1;
    if (isSpawned) spawned += 1;
    const result = await (isSpawned ? runner.spawned(drawn) : runner.run(drawn));
    failures.push(...failuresOf(drawn, result));
    (spread[command] ??= {})[surface.name] = (spread[command]?.[surface.name] ?? 0) + 1;
    met.add(`${command}/${surface.name}/${field}`);
    rmSync(own, { recursive: true, force: true });
    if (number % 100 === 99) onProgress(`${number + 1} cases, ${failures.length} failures`);
  }
  const of = [...surfaces.values()].flat().reduce((sum, { fields }) => sum + fields.length, 0);
  return { cases, spread, fields: { met: met.size, of }, spawned, failures };
}

/** A frame of a stack, wherever it stands. */
const stackFrame = /^\s+at .+:\d+:\d+\)?$/m;
/** `CODE: what`, as every error of ours begins. */
const ownForm = /^[A-Z][A-Z0-9_]+: /m;
// oxlint-disable-next-line no-control-regex -- what a terminal would obey
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

/** What is wrong with how a case ended. */
export function failuresOf(drawn: FuzzCase, result: Result): Failure[] {
  const { number, command, surface, field, how, args, allowed } = drawn;
  const about = { number, command, surface, field, how, args, code: result?.code };
  const said = result === undefined ? '' : result.stderr.slice(-600);
  const fail = (fault: Fault): Failure => ({ ...about, said, fault });
  if (result === undefined) return [fail('hang')];
  const { code, stdout, stderr } = result;
  const faults: Fault[] = [];
  if (stackFrame.test(stderr) || stackFrame.test(stdout)) faults.push('stackTrace');
  if (code === undefined || !allowed.includes(code)) faults.push('wrongCode');
  if (code === 2 && !ownForm.test(stderr)) faults.push('wrongForm');
  if ((result.polluted ?? []).length > 0) faults.push('polluted');
  if (obeyed.test(stderr) || obeyed.test(stdout)) faults.push('obeyed');
  return faults.map(fail);
}
