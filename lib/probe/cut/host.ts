/**
 * What is done on a node's own host by a pod that enters its namespaces: a heal is armed there, twice,
 * before the cut. Texts only. No pod heals: it dies with its node's network, or with its namespace.
 */

/** `network`: all that goes over the devices of the default routes; `kubelet`: it is stopped. */
export const cutWays = ['network', 'kubelet'] as const;
export type CutWay = (typeof cutWays)[number];

const cutTable = 'forcedetach_probe';
const files = '/run/forcedetach-probe';
/** Two that know nothing of each other: a timer of systemd, and a service that sleeps. */
const units = { heal: 'forcedetach-probe-heal', belt: 'forcedetach-probe-belt' } as const;
const cutUnit = 'forcedetach-probe-cut';
/** Takes away what a killed probe left on the host. */
const tidyUnit = 'forcedetach-probe-tidy';
/** Whoever lives has read it by then. */
const tidyLaterS = 900;

/** Of the writers on a node that is cut off: pods' logs may go with the pods. */
export const journalFolder = (namespace: string): string => `/var/tmp/${namespace}`;

/** Both may run twice. For a console on the node, too. */
export const healCommand: Readonly<Record<CutWay, string>> = {
  network: `nft delete table inet ${cutTable} 2>/dev/null || true`,
  kubelet: 'systemctl start kubelet',
};

const tools: Readonly<Record<CutWay, readonly string[]>> = {
  network: ['systemd-run', 'systemctl', 'nft', 'ip'],
  kubelet: ['systemd-run', 'systemctl'],
};

const devices = `$( (ip -o route show default; ip -6 -o route show default) |
  sed -n 's/.* dev \\([^ ]*\\).*/\\1/p' | sort -u | paste -sd, )`;

/** In its own table, before all others; the loopback and the pods of the node go on. */
const cutCommand: Readonly<Record<CutWay, string>> = {
  network: `devices="${devices}"
test -n "$devices"
nft -f - <<RULES
table inet ${cutTable} {
  chain input { type filter hook input priority -400; iifname { $devices } drop; }
  chain output { type filter hook output priority -400; oifname { $devices } drop; }
  chain forward { type filter hook forward priority -400;
    iifname { $devices } drop; oifname { $devices } drop; }
}
RULES`,
  kubelet: 'systemctl stop kubelet',
};

/** The second belt comes so much later than the first. */
const beltLaterS = 30;

/** When the node is back at the latest. */
export const latestHealMs = (healAfterMs: number): number => healAfterMs + 1000 * (beltLaterS + 5);

const run = (unit: string, more: string, command: string): string =>
  `systemd-run --quiet --collect --unit=${unit} ${more} /bin/sh ${command}`;

/** Says `armed` once both belts are proven; leaves nothing armed where one is not. */
export function armScript(way: CutWay, namespace: string, healAfterMs: number): string {
  const healS = Math.ceil(healAfterMs / 1000);
  return `set -eu
for tool in ${tools[way].join(' ')}; do
  command -v "$tool" >/dev/null || { echo "lacks $tool"; exit 3; }
done
cat > ${files}-heal.sh <<'HEAL'
${healCommand[way]}
HEAL
cat > ${files}-belt.sh <<'BELT'
sleep ${healS + beltLaterS}
${healCommand[way]}
BELT
cat > ${files}-tidy.sh <<'TIDY'
rm -rf ${journalFolder(namespace)}
rm -f ${files}-*.sh
TIDY
${run(tidyUnit, `--on-active=${healS + tidyLaterS}s`, `${files}-tidy.sh`)}
${run(units.heal, `--on-active=${healS}s --timer-property=AccuracySec=1s`, `${files}-heal.sh`)}
${run(units.belt, '', `${files}-belt.sh`)}
if systemctl is-active --quiet ${units.heal}.timer && systemctl is-active --quiet ${units.belt}.service
then echo "armed ${healS}"
else systemctl stop ${units.heal}.timer ${units.belt}.service; echo "not armed"; exit 4
fi`;
}

/** The pod has ended before: its last words reach the API. Without both belts nothing is cut. */
export function cutScript(way: CutWay): string {
  return `set -eu
cat > ${files}-cut.sh <<'CUT'
set -eu
systemctl is-active --quiet ${units.heal}.timer
systemctl is-active --quiet ${units.belt}.service
${cutCommand[way]}
CUT
${run(cutUnit, '--on-active=3s --timer-property=AccuracySec=100ms', `${files}-cut.sh`)}
echo "cutting"`;
}

/** Undoes all of it, whatever was done; says `healed` where nothing of it is left. */
export function checkScript(way: CutWay): string {
  return `set -u
systemctl stop ${cutUnit}.timer ${units.heal}.timer ${units.belt}.service ${tidyUnit}.timer 2>/dev/null
${healCommand[way]}
rm -f ${files}-*.sh
if nft list table inet ${cutTable} >/dev/null 2>&1; then echo "the table is there"; exit 5; fi
systemctl is-active --quiet kubelet || { echo "kubelet is not active"; exit 5; }
echo "healed"`;
}

/** Lines as `<pod> <line>`; then the folder goes. */
export const collectScript = (namespace: string): string => `set -eu
cd ${journalFolder(namespace)}
for file in *.log; do sed "s/^/\${file%.log} /" "$file"; done
cd /
rm -rf ${journalFolder(namespace)}
echo "end of journals"`;
