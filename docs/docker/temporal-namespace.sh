#!/bin/sh
# Makes the namespace; what has ended is kept for 30 days.
set -eu

until temporal operator cluster health; do
    sleep 2
done
temporal operator namespace describe --namespace default ||
    temporal operator namespace create --namespace default --retention 30d
