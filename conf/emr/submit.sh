#!/bin/sh
# The main job on EMR, from a node of the cluster: conf/emr/submit.sh --warcs s3://… --output s3://bucket/tables [flags of jobs/run.py]
# JOB names another job than run: preprocess, label and extract are the stages of a staged run, for clusters of their own.
# SPARK_SUBMIT_FLAGS adds flags for spark-submit itself; later ones win, so that --master local[2] tries it on one machine.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
zip=$(mktemp -d)/dripper.zip
# A zip: a wheel given to --py-files can be imported by the driver, but not by the workers.
(cd "$root/lib" && "${PYTHON:-python3}" -m zipfile -c "$zip" dripper)
# shellcheck disable=SC2086
exec "${SPARK_SUBMIT:-spark-submit}" --master yarn --deploy-mode client --properties-file "$root/conf/emr/spark.conf" \
    --py-files "$zip" ${SPARK_SUBMIT_FLAGS:-} "$root/jobs/${JOB:-run}.py" "$@"
