// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>

#if !__has_include(<mpi.h>)
#error "sinter/collective/mpi.hpp needs an MPI library (Debian, Ubuntu: libopenmpi-dev), or mpicxx as compiler"
#endif
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX   // the C interface alone
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#endif
#include <mpi.h>
