/** What each fault says of itself; how it is broken, proven and mended is beside it. */
import { z } from 'zod';
import { field, moment, time, toggle, type Fields } from '../fields/field.ts';
import { oneOf, secondsWithin } from '../fields/swept.ts';
import { textOf } from '../fields/texts.ts';

interface FaultDeclaration {
  readonly name: string;
  /** Of an experiment that has no other question. */
  readonly question: string;
  /** To the victim, and what proves it while it lasts; Markdown, for the page. */
  readonly happens: string;
  readonly certificate: string;
  /** Of the control plane: it needs no victim, and so may come beside another fault. */
  readonly isOfControlPlane?: true;
  /** At once and for a while the API server hears nothing more of the victim's kubelet. */
  readonly silencesKubelet?: true;
  /** Ends the victim's processes at once, and takes what they had not given to the disk. */
  readonly losesPower?: true;
  /** By their names in a record; each written under `fault`. */
  readonly fields?: Fields;
}

const withinGraceMs = 20_000;

/** A seed of the sweep draws by this order: a new one goes last. */
export const faultDeclarations = [
  {
    name: 'none',
    question: 'Nothing is broken: what does a remedy for a lost node do to a healthy one?',
    happens: 'nothing: what a remedy does to a healthy node; its `at` is a time',
    certificate: 'node, kubelet and containerd run, the node is reached',
  },
  {
    name: 'node-crash',
    question: 'A node crashes: does every acknowledged commit survive the move to another node?',
    happens:
      'its kubelet is stopped, its device cut off, then it is killed; it stays down until the heal',
    certificate: 'it is down; an unsynced file is gone, a synced one is there',
    silencesKubelet: true,
    losesPower: true,
    fields: {
      reboot: toggle('fault.reboot', true, {
        flags: '--no-reboot',
        about:
          'a crashed node is started again at the heal; false: it stays down until the clean-up',
        of: ['node-crash'],
        swept: { share: 0.2 },
        isHarmless: true,
      }),
    },
  },
  {
    name: 'node-reboot',
    question: 'A node reboots: does its database come back with every acknowledged commit?',
    happens: 'the same, and it boots at `rebootAt`',
    certificate: 'the same',
    silencesKubelet: true,
    losesPower: true,
    fields: {
      rebootAt: moment('fault.rebootAt', ['force-detach'], withinGraceMs, {
        flags: '--reboot-at <when>',
        about: 'the node boots at the force-detach, or so long after the fault',
        of: ['node-reboot'],
        swept: {
          isAsked: true,
          draw: (dice) => (dice.chance(0.3) ? 'force-detach' : secondsWithin(1, 400)(dice)),
        },
      }),
    },
  },
  {
    name: 'network-partition',
    question: 'A node is cut off but alive: does Kubernetes let a second node write its volume?',
    happens:
      "off the cluster's network, alive; its database goes on writing, its clients on the same side go on committing",
    certificate: 'it reaches no API server and nobody outside reaches it',
    silencesKubelet: true,
  },
  {
    name: 'api-partition',
    question:
      'A node loses only the control plane: does a second one write what its clients still use?',
    happens: 'off the control plane alone: all clients still reach the database',
    certificate: 'it reaches no API server, clients reach it',
    silencesKubelet: true,
  },
  {
    name: 'freeze',
    question:
      'A node stands still and is thawed after the hand-over: does it write over its successor?',
    happens:
      'every process stands still until the heal: thawed after the hand-over it is the zombie',
    certificate: 'it is frozen',
    silencesKubelet: true,
  },
  {
    name: 'kubelet-stall',
    question:
      'A kubelet stands still, its pods run: does Kubernetes let a second node write the volume?',
    happens: 'the kubelet stands still (SIGSTOP); the database runs on',
    certificate: 'the kubelet is stopped, the node runs',
    silencesKubelet: true,
  },
  {
    name: 'runtime-stall',
    question:
      'Kubelet and containerd stand still, the pods run: does a second node get the volume?',
    happens: 'kubelet and containerd stand still; the database runs on',
    certificate: 'both are stopped, the node runs',
    silencesKubelet: true,
  },
  {
    name: 'kubelet-restart',
    question: 'A kubelet is started again: does its pod keep its volume?',
    happens: 'the kubelet is ended and started again; the database runs on',
    certificate: 'another kubelet process runs',
  },
  {
    name: 'cpu-starvation',
    question: 'A node gets next to no CPU time: is its volume given away while it still writes?',
    happens: 'all its processes together get `cpuShare` of one CPU',
    certificate: 'the kernel stops them in most of its periods',
    fields: {
      cpuShare: field('fault.cpuShare', z.number().min(0.001).max(1).default(0.005), {
        flags: '--cpu-share <n>',
        about: 'what is left to all processes of the victim together, of one CPU',
        of: ['cpu-starvation'],
        swept: { isAsked: true, draw: oneOf([0.001, 0.005, 0.02, 0.1]) },
        text: textOf(
          (text) => (/^(0?\.\d+|1)$/.test(text) ? Number(text) : undefined),
          'Give a share of one CPU, such as 0.05.',
        ),
      }),
    },
  },
  {
    name: 'flapping-partition',
    question: 'A node comes back from a partition and is cut off again: which wait goes on?',
    happens: "off the cluster's network for `down`, on it for `up`, over and over",
    certificate: 'it reaches the API server or not, asked at every change',
    silencesKubelet: true,
    fields: {
      // Longer than the stock grace period, and then long enough to be Ready again.
      flapDownMs: time('fault.down', 70_000, {
        flags: '--flap-down <time>',
        about: 'the node is off the network for so long',
        swept: { isAsked: true, draw: secondsWithin(5, 400) },
        of: ['flapping-partition'],
        least: 1,
      }),
      flapUpMs: time('fault.up', 30_000, {
        flags: '--flap-up <time>',
        about: 'and then on it for so long',
        swept: { isAsked: true, draw: secondsWithin(1, 120) },
        of: ['flapping-partition'],
        least: 1,
      }),
    },
  },
  {
    name: 'controller-restart',
    question: 'The controller manager dies, no node is lost: does any volume move?',
    happens: 'nothing: the controller manager is killed, and the next one begins every wait anew',
    certificate: 'that process is gone',
    isOfControlPlane: true,
  },
  {
    name: 'api-outage',
    question: 'The API server answers nobody, no node is lost: does any volume move?',
    happens: 'nothing: the API server stands still, and so does the kubelet that would replace it',
    certificate: 'it is stopped',
    isOfControlPlane: true,
  },
  {
    name: 'attacher-down',
    question: 'The csi-attacher answers nobody, no node is lost: does any volume move?',
    happens: 'nothing: the csi-attacher stands still, so that nothing is attached or detached',
    certificate: 'it is stopped',
    isOfControlPlane: true,
  },
  {
    name: 'lease-write',
    question:
      'Somebody writes to a node’s Lease and renews nothing, no node is lost: does any volume move?',
    happens:
      'nothing: once a second somebody writes an annotation to its Lease, which renews nothing',
    certificate: 'the annotation is there',
    isOfControlPlane: true,
  },
] as const satisfies readonly FaultDeclaration[];
