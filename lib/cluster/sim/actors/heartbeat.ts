/**
 * A kubelet's heartbeats: lease and node status, while the API hears it. Nothing ticks: only a change
 * of who hears whom, or of what is in use, has a moment, and the grid of renewals and reports tells
 * when it was last, and will next be. After a partition stale connections keep it unheard for a while
 * (kubernetes-client #121793), and its watch of pods has a back-off of its own.
 */
import { BackOff } from '../back-off.ts';
import type { Chance } from '../chance.ts';
import type { MachineWatcher, OnNode } from '../machine.ts';
import { notices } from '../notices.ts';
import {
  kubernetesTimes,
  measuredTimes,
  reconnectLateShare,
  secondUs,
  starvedPauseUs,
} from '../timings.ts';

export interface HeartbeatOptions extends OnNode {
  readonly chance: Chance;
  /** A status report goes out. */
  readonly onReport: () => void;
  /** It hears of its pods again. */
  readonly onInformed: () => void;
}

/** A starved kubelet gets a word through, then is silent again. */
const starvedWordUs = secondUs;
/** Above this its heartbeats no longer come in time; assumption. */
const tooSlow = 5;

export class Heartbeat implements MachineWatcher {
  readonly #options: HeartbeatOptions;
  #heard = false;
  #informed = false;
  #heardAtUs = 0;
  /** Since when there is no way to the API server. */
  #cutAtUs: number | undefined;
  /** Grows with each change of who hears whom: an older plan to be heard no longer counts. */
  #changes = 0;
  /** The kubelet's process began to renew and to report then. */
  #leaseBaseUs = 0;
  #statusBaseUs = 0;
  #reportDue = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    options.machine.watch(this);
    this.#begin(0);
  }

  booted(): void {
    this.#begin(this.#draw(measuredTimes.boot));
  }

  restarted(): void {
    this.#begin(this.#draw(measuredTimes.kubeletStart));
  }

  resumed(): void {
    this.#silentFor(this.#draw(measuredTimes.resume));
  }

  /** The kernel kept a frozen kubelet's connections: what its watch was told is there at once. */
  thawed(): void {
    this.#silentFor(this.#draw(measuredTimes.thaw), this.#draw(measuredTimes.thawWatch));
  }

  changed(): void {
    const { machine } = this.#options;
    if (!this.#canBeHeard) this.#setUnheard();
    else if (machine.slowness > tooSlow) this.#starve();
    else if (!this.#heard) this.#silentFor(0);
  }

  linkChanged(): void {
    const { machine, world } = this.#options;
    if (!machine.linked) {
      this.#cutAtUs ??= world.kernel.nowUs;
      this.#setUnheard();
      return;
    }
    const cutUs = world.kernel.nowUs - (this.#cutAtUs ?? world.kernel.nowUs);
    this.#cutAtUs = undefined;
    this.#silentFor(this.#reconnectUs(), this.#watchUs(cutUs));
  }

  /** It watches its pods: they may come and go. */
  get informed(): boolean {
    return this.#informed;
  }

  /** The API server stands still, or goes on. */
  apiChanged(): void {
    if (this.#options.world.apiServer.still) this.#setUnheard();
    else this.#silentFor(this.#draw(measuredTimes.apiReturn));
  }

  /** Where there is news of what is in use, the next report of the grid tells it. */
  reportSoon(hasNews: boolean): void {
    if (!hasNews || this.#reportDue || !this.#heard) return;
    this.#reportDue = true;
    const { machine, world } = this.#options;
    machine.byKubelet(this.#nextReportUs() - world.kernel.nowUs, () => {
      this.#reportDue = false;
      if (this.#heard) this.#report();
    });
  }

  /** The kubelet's process starts, and is heard so much later. */
  #begin(delayUs: number): void {
    const { chance, world } = this.#options;
    const bornAtUs = world.kernel.nowUs + delayUs;
    this.#leaseBaseUs = bornAtUs - chance.int(0, world.settings.leaseRenewUs);
    this.#statusBaseUs = bornAtUs - chance.int(0, world.settings.statusUpdateUs);
    this.#reportDue = false;
    this.#cutAtUs = this.#options.machine.linked ? undefined : bornAtUs;
    this.#silentFor(delayUs);
  }

  get #canBeHeard(): boolean {
    const { machine, world } = this.#options;
    return machine.hearsApi && !world.apiServer.still;
  }

  /** `uninformedUs`: the same for the watch of its pods. */
  #silentFor(delayUs: number, uninformedUs: number = delayUs): void {
    this.#setUnheard();
    if (!this.#canBeHeard) return;
    const changes = this.#changes;
    const after = (us: number, work: () => void): void =>
      this.#options.machine.byKubelet(us, () => {
        if (changes !== this.#changes || !this.#canBeHeard) return;
        if (this.#options.machine.slowness > tooSlow) this.#starve();
        else work();
      });
    if (uninformedUs !== delayUs) after(uninformedUs, () => this.#setInformed());
    after(delayUs, () => {
      if (uninformedUs === delayUs) this.#setInformed();
      this.#setHeard();
    });
  }

  /** Starved of CPU: single heartbeats get through, far apart. */
  #starve(): void {
    this.#setUnheard();
    const { machine, chance, world } = this.#options;
    const changes = this.#changes;
    const longestUs = Math.min(starvedPauseUs, world.settings.leaseRenewUs * machine.slowness);
    world.kernel.schedule(chance.int(world.settings.leaseRenewUs, longestUs), () => {
      if (changes !== this.#changes || !this.#canBeHeard) return;
      this.#setInformed();
      this.#setHeard();
      world.kernel.schedule(starvedWordUs, () => {
        if (this.#heard && this.#canBeHeard && machine.slowness > tooSlow) this.#starve();
      });
    });
  }

  #setUnheard(): void {
    this.#changes += 1;
    this.#informed = false;
    if (!this.#heard) return;
    this.#heard = false;
    const { world, node } = this.#options;
    world.notice(notices.unheard, node.index, -1);
    world.api.setLeaseStopped(node, this.#lastRenewalUs());
  }

  #setHeard(): void {
    const { world, node } = this.#options;
    this.#heard = true;
    this.#heardAtUs = world.kernel.nowUs;
    this.#reportDue = false;
    world.notice(notices.heard, node.index, -1);
    world.api.setLeaseStopped(node, undefined);
    this.#report();
  }

  #setInformed(): void {
    this.#informed = true;
    this.#options.onInformed();
  }

  /** The last tick of its grid, or when it was first heard again: then it renews at once. */
  #lastRenewalUs(): number {
    const { world } = this.#options;
    const { leaseRenewUs } = world.settings;
    const ticks = Math.floor((world.kernel.nowUs - this.#leaseBaseUs) / leaseRenewUs);
    return Math.max(this.#heardAtUs, this.#leaseBaseUs + ticks * leaseRenewUs);
  }

  /** Each of its periods is up to 4 % longer (kubelet.go JitterUntil): 2 % in the mean. */
  #nextReportUs(): number {
    const { world } = this.#options;
    const periodUs = world.settings.statusUpdateUs * (1 + kubernetesTimes.statusJitter / 2);
    const ticks = Math.floor((world.kernel.nowUs - this.#statusBaseUs) / periodUs) + 1;
    return Math.round(this.#statusBaseUs + ticks * periodUs);
  }

  #report(): void {
    const { world, node, onReport } = this.#options;
    world.api.setReady(node, 'True');
    onReport();
  }

  #reconnectUs(): number {
    const isLate = this.#options.chance.float() < reconnectLateShare;
    return this.#draw(isLate ? measuredTimes.reconnectLate : measuredTimes.reconnect);
  }

  /** A short cut it outlives; after a long one it waits for its next try. */
  #watchUs(cutUs: number): number {
    const { connectionLost, watchBackOff, watchJitter } = kubernetesTimes;
    const { chance } = this.#options;
    let triedAtUs = this.#draw(connectionLost);
    if (cutUs < triedAtUs) return this.#draw(measuredTimes.reconnect);
    const backOff = new BackOff(watchBackOff);
    while (triedAtUs < cutUs) triedAtUs += backOff.next() * (1 + chance.float() * watchJitter);
    return triedAtUs - cutUs + this.#draw(measuredTimes.apiCall);
  }

  #draw(range: Parameters<Chance['within']>[0]): number {
    return this.#options.chance.within(range);
  }
}
