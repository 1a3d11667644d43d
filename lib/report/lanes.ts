/** Lanes of the time axis, from observations and actions: which node held what, and when. */
import { database } from '../database/chosen.ts';
import { powerFaults } from '../faults/kinds/index.ts';
import type { ActionRecord, HistoryRecord, ObservationRecord } from '../history/events.ts';
import { observed } from '../history/observations.ts';
import { LaneDrafts, type LaneName } from './lane-drafts.ts';
import type { Tone } from './axis/palette.ts';
import type { Lane } from './axis/timeline.ts';

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
const plain = (taint: string): string => taint.replace(/^node\.kubernetes\.io\//, '');
/** A control plane's node has its taint for ever. */
const tells = (taint: string): boolean => !taint.startsWith('node-role.');

/** What a pod's or attachment's event makes of its lane; null ends the lane's bar. */
const podStates: Readonly<Record<string, { label: string; tone: Tone } | null>> = {
  [observed.podCreated]: { label: 'pending', tone: 'neutral' },
  [observed.podScheduled]: { label: 'scheduled', tone: 'neutral' },
  [observed.podRunning]: { label: 'running', tone: 'busy' },
  [observed.podTerminating]: { label: 'terminating', tone: 'warn' },
  [observed.podGone]: null,
};
const attachmentStates: typeof podStates = {
  [observed.attachmentCreated]: { label: 'attaching', tone: 'busy' },
  [observed.attachmentAttached]: { label: 'attached', tone: 'good' },
  [observed.attachmentDeleting]: { label: 'detaching', tone: 'warn' },
  [observed.attachmentGone]: null,
};

/** Errors this close together are one bar. */
const errorGapMs = 1000;

/** The node's way to the storage; while it passes there is nothing to draw. */
const linkStates: Readonly<Record<string, string>> = { stall: 'stalls', fail: 'fails' };

/** Collects lanes from records in order. */
export class Lanes {
  readonly #drafts = new LaneDrafts();
  #victim: string | undefined;
  #fault: string | undefined;
  #isBroken = false;

  see(record: HistoryRecord): void {
    if (record.type === 'run') this.#fault = record.scenario.fault;
    else if (record.type === 'phase') {
      this.#drafts.become({ group: 'run', name: 'phase' }, record.t, record.phase, 'neutral');
    } else if (record.type === 'action') this.#action(record);
    else if (record.type === 'observation') this.#observation(record);
  }

  /** Open bars end at `endMs`; times become seconds after `zeroMs`. */
  result(zeroMs: number, endMs: number): Lane[] {
    return this.#drafts.finish(this.#victim, zeroMs, endMs);
  }

  #action({ actor, name, step, t, node }: ActionRecord): void {
    if (actor === 'runner') return;
    if (actor === 'fault') {
      this.#victim ??= node;
      this.#break(step, t);
    }
    const lane = { group: 'run', name: actor } as const;
    const isOver =
      step === 'healed' || step === 'failed' || (actor === 'remedy' && step === 'done');
    if (step === 'begin') {
      this.#drafts.become(lane, t, name, actor === 'fault' ? 'bad' : 'action');
    } else if (isOver) this.#drafts.become(lane, t, '', 'neutral');
  }

  /** A frozen server is not up: it answers nothing until it is thawed. */
  #break(step: ActionRecord['step'], t: number): void {
    if (step === 'done') this.#isBroken = true;
    if (this.#fault !== 'freeze' || this.#victim === undefined) return;
    const server = serverOn(this.#victim);
    const isUp = this.#drafts.lane(server).bars.some(({ toMs }) => toMs === undefined);
    if (step === 'done' && isUp) this.#drafts.become(server, t, 'frozen', 'warn');
    if (step === 'heal' && isUp) this.#drafts.become(server, t, 'up', 'good');
  }

  #observation(record: ObservationRecord): void {
    const { name, data, t, node } = record;
    if (name in podStates) this.#state(this.#podLane(record), t, podStates[name] ?? null);
    else if (name in attachmentStates) {
      const lane = { group: 'attachment', node, name: 'attachment' } as const;
      this.#state(lane, t, attachmentStates[name] ?? null);
    } else if (name === observed.podReady) {
      const ready = data['ready'] === true;
      const state = ready ? { label: 'ready', tone: 'good' } : { label: 'not ready', tone: 'warn' };
      this.#state(this.#podLane(record), t, state as { label: string; tone: Tone });
    } else if (name === observed.nodeReady) {
      const ready = data['status'] === 'True';
      const label = ready ? 'Ready' : `Ready=${text(data['status'])}`;
      this.#drafts.become({ group: 'node', node, name: 'node' }, t, label, ready ? 'good' : 'warn');
    } else if (name === observed.nodeTaints) {
      const label = list(data['taints']).filter(tells).map(plain).join(', ');
      this.#drafts.become({ group: 'node', node, name: 'taints' }, t, label, 'warn');
    } else if (name === observed.volumesAttached || name === observed.volumesInUse) {
      const group = name === observed.volumesAttached ? 'volumesAttached' : 'volumesInUse';
      const label = list(data['volumes']).length > 0 ? 'listed' : '';
      this.#drafts.become({ group, node, name: group }, t, label, 'neutral');
    } else this.#disk(record);
  }

  /** One lane per pod and UID; it is its node's once it has one. */
  #podLane({ data, node }: ObservationRecord): LaneName {
    const uid = text(data['uid']);
    const lane = { group: 'pod', name: uid } as const;
    const draft = this.#drafts.lane(lane);
    draft.node ??= node;
    draft.label = `pod ${text(data['pod'])} ${uid.slice(0, 5)}`;
    return lane;
  }

  #state(lane: LaneName, t: number, state: { label: string; tone: Tone } | null): void {
    this.#drafts.become(lane, t, state?.label ?? '', state?.tone ?? 'neutral');
  }

  #disk({ name, data, t, node }: ObservationRecord): void {
    const mount = { group: 'mount', node, name: 'mount' } as const;
    if (name === observed.csiCall) {
      const durationMs = Number(data['durationMs'] ?? 0);
      const failed = data['error'] !== undefined;
      const label = `${text(data['call'])}${failed ? ' failed' : ''}`;
      const lane = { group: 'csi', node, name: 'CSI' } as const;
      this.#drafts.moment(lane, t - durationMs, t, label, failed ? 'bad' : 'busy');
    } else if (name === observed.mounted) this.#drafts.become(mount, t, 'mounted', 'busy');
    else if (name === observed.unmounted) this.#drafts.become(mount, t, '', 'busy');
    else if (name === observed.deviceCut) this.#drafts.moment(mount, t, t, this.#cutName(), 'bad');
    else if (name === observed.linkChanged) {
      const label = linkStates[text(data['state'])] ?? '';
      this.#drafts.become({ group: 'link', node, name: 'link' }, t, label, 'warn');
    } else if (name === observed.requestsHeld) {
      const held = Number(data['held'] ?? 0);
      const lane = { group: 'link', node, name: `held ${text(data['device'])}` } as const;
      this.#drafts.become(lane, t, held === 0 ? '' : `${held} held`, 'warn');
    } else if (name === observed.serverLog) {
      this.#server(text(data['line']), text(data['level']), node, t);
    }
    // A server whose volume is gone or cut off may end without a last word.
    if (name === observed.unmounted || name === observed.deviceCut) {
      this.#drafts.become(serverOn(node), t, '', 'good');
    }
  }

  /** A crash's own cut is the harness playing the loss of power. */
  #cutName(): string {
    const isOfCrash = !this.#isBroken && powerFaults.some((fault) => fault === this.#fault);
    return isOfCrash ? 'power lost' : 'cut';
  }

  /** What a line of the server's error log says of its lanes. */
  #server(line: string, level: string, node: string | undefined, t: number): void {
    const { signs } = database.log;
    if (line.includes(signs.ready)) {
      this.#drafts.become(serverOn(node), t, 'up', 'good');
    } else if (line.includes(signs.stopped)) {
      this.#drafts.become(serverOn(node), t, '', 'good');
    } else if (line.includes(signs.error) || level.toLowerCase() === 'error') {
      const lane = { group: 'server', node, name: `${database.server} errors` } as const;
      this.#error(lane, line.slice(0, 160), t);
    }
  }

  /** A broken database says so a thousand times: one bar for errors close to each other. */
  #error(lane: LaneName, line: string, t: number): void {
    const last = this.#drafts.lane(lane).bars.at(-1);
    if (last?.toMs !== undefined && t - last.toMs < errorGapMs) last.toMs = t;
    else this.#drafts.moment(lane, t, t, line, 'bad');
  }
}

const serverOn = (node: string | undefined): LaneName => ({
  group: 'server',
  node,
  name: database.server,
});
