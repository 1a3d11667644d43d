/**
 * Node crash: every process of the victim and all that it had not synced are gone at once.
 *
 * Killing a kind node alone loses nothing: its mount namespace dies and ext4 unmounts cleanly. So
 * the victim is frozen, its paths to the disk are cut from outside, and only then it is killed. What
 * is lost is the client's cache, and of what the disk had not flushed as much as `powerLoss` says.
 */
import { certify, type Fault, type FaultContext } from './fault.ts';

const name = 'node-crash';

const lost = {
  keeps: 'what the disk had acknowledged is kept',
  drops: 'what it had not flushed is dropped',
  reorders: 'of what it had not flushed some is kept, out of order',
  tears: 'what it had not flushed is dropped, but for half a write',
} as const;

/** Content that the crash canaries get right before the crash; see verifying in crash-certificate.ts. */
export const canaryContent = 'written right before the crash';

export const nodeCrash: Fault = {
  name,

  async inject({ testbed, recorder, victim, powerLoss }: FaultContext): Promise<void> {
    const machine = testbed.machine(victim.node);
    await certify(recorder, name, 'before', [
      {
        claim: 'the victim runs',
        ask: async () => {
          const state = await machine.state();
          return { holds: state === 'running', evidence: `${victim.node} is ${state}` };
        },
      },
    ]);
    await testbed.disk.writeCanaries(victim.node, canaryContent);
    recorder.record({ type: 'action', actor: 'fault', name, step: 'begin', node: victim.node });
    await machine.freeze();
    const cut = await testbed.disk.losePower(victim.node);
    await machine.kill();
    recorder.record({ type: 'action', actor: 'fault', name, step: 'done', node: victim.node });
    await testbed.disk.releaseDead(victim.node);
    await certify(recorder, name, 'during', [
      {
        claim: `the disk was cut off before the kill; ${lost[powerLoss]}`,
        ask: () => Promise.resolve({ holds: cut.verified, evidence: cut.evidence }),
      },
      {
        claim: 'the victim is down',
        ask: async () => {
          const state = await machine.state();
          return { holds: state === 'stopped', evidence: `${victim.node} is ${state}` };
        },
      },
    ]);
  },

  async heal({ testbed, recorder, victim, reboot }: FaultContext): Promise<void> {
    const machine = testbed.machine(victim.node);
    if (!reboot) {
      recorder.record({
        type: 'action',
        actor: 'fault',
        name,
        step: 'healed',
        node: victim.node,
        detail: 'left down, as the scenario says; the clean-up starts it',
      });
      return;
    }
    recorder.record({ type: 'action', actor: 'fault', name, step: 'heal', node: victim.node });
    await machine.start();
    recorder.record({ type: 'action', actor: 'fault', name, step: 'healed', node: victim.node });
    await certify(recorder, name, 'after', [
      {
        claim: 'the victim runs again',
        ask: async () => {
          const state = await machine.state();
          return { holds: state === 'running', evidence: `${victim.node} is ${state}` };
        },
      },
    ]);
  },
};
