#!/usr/bin/env bash
# The main job on EMR, from a node of the cluster:
#   DYNAMODB=eu-central-1 conf/emr/submit.sh --warcs s3://… --output s3://bucket/tables [flags of jobs/run.py]
# Exits with the job's own code, in both modes; docs/operations.md explains the codes.
#
# MODE=client (the default) runs the driver on this node; MODE=cluster on one that YARN chooses. Settings files and @lists of this
#   node are then sent along, and the job's last lines are fetched when it ends.
# JOB selects a job other than run: preprocess, label and extract are the stages of a staged run, for separate clusters.
# INSTALLED=1 runs the package that the bootstrap action installed, not this folder's: a compiled wheel, which cannot be in a zip.
# DYNAMODB=eu-central-1 gives Delta its log store for several writers on S3: a DynamoDB table in that region with the name
#   DYNAMODB_TABLE (delta_log), which Delta creates if needed. All writers of an output must use the same. Without it, you must
#   promise that nothing else writes there: --set output.single_writer=true.
# SPARK_SUBMIT_FLAGS adds flags for spark-submit itself; later ones win, so --master local[2] tests it on one machine.
set -euo pipefail

stop() {
    echo "$1" >&2
    exit 2
}

# Adds the file $1 of this node to --files; $there is then its name at the driver. The name has a number, because spark-submit refuses
# two files with the same name, and no special characters, because it reads names as URIs.
ship() {
    [[ -f $1 ]] || stop "$2: there is no file $1 on this machine"
    there=${1##*/}
    there=${#files[@]}-${there//[^A-Za-z0-9._-]/_}
    cp "$1" "$folder/$there"
    files+=("$folder/$there")
}

# Sets $there to the driver's value of the flag $1, if this node got the value $2.
travel() {
    local part parts=()
    there=$2
    case $1 in
        --conf) ship "$2" "$1" ;;
        --warcs | --redo | --dismiss)
            while IFS= read -r -d , part; do
                there=$part
                if [[ $part == @* && $part != @*://* ]]; then
                    ship "${part#@}" "$1"
                    there=@$there
                fi
                parts+=("$there")
            done <<< "$2,"
            there=$(IFS=,; echo "${parts[*]}")
            ;;
    esac
}

# Sets $arguments to the job's arguments, and $files to the files of this node that it needs.
prepare_arguments() {
    local argument before=
    arguments=()
    files=()
    for argument; do
        there=$argument
        if [[ $mode == cluster ]]; then
            case $argument in
                --*=*)
                    travel "${argument%%=*}" "${argument#*=}"
                    there=${argument%%=*}=$there
                    ;;
                *) travel "$before" "$argument" ;;
            esac
        fi
        arguments+=("$there")
        before=$argument
    done
}

# Adds the flags of Delta's log store for several writers to $flags. $1: Delta's jars in conf/emr/spark.conf.
add_log_store() {
    local jar=${1##*,} scheme store=io.delta.storage.S3DynamoDBLogStore
    # Next to delta-storage.jar, the last of them.
    jar=${LOG_STORE_JAR:-${jar%.jar}-s3-dynamodb.jar}
    [[ -f $jar ]] || stop "DYNAMODB=$DYNAMODB: there is no $jar; name Delta's delta-storage-s3-dynamodb in LOG_STORE_JAR"
    flags+=(--conf "spark.jars=$1,$jar")
    for scheme in s3 s3a; do flags+=(--conf "spark.delta.logStore.$scheme.impl=$store"); done
    flags+=(--conf "spark.io.delta.storage.S3DynamoDBLogStore.ddb.region=$DYNAMODB")
    flags+=(--conf "spark.io.delta.storage.S3DynamoDBLogStore.ddb.tableName=${DYNAMODB_TABLE:-delta_log}")
}

# Sets $flags to the flags of spark-submit.
prepare_flags() {
    local key value jars=
    flags=(--master yarn --deploy-mode "$mode")
    # Not --properties-file: with it Spark ignores spark-defaults.conf, in which EMR sets dynamic allocation, the event log and S3's classes.
    while read -r key value; do
        [[ -z $key || $key == \#* ]] || flags+=(--conf "$key=$value")
        [[ $key != spark.jars ]] || jars=$value
    done < "$root/conf/emr/spark.conf"
    [[ -z ${DYNAMODB:-} ]] || add_log_store "$jars"
    if [[ -z ${INSTALLED:-} ]]; then
        # A zip: a wheel given to --py-files can be imported by the driver, but not by the workers.
        (cd "$root/lib" && "${PYTHON:-python3}" -m zipfile -c "$folder/dripper.zip" dripper dripper_labelers dripper_lab)
        flags+=(--py-files "$folder/dripper.zip")
    fi
    if [[ $mode == cluster ]]; then
        # YARN would repeat a job that ended with wrong usage or unfinished work, and start a second driver after losing contact with one.
        flags+=(--conf spark.yarn.maxAppAttempts=1)
        [[ ${#files[@]} -eq 0 ]] || flags+=(--files "$(IFS=,; echo "${files[*]}")")
    fi
    # shellcheck disable=SC2206  # several words
    flags+=(${SPARK_SUBMIT_FLAGS:-})
}

# The job's output goes into the log of the driver's container, which YARN collects in the seconds after its end.
last_lines() {
    local yarn=${YARN:-yarn} container
    container=$("$yarn" applicationattempt -list "$1" | grep -o 'container_[e0-9_]*' | tail -n 1) &&
        "$yarn" logs -applicationId "$1" -containerId "$container" -log_files stdout |
        sed '1,/^LogContents:/d; /^End of LogType:/,$d' | tail -n 60 | grep .
}

# Runs the command in cluster mode. There spark-submit always exits with 1, and names the job's code in its last lines.
run_in_cluster() {
    local log=$folder/log code=0 of_job application
    { "$@" 2>&1 >&3 | tee "$log" >&2; } 3>&1 || code=$?
    of_job=$(sed -n 's/.*User application exited with status \([0-9]*\).*/\1/p' "$log" | tail -n 1)
    application=$(grep -o 'application_[0-9]*_[0-9]*' "$log" | tail -n 1 || true)
    if [[ -n $application ]]; then
        for _ in 1 2 3 4 5 6; do
            if last_lines "$application" 2> "$folder/why"; then break; fi
            sleep "${PAUSE_SECONDS:-5}"
        done
        echo "the driver's whole log: yarn logs -applicationId $application" >&2
    fi
    exit "${of_job:-$code}"
}

# A function, because bash reads a script while it runs: a new version of this file must not end a run in progress.
main() {
    root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
    mode=${MODE:-client}
    case $mode in
        client | cluster) ;;
        *) stop "MODE=$mode: it is client (the driver runs on this node) or cluster (on one that YARN chooses)" ;;
    esac
    folder=$(mktemp -d)
    trap 'rm -r "$folder"' EXIT
    prepare_arguments "$@"
    prepare_flags
    local command=("${SPARK_SUBMIT:-spark-submit}" "${flags[@]}" "$root/jobs/${JOB:-run}.py" "${arguments[@]}")
    if [[ $mode == cluster ]]; then run_in_cluster "${command[@]}"; else exec "${command[@]}"; fi
}

main "$@"
