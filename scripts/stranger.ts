/**
 * `npx node scripts/stranger.ts up|down [NAME] [short] [zones] [bare]`: a kind cluster of somebody else's,
 * with our driver under foreign names and dynamic classes, to try the probe on. It bears none of our labels.
 * `short`: lost nodes are given up after 20 s, volumes detached by force after 60 s. `zones`: three workers in
 * two zones. `bare`: without a driver, for one that you bring (examples/ember-csi).
 */
import { makeStranger, removeStranger, strangerKubeconfig } from '../test/support/stranger.ts';
import { ensureKind, ensureImages } from '../lib/kind/images/ensure.ts';
import { planImages } from '../lib/kind/images/image-plan.ts';
import { clusterTimers, stockClusterTimers } from '../lib/run/ports/limits.ts';
import { kubernetesDefault } from '../lib/core/kubernetes.ts';

const [, , verb, name = 'acme', ...words] = process.argv;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function images(): Promise<Parameters<typeof makeStranger>[0]['images']> {
  const wish = { source: 'built', kubernetes: kubernetesDefault, provisioner: true } as const;
  const { provisioner = '', ...built } = await ensureImages({ ...wish, onProgress: say });
  return { ...built, provisioner };
}

if (verb === 'up') {
  const timers = words.includes('short')
    ? clusterTimers({ grace: 20_000, forceDetachAfter: 60_000 })
    : stockClusterTimers;
  const inZones = words.includes('zones');
  const isBare = words.includes('bare');
  const kind = await ensureKind();
  await makeStranger({ name, images: await images(), kind, timers, inZones, isBare, say });
  process.stdout.write(`${strangerKubeconfig(name)}\n`);
} else if (verb === 'down') {
  // Only what releases loop devices.
  const { tools } = planImages({ source: 'built', kubernetes: kubernetesDefault }).images;
  for (const left of await removeStranger(name, tools)) say(`stays: ${left}`);
} else {
  say('npx node scripts/stranger.ts up|down [NAME] [short] [zones] [bare]');
  process.exitCode = 2;
}
