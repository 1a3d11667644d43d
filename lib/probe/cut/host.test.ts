/** Scripts for a node's host: a shell reads them, and nothing is cut before both heals are proven. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { armScript, checkScript, collectScript, cutScript, cutWays, latestHealMs } from './host.ts';

const namespace = 'forcedetach-probe-0a1b2c3d';

test.each(
  cutWays.flatMap((way) => [
    armScript(way, namespace, 60_000),
    cutScript(way),
    checkScript(way),
    collectScript(namespace),
  ]),
)('a shell can read %#', (script) => {
  expect(() => execFileSync('sh', ['-n'], { input: script })).not.toThrow();
});

test('the second heal comes after the first, and both before anybody gives up', () => {
  const script = armScript('network', namespace, 60_000);
  expect(script).toContain('--on-active=60s');
  expect(script).toContain('sleep 90');
  expect(latestHealMs(60_000)).toBeGreaterThan(90_000);
});

test('a cut asks for both heals first', () => {
  const script = cutScript('network');
  const [heal, belt, rules] = ['probe-heal.timer', 'probe-belt.service', 'nft -f'].map((word) =>
    script.indexOf(word),
  );
  expect(heal).toBeGreaterThan(0);
  expect(belt).toBeGreaterThan(heal ?? 0);
  expect(rules).toBeGreaterThan(belt ?? 0);
  expect(script.slice(0, heal)).toContain('set -eu');
});

test('all that it names on the host is its own', () => {
  const paths = cutWays
    .flatMap((way) => [armScript(way, namespace, 60_000), cutScript(way), checkScript(way)])
    .concat(collectScript(namespace))
    .flatMap((script) => script.match(/\/(run|var|etc|tmp)\/[^\s;"]+/g) ?? []);
  expect(paths.length).toBeGreaterThan(10);
  for (const path of paths) expect(path).toMatch(/^\/(run|var\/tmp)\/forcedetach-probe-/);
});
