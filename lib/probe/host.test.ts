/** Scripts for a node's host: a shell reads them, and nothing is cut before both heals are proven. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import {
  armingScript,
  bootOf,
  checkScript,
  collectScript,
  cutArming,
  healArming,
  latestHealMs,
  tidyArming,
} from './node.ts';
import { cutWays } from './plan.ts';

const run = 'forcedetach-probe-0a1b2c3d';
const scriptsOf = (name: string): string[] => [
  ...cutWays.flatMap((way) => [
    armingScript(healArming(way, name, 60_000)),
    armingScript(cutArming(way, name)),
    checkScript(way, name),
  ]),
  ...[armingScript(tidyArming(name, 900_000)), collectScript(name)],
];

test.each(scriptsOf(run))('a shell can read %#', (script) => {
  expect(() => execFileSync('sh', ['-n'], { input: script })).not.toThrow();
});

test('the second heal comes after the first, and both before anybody gives up', () => {
  const script = armingScript(healArming('network', run, 60_000));
  expect(script).toContain('--on-active=60s');
  expect(script).toContain('sleep 90');
  expect(latestHealMs(60_000)).toBeGreaterThan(90_000);
});

test('a cut asks for both heals first', () => {
  const script = armingScript(cutArming('network', run));
  const [heal, belt, rules] = [`${run}-heal.timer`, `${run}-belt.service`, 'nft -f'].map((word) =>
    script.indexOf(word),
  );
  expect(heal).toBeGreaterThan(0);
  expect(belt).toBeGreaterThan(heal ?? 0);
  expect(rules).toBeGreaterThan(belt ?? 0);
  expect(script.slice(0, heal)).toContain('set -eu');
});

test('who arms and who checks says which boot of the host it is', () => {
  const scripts = [armingScript(healArming('network', run, 60_000)), checkScript('network', run)];
  for (const script of scripts) {
    const line = /echo "boot [^;\n]*"/.exec(script)?.[0] ?? 'false';
    const said = execFileSync('sh', ['-c', line], { encoding: 'utf8' }).split('\n');
    expect(bootOf(said)).toMatch(/^[0-9a-f-]{36}$/);
  }
  expect(bootOf(['armed 60'])).toBeUndefined();
});

test('all that it names on the host is its own', () => {
  const paths = scriptsOf(run).flatMap(
    (script) => script.match(/\/(run|var|etc|tmp)\/[^\s;"]+/g) ?? [],
  );
  expect(paths.length).toBeGreaterThan(10);
  for (const path of paths) expect(path).toMatch(new RegExp(`^/(run|var/tmp)/${run}(/|$)`));
});

test('two runs share no name: what a killed one left is in nobody’s way', () => {
  const namesOf = (name: string): string[] =>
    scriptsOf(name).flatMap(
      (script) => script.match(/forcedetach[-_]probe[-_]\w+[-_/.\w]*/g) ?? [],
    );
  const others = new Set(namesOf('forcedetach-probe-ffffffff'));
  expect(namesOf(run).filter((name) => others.has(name))).toEqual([]);
  expect(others.size).toBeGreaterThan(5);
});
