/** Flags of the fault, the remedy, and what runs under them. */
import { Option } from 'commander';
import { databaseOptions } from '../../database/flags.ts';
import { formatDuration } from '../../durations.ts';
import { selfFences, workloads, type Scenario } from '../../experiment/scenario.ts';
import { controlPlaneFaults } from '../../fault-kinds.ts';
import { remedyEvents, remedyKinds } from '../../remedy-kinds.ts';
import {
  moment,
  rate,
  rebootAt,
  remedyAt,
  seconds,
  share,
  untaintAt,
  wholeNumber,
} from './flag-values.ts';
import { choice, duration, positive, showMoment } from './option-kinds.ts';

export function scenarioOptions(base: Scenario): Option[] {
  return [
    ...remedyOptions(base),
    new Option('--rate <n>', 'acknowledged operations per second and client; max; 0: idle')
      .argParser(rate)
      .default(base.rate),
    new Option('--connections <n>', 'connections per client')
      .argParser(wholeNumber)
      .default(base.connections),
    ...databaseOptions(base),
    choice('--workload <kind>', 'what makes the database’s pod', workloads, base.workload),
    new Option(
      '--move-back',
      'drain the successor, and let the healed victim have it back',
    ).default(base.moveBack),
    new Option('--recreations <n>', 'delete the pod so often, on a node that is whole')
      .argParser(wholeNumber)
      .default(base.recreations),
    duration('--pre-stop <time>', 'a preStop hook sleeps so long', base.preStopS * 1000),
    choice(
      '--self-fence <how>',
      'lease: a sidecar ends the database once its node’s Lease is not renewed',
      selfFences,
      base.selfFence,
    ),
    positive(
      '--self-fence-after <time>',
      'so long after the last renewal that the sidecar saw',
      base.selfFenceAfterMs,
    ),
    ...faultOptions(base),
  ];
}

function remedyOptions(base: Scenario): Option[] {
  const when = `${remedyEvents.join(', ')}, or so long after the fault (400s)`;
  const untaintWhen = 'end, heal, kept (until the convergence bound), or so long after the remedy';
  return [
    choice('--remedy <kind>', 'what removes the old pod', remedyKinds, base.remedy),
    new Option('--remedy-at <when>', when)
      .argParser(remedyAt)
      .default(base.remedyAt, showMoment(base.remedyAt)),
    new Option('--untaint-at <when>', `when the out-of-service taint goes: ${untaintWhen}`)
      .argParser(untaintAt)
      .default(base.untaintAt, showMoment(base.untaintAt)),
    new Option('--termination-grace <time>', 'terminationGracePeriodSeconds of the pod')
      .argParser(seconds)
      .default(base.terminationGraceS, formatDuration(base.terminationGraceS * 1000)),
    new Option('--pod-finalizer', 'the pod has a finalizer of its own').default(base.podFinalizer),
    choice(
      '--force-detach <how>',
      'off: kube-controller-manager --disable-force-detach-on-timeout',
      ['on', 'off'],
      base.forceDetach,
    ),
  ];
}

function faultOptions(base: Scenario): Option[] {
  return [
    new Option('--reboot-at <when>', 'node-reboot: force-detach, or so long after the fault')
      .argParser(rebootAt)
      .default(base.rebootAt, showMoment(base.rebootAt)),
    new Option('--cpu-share <n>', 'cpu-starvation: what is left, of one CPU')
      .argParser(share)
      .default(base.cpuShare),
    positive('--flap-down <time>', 'flapping-partition: off the network so long', base.flapDownMs),
    positive('--flap-up <time>', 'flapping-partition: then on it so long', base.flapUpMs),
    new Option('--server-kills <n>', 'kill the database so often just before the fault')
      .argParser(wholeNumber)
      .default(base.serverKills),
    choice(
      '--also <fault>',
      'a fault of the control plane beside the first one',
      ['none', ...controlPlaneFaults],
      base.also,
    ),
    new Option(
      '--also-at <when>',
      'terminating, pod-gone, half-wait, force-detach, or so long after the fault',
    )
      .argParser(moment)
      .default(base.alsoAt, showMoment(base.alsoAt)),
    positive('--also-for <time>', 'the second fault is healed so long after that', base.alsoForMs),
    new Option('--no-reboot', 'leave a crashed node down until the clean-up'),
  ];
}
