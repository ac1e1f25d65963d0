#!/bin/sh
# EMR bootstrap action of clusters with GPUs, beside bootstrap.sh and with conf/emr/gpu.json and instance_groups.json:
# a place of its own for the devices controller of cgroups v1, by which YARN keeps a container from the GPUs of others. Amazon Linux
# 2023 mounts version 2 alone.
set -eu
sudo mkdir -p /dripper-cgroup/devices
sudo mount -t cgroup -o devices cgroupv1-devices /dripper-cgroup/devices
sudo chmod -R a+rwx /dripper-cgroup
