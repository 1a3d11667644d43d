# Initiators and servers of storage protocols, for disks that are reached over a network; the program beside them is the array's.
# Debian's newest: the FUSE export of bookworm's loses concurrent writes.
FROM debian:sid-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends qemu-utils qemu-block-extra fuse3 iproute2 \
     tgt libiscsi-bin nfs-ganesha nfs-ganesha-vfs rpcbind \
  && rm -rf /var/lib/apt/lists/*
