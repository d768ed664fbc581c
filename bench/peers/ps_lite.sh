#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Builds FOLDER/ps_lite (default build/peers) from ps-lite, the parameter server of MXNet: its
# sources are taken from the checkout that PS_LITE names, else cloned. Needs ZeroMQ and protobuf
# (Debian: libzmq3-dev libprotobuf-dev protobuf-compiler).
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:-$top/build/peers}
version=15b8adf
source=${PS_LITE:-$folder/ps-lite}
mkdir -p "$folder/ps-lite-objects"
[ -e "$source" ] || git clone --quiet https://github.com/dmlc/ps-lite "$source"
[ -n "${PS_LITE:-}" ] || git -C "$source" checkout --quiet "$version"
protoc --cpp_out="$folder/ps-lite-objects" --proto_path="$source/src" "$source/src/meta.proto"
${CXX:-g++} -std=c++20 -O3 -march=native -w \
    -I"$source/include" -I"$source/src" -I"$folder/ps-lite-objects" -I"$top/include" \
    "$top/bench/peers/ps_lite.cpp" "$source"/src/*.cc "$folder/ps-lite-objects/meta.pb.cc" \
    -lzmq -lprotobuf -lpthread -o "$folder/ps_lite"
