# Sourced: containerd in a build container named "$node", for images that every node is to have.

in_node() { docker exec -i "$node" "$@"; }
containerd_ctr() { in_node ctr --namespace k8s.io "$@"; }

# Usage: begin_node IMAGE. The commit keeps the stop signal, by which systemd shuts a machine down.
begin_node() {
  docker rm --force --volumes "$node" >/dev/null 2>&1 || true
  docker run --detach --name "$node" --privileged --network none \
    --stop-signal SIGRTMIN+3 --entrypoint sleep "$1" infinity >/dev/null
}

start_containerd() {
  docker exec --detach "$node" containerd --log-level error
  for _ in $(seq 100); do
    containerd_ctr version >/dev/null 2>&1 && break
    sleep 0.1
  done
}

# Usage: import_images IMAGE… What this file system cannot unpack, the nodes will.
import_images() {
  docker save "$@" | containerd_ctr images import --no-unpack - >/dev/null
}

stop_containerd() {
  in_node sh -c 'kill "$(pidof containerd)"; while pidof containerd >/dev/null; do sleep 0.1; done
    rm -rf /run/containerd /var/lib/containerd/tmpmounts/* /var/lib/containerd/io.containerd.runtime*'
}

# Usage: commit_node TARGET PART KEY
commit_node() {
  docker commit --change 'ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]' \
    --change 'CMD []' --change "LABEL forcedetach.part=$2" \
    --change "LABEL forcedetach.key=$3" "$node" "$1" >/dev/null
}
