# A mon and an osd of Ceph, beside which the array's program runs. Debian's newest, as the initiators' librbd is.
FROM debian:sid-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends ceph-mon ceph-osd ceph-common \
  && rm -rf /var/lib/apt/lists/*
