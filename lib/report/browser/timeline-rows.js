/**
 * The rows of the time axis: lanes under a heading for each role, which opens and closes them.
 *
 * @import { Lane, Role, Timeline } from '../types.ts'
 */

/**
 * `label`: as it stands beside the row. A heading has no bars.
 * @typedef {{ label: string, role: Role, heading: boolean, bars: Lane['bars'] }} Row
 */

/** @type {Record<Role, string>} */
const titles = {
  run: 'Run',
  victim: 'Victim',
  successor: 'Successor',
  'control-plane': 'Control plane',
  other: 'Other nodes',
};

/**
 * Roles that have lanes, in their order, with the node where there is one.
 * @param {Timeline} timeline
 * @returns {{ role: Role, title: string }[]}
 */
export function rolesIn({ lanes }) {
  const roles = [...new Set(lanes.map(({ role }) => role))];
  return roles.map((role) => {
    const node = role === 'victim' || role === 'successor' ? lanes.find((lane) => lane.role === role)?.node : null;
    return { role, title: node ? `${titles[role]} ${node}` : titles[role] };
  });
}

/**
 * @param {Timeline} timeline
 * @param {ReadonlySet<Role>} closed  roles of which only the heading is shown
 * @returns {Row[]}
 */
export function rowsOf(timeline, closed) {
  return rolesIn(timeline).flatMap(({ role, title }) => {
    const isClosed = closed.has(role);
    const heading = { label: `${isClosed ? '▸' : '▾'} ${title}`, role, heading: true, bars: [] };
    const lanes = timeline.lanes.filter((lane) => lane.role === role && !isClosed);
    return [heading, ...lanes.map((lane) => ({ ...lane, label: labelOf(lane), heading: false }))];
  });
}

/**
 * Under the headings of one node each the node need not be named again.
 * @param {Lane} lane
 */
function labelOf({ role, node, label }) {
  return role === 'other' || role === 'control-plane' ? [label, node].filter(Boolean).join(' ') : label;
}
