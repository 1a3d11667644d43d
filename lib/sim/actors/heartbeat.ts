/**
 * A kubelet's heartbeats: lease and node status, while the API hears it. Nothing ticks: only a change
 * of who hears whom, or of what is in use, has a moment, and the grid of renewals and reports says
 * when it was last, and will next be. After a partition stale connections keep it unheard for a while
 * (kubernetes-client #121793), and its watch of pods has a back-off of its own.
 */
import { type Chance, BackOff } from '../kernel.ts';
import { type MachineWatcher, OnNode, type NodeContext } from '../machine.ts';
import { notices } from '../sightings.ts';
import {
  kubernetesTimes,
  measuredTimes,
  reconnectLateShare,
  secondUs,
  starvedPauseUs,
} from '../timings.ts';

interface HeartbeatEvents {
  readonly onReport: () => void;
  readonly onInformed: () => void;
}

/** A starved kubelet gets a word through, then is silent again. */
const starvedWordUs = secondUs;
/** Above this its heartbeats no longer come in time; assumption. */
const tooSlow = 5;

export class Heartbeat extends OnNode implements MachineWatcher {
  readonly #chance: Chance;
  readonly #events: HeartbeatEvents;
  #heard = false;
  #informed = false;
  #heardAtUs = 0;
  #unheardAtUs = 0;
  #cutAtUs: number | undefined;
  /** Grows with each change of who hears whom: an older plan to be heard no longer counts. */
  #changes = 0;
  /** The kubelet's process began to renew and to report then. */
  #leaseBaseUs = 0;
  #statusBaseUs = 0;
  #reportDue = false;
  /** Renewals whose time is earlier than one that was seen do not count. */
  #countFromUs = 0;
  /** Its kubelet has given the container runtime up. */
  #runtimeIsDown = false;

  constructor(on: NodeContext, chance: Chance, events: HeartbeatEvents) {
    super(on);
    this.#chance = chance;
    this.#events = events;
    this.machine.watchers.push(this);
    const { leaseRenewUs, statusUpdateUs } = this.world.settings;
    this.#begin(0, chance.int(0, leaseRenewUs), chance.int(0, statusUpdateUs));
  }

  booted(): void {
    this.#begin(this.#chance.within(measuredTimes.boot));
  }

  restarted(): void {
    this.#begin(this.#chance.within(measuredTimes.kubeletStart));
  }

  resumed(): void {
    this.#silentFor(this.#chance.within(measuredTimes.resume));
  }

  /** A short freeze, as for a copy of the volume, it outlives like a stall. */
  thawed(): void {
    if (this.nowUs - this.#unheardAtUs < kubernetesTimes.connectionLost.minUs) {
      this.resumed();
      return;
    }
    // Its kernel kept the connections: what its watch was sent is there at once.
    const heardUs = this.#chance.within(measuredTimes.thaw);
    this.#silentFor(heardUs, this.#chance.within(measuredTimes.thawWatch));
  }

  changed(): void {
    if (!this.#canBeHeard) this.#setUnheard();
    else if (this.#isStarved) this.#starve();
    else if (!this.#heard) this.#silentFor(0);
    else if (this.#runtimeIsDown !== this.machine.stalled.includes('containerd'))
      this.#runtimeChanged();
  }

  linkChanged(): void {
    if (!this.machine.linked) {
      this.#cutAtUs ??= this.nowUs;
      this.#setUnheard();
      return;
    }
    const cutUs = this.nowUs - (this.#cutAtUs ?? this.nowUs);
    this.#cutAtUs = undefined;
    this.#silentFor(this.#reconnectUs(), this.#watchUs(cutUs));
  }

  /** It watches its pods: they may come and go. */
  get informed(): boolean {
    return this.#informed;
  }

  apiChanged(): void {
    if (this.world.apiServer.still) this.#setUnheard();
    else this.#silentFor(this.#chance.within(measuredTimes.apiReturn));
  }

  /** Ready is `False` at once (syncNodeStatus of nodeshutdown_manager_linux.go). */
  shuttingDown(): void {
    if (this.world.settings.podsEndWithinUs > 0)
      this.byKubelet(measuredTimes.shutdownBegin, () => this.#heard && this.#report());
  }

  /** Where there is news of what is in use, the next report of the grid has it. */
  reportSoon(hasNews: boolean): void {
    if (!hasNews || this.#reportDue || !this.#heard) return;
    this.#reportDue = true;
    this.machine.byKubelet(this.#nextReportUs() - this.nowUs, () => {
      this.#reportDue = false;
      if (this.#heard) this.#report();
    });
  }

  /** A kubelet renews and reports when it begins, and then in its periods; that of the model's begin did so before. */
  #begin(delayUs: number, renewedAgoUs = 0, reportedAgoUs = 0): void {
    this.#runtimeIsDown = false;
    const bornAtUs = this.nowUs + delayUs;
    this.#leaseBaseUs = bornAtUs - renewedAgoUs;
    this.#statusBaseUs = bornAtUs - reportedAgoUs;
    this.#reportDue = false;
    this.#cutAtUs = this.machine.linked ? undefined : bornAtUs;
    this.#silentFor(delayUs);
  }

  #runtimeChanged(): void {
    const { runtimeRequestUs, runtimeLook } = kubernetesTimes;
    const isDown = !this.#runtimeIsDown;
    const hangingUs = this.#nextReportUs() - this.nowUs + runtimeRequestUs;
    this.machine.byKubelet(isDown ? hangingUs : this.#chance.within(runtimeLook), () => {
      if (this.machine.stalled.includes('containerd') !== isDown) return;
      this.#runtimeIsDown = isDown;
      if (isDown) this.#report();
      else this.reportSoon(true);
    });
  }

  /** A reboot takes the clock of the machine, and that does not step again. */
  clockSet(): void {
    this.#countFromUs = this.#lastRenewalUs() + this.machine.clockBackUs;
    if (this.#heard) this.#renew(this.#lastRenewalUs());
  }

  /** `seenUs`: when the monitor saw it last, by a renewal or a report. */
  #renew(seenUs: number): void {
    const counts = this.nowUs >= this.#countFromUs || this.machine.clockBackUs === 0;
    this.world.api.setLeaseStopped(this.node, counts ? undefined : seenUs);
    if (!counts) this.#reportWhileBehind();
  }

  /** A kubelet that finds its node Unknown says otherwise at its next look. */
  #reportWhileBehind(): void {
    const changes = this.#changes;
    this.machine.byKubelet(Math.min(this.#nextReportUs(), this.#countFromUs) - this.nowUs, () => {
      if (changes !== this.#changes || this.node.leaseStoppedAtUs === undefined) return;
      const isUnknown = this.node.ready === 'Unknown';
      if (isUnknown) this.#report();
      if (isUnknown || this.nowUs >= this.#countFromUs) this.#renew(this.nowUs);
      else this.#reportWhileBehind();
    });
  }

  get #canBeHeard(): boolean {
    return this.machine.hearsApi && !this.world.apiServer.still;
  }

  get #isStarved(): boolean {
    return this.machine.slowness > tooSlow;
  }

  /** `uninformedUs`: the same for the watch of its pods. */
  #silentFor(delayUs: number, uninformedUs: number = delayUs): void {
    this.#setUnheard();
    if (!this.#canBeHeard) return;
    const changes = this.#changes;
    const after = (us: number, work: () => void): void =>
      this.machine.byKubelet(us, () => {
        if (changes !== this.#changes || !this.#canBeHeard) return;
        if (this.#isStarved) this.#starve();
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
    const { kernel, settings } = this.world;
    const changes = this.#changes;
    const longestUs = Math.min(starvedPauseUs, settings.leaseRenewUs * this.machine.slowness);
    kernel.schedule(this.#chance.int(settings.leaseRenewUs, longestUs), () => {
      if (changes !== this.#changes || !this.#canBeHeard) return;
      this.#setInformed();
      this.#setHeard();
      kernel.schedule(starvedWordUs, () => {
        if (this.#heard && this.#canBeHeard && this.#isStarved) this.#starve();
      });
    });
  }

  #setUnheard(): void {
    this.#changes += 1;
    this.#informed = false;
    if (!this.#heard) return;
    this.#heard = false;
    this.#unheardAtUs = this.nowUs;
    this.notice(notices.unheard, -1);
    this.world.api.setLeaseStopped(this.node, this.#lastRenewalUs());
  }

  #setHeard(): void {
    this.#heard = true;
    this.#heardAtUs = this.nowUs;
    this.#reportDue = false;
    this.notice(notices.heard, -1);
    this.#renew(this.nowUs);
    this.#report();
  }

  #setInformed(): void {
    this.#informed = true;
    this.#events.onInformed();
  }

  /** The last tick of its grid, or when it was first heard again: then it renews at once. */
  #lastRenewalUs(): number {
    const { leaseRenewUs } = this.world.settings;
    const ticks = Math.floor((this.nowUs - this.#leaseBaseUs) / leaseRenewUs);
    return Math.max(this.#heardAtUs, this.#leaseBaseUs + ticks * leaseRenewUs);
  }

  /** Each of its periods is up to 4 % longer (kubelet.go JitterUntil): 2 % in the mean. */
  #nextReportUs(): number {
    const periodUs = this.world.settings.statusUpdateUs * (1 + kubernetesTimes.statusJitter / 2);
    const ticks = Math.floor((this.nowUs - this.#statusBaseUs) / periodUs) + 1;
    return Math.round(this.#statusBaseUs + ticks * periodUs);
  }

  #report(): void {
    const isFit = !this.machine.shuttingDown && !this.#runtimeIsDown;
    this.world.api.setReady(this.node, isFit ? 'True' : 'False');
    this.#events.onReport();
  }

  #reconnectUs(): number {
    const isLate = this.#chance.float() < reconnectLateShare;
    return this.#chance.within(isLate ? measuredTimes.reconnectLate : measuredTimes.reconnect);
  }

  /** A short cut it outlives; after a long one it waits for its next try. */
  #watchUs(cutUs: number): number {
    const { connectionLost, watchBackOff, watchJitter } = kubernetesTimes;
    const chance = this.#chance;
    let triedAtUs = chance.within(connectionLost);
    if (cutUs < triedAtUs) return chance.within(measuredTimes.reconnect);
    const backOff = new BackOff(watchBackOff);
    while (triedAtUs < cutUs) triedAtUs += backOff.next() * (1 + chance.float() * watchJitter);
    return triedAtUs - cutUs + chance.within(measuredTimes.apiCall);
  }
}
