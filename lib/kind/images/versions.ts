/** The versions the image layer is made of beside Kubernetes (lib/core/kubernetes.ts). */

export const kindVersion = '0.33.0';
/** One series in both image ways, so that their verdicts can be compared. */
export const mysqlSeries = '9.7';
/** Also pinned in built/kubernetes/go.mod; a unit test holds both together. */
export const attacherVersion = '4.12.0';
/** Also pinned in built/provisioner/go.mod; the same test. */
export const provisionerVersion = '6.4.0';
/** Debian's release of the node root: systemd ≥ 257 (trixie) refuses cgroup v1. */
export const nodeDebianSuite = 'bookworm';
/** Debian's release that has MySQL of the series above. */
export const mysqlDebianSuite = 'sid';
/** Node of the driver and the tools; the optional dependency node-linux-… brings it. */
export const nodeVersion = '24.21.0';
/** Official image with Node of that series, for code that needs no other tools. */
export const publishedRuntime = 'node:24-bookworm-slim';
