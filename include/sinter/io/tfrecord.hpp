// SPDX-License-Identifier: BSL-1.0
#pragma once

/// TFRecord files and what most of them hold: tf.train.Example and SequenceExample.
#include <sinter/io/tfrecord/example.hpp>
#include <sinter/io/tfrecord/example_writer.hpp>
#include <sinter/io/tfrecord/index.hpp>
#include <sinter/io/tfrecord/reader.hpp>
#include <sinter/io/tfrecord/record_file.hpp>
#include <sinter/io/tfrecord/shard_name.hpp>
#include <sinter/io/tfrecord/writer.hpp>
