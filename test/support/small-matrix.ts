/** A matrix of two cells that the model plays in seconds, as a file has it. */
export const smallMatrix = `
name: small
question: Does the fence come in time?
base: { fault: network-partition, remedy: force-delete, rate: 10, connections: 1, graceMs: 10s,
        tolerationMs: 10s, forceDetachAfterMs: 30s, warmupMs: 3s, horizonMs: 200s }
axes: { disk: [unfenced, fenced] }
`;
