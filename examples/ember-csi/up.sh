#!/bin/bash
# up.sh CLUSTER: puts ember-csi and its storage beside a kind cluster that is there. up.sh CLUSTER down: takes the storage away.
# kubectl and its KUBECONFIG lead to that cluster. Images of your own: DRIVER, CEPH, ATTACHER, PROVISIONER.
set -eu
cd "$(dirname "$0")"
cluster=$1 storage=$1-storage ceph=$1-ceph
export DRIVER=${DRIVER:-ember-csi:0.9.1} LOOPS=${LOOPS:-}
export ATTACHER=${ATTACHER:-registry.k8s.io/sig-storage/csi-attacher:v4.12.0}
export PROVISIONER=${PROVISIONER:-registry.k8s.io/sig-storage/csi-provisioner:v6.4.0}
CEPH=${CEPH:-ember-ceph:1}
nodes=$(kind get nodes --name "$cluster" 2> /dev/null)

if [ "${2:-}" = down ]; then
  docker rm --force "$ceph"
  for node in $nodes; do docker network disconnect --force "$storage" "$node" || true; done
  docker network rm "$storage"
  exit
fi

has() { docker image inspect "$1" > /dev/null 2>&1; }
has "$CEPH" || docker build --target ceph --tag "$CEPH" .
has "$DRIVER" || docker build --target driver --tag "$DRIVER" .
for image in "$ATTACHER" "$PROVISIONER"; do has "$image" || docker pull "$image"; done
kind load docker-image --name "$cluster" "$DRIVER" "$ATTACHER" "$PROVISIONER"

# A network of its own, so that a node can lose the cluster and keep its storage.
docker network create --internal "$storage"
for node in $nodes; do docker network connect "$storage" "$node"; done
docker run --detach --name "$ceph" --network "$storage" --volume "$PWD/ceph.sh:/ceph.sh:ro" "$CEPH" bash /ceph.sh volumes
until docker exec "$ceph" test -e /run/ceph/ready; do sleep 1; done

MONITOR=$(docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$ceph")
CONTROLLER=$(kubectl get nodes --selector node-role.kubernetes.io/control-plane \
  --output 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}')
export MONITOR CONTROLLER
envsubst '$DRIVER $ATTACHER $PROVISIONER $MONITOR $CONTROLLER $LOOPS' < driver.yaml | kubectl apply --filename -
until [ "$(kubectl get csinodes --output yaml | grep -c 'name: rbd.ember-csi.io')" = "$(wc -w <<< "$nodes")" ]; do sleep 1; done
