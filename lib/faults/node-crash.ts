/**
 * Node crash: every process of the victim and all that it had not synced are gone at once.
 *
 * Killing a kind node alone loses nothing: its mount namespace dies and ext4 unmounts cleanly. So
 * its paths to the disk are cut from outside first. What is lost is the client's cache, and of what
 * the disk had not flushed as much as `powerLoss` says. It is not frozen on the way: before the cut
 * a freeze waits until each flush in flight has ended, and saves what a crash would lose; after it
 * the freezer may give up on processes that die of the cut.
 */
import type { Machine } from '../cluster/machine-port.ts';
import { certify, onEach, stepOf, type ContextOf, type FaultOf, type Probe } from './fault.ts';
import { nodeCrash as kind } from './kinds/node-crash.ts';
import type { nodeReboot } from './kinds/node-reboot.ts';
import { isIn, proven } from './probes.ts';

const { name, leastMs } = kind;

const lost = {
  keeps: 'what the disk had acknowledged is kept',
  drops: 'what it had not flushed is dropped',
  reorders: 'of what it had not flushed some is kept, out of order',
  tears: 'what it had not flushed is dropped, but for half a write',
} as const;

/** Content that the crash canaries get right before the crash; disk-certificates.ts looks for it on the image. */
export const canaryContent = 'written right before the crash';

export async function crash(
  { name }: typeof kind | typeof nodeReboot,
  context: ContextOf<typeof kind>,
): Promise<void> {
  const { testbed, recorder, victim, volumes } = context;
  const { node } = victim;
  const machine = testbed.machine(node);
  const step = stepOf(name, context);
  await certify(recorder, name, 'before', [isIn(machine, 'running', 'the victim runs')]);
  await onEach(volumes, ({ disk }) => disk.writeSyncedCanary(node, canaryContent));
  step('begin');
  // A database that dies of the cut must not be reported: its volume would be detached by itself.
  await machine.stall('kubelet');
  const cuts = await onEach(volumes, async ({ disk, recorder, scenario }) => {
    const cut = await disk.losePower(node, canaryContent);
    const claim = `the disk was cut off before the kill; ${lost[scenario.powerLoss]}`;
    return () => certify(recorder, name, 'during', [proven(claim, cut)]);
  });
  await machine.kill();
  step('done');
  await onEach(volumes, ({ disk }) => disk.releaseDead(node));
  for (const certifyCut of cuts) await certifyCut();
  await certify(recorder, name, 'during', [isDown(machine)]);
}

export const isDown = (machine: Machine): Probe => isIn(machine, 'stopped', 'the victim is down');

export const nodeCrash: FaultOf<typeof kind> = {
  name,
  leastMs,

  inject: (context) => crash(kind, context),

  holds: ({ testbed, victim }) => [isDown(testbed.machine(victim.node))],

  async heal(context): Promise<void> {
    const { testbed, recorder, victim, scenario } = context;
    const machine = testbed.machine(victim.node);
    const step = stepOf(name, context);
    if (!scenario.reboot) {
      step('healed', 'left down, as the scenario says; the clean-up starts it');
      return;
    }
    step('heal');
    await machine.start();
    step('healed');
    await certify(recorder, name, 'after', [isIn(machine, 'running', 'the victim runs again')]);
  },
};
