#!/bin/sh
# EMR bootstrap action: a virtual environment with the job's dependencies on every node, at /opt/dripper. Spark itself is EMR's.
# Arguments: where setup.py's folder or a wheel can be had, for instance s3://bucket/dripper_spark-0.1.0-py3-none-any.whl,
# and constraints (conf/constraints.txt), for instance s3://bucket/constraints.txt. A compiled wheel must be of the newest Python that
# the nodes have. Third, extras, by default `cluster`; fourth, those of nodes with an NVIDIA GPU, by default the same. For labelers on
# GPUs: `cluster` `cluster,gpu,encoder`, with conf/vllm-gpu.txt for the constraints; that is 10 GB on the root volume of a node with a
# GPU (EMR's default has 15 GB: ask for 50).
set -eu
wheel=$1
constraints=$2
extras=${3:-cluster}
# NVIDIA's number on the PCI bus: the driver may come later than this.
if grep -qs 0x10de "${PCI:-/sys/bus/pci/devices}"/*/vendor; then extras=${4:-$extras}; fi
folder=$(mktemp -d)
aws s3 cp "$wheel" "$folder/"
aws s3 cp "$constraints" "$folder/constraints.txt"
for python in python3.13 python3.12 python3.11; do
    if command -v "$python" > /dev/null; then break; fi
done
sudo "$python" -m venv /opt/dripper
sudo /opt/dripper/bin/pip install --quiet --upgrade pip
# The extra [cluster] is all that the jobs need but Spark.
sudo /opt/dripper/bin/pip install --quiet --constraint "$folder/constraints.txt" "$(echo "$folder"/*.whl)[$extras]"
