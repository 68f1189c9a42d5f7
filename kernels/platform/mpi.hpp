// MPI, for the processes that mpirun starts together: the ranks.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/api/types.hpp"

namespace reduce_bench::mpi {

/// Opens OpenMPI's library and initialises it, which a process can do once. Throws
/// std::runtime_error where the library is not there. All other functions need it.
void start();
/// Whether this process called `start`.
bool is_started();
/// All ranks call it before they end.
void finish();

unsigned rank();
unsigned count();
/// `Open MPI 4.1.4`.
std::string version();

/// Whole messages between two ranks, in the order in which they were sent.
void send(const void* data, std::size_t size_bytes, unsigned to);
void receive(void* data, std::size_t size_bytes, unsigned from);
/// Sleeps until a message of that rank is there, and leaves the processor to the others meanwhile.
void await_message(unsigned from);
/// `size_bytes` of every rank, in their order, on every rank.
void gather_all(const void* data, std::size_t size_bytes, void* all);

/// What follows is done together by as many ranks, the first ones. All ranks call it.
void use_first(unsigned ranks);
void barrier();
/// Sends what rank 0 has to the others.
void broadcast(void* data, std::size_t size_bytes);
/// Combines `count` values of every rank into `to`: on rank 0, or on `all`. The operator is sum,
/// product, minimum or maximum.
void combine(const void* from, void* to, std::size_t count, Type type, Op op, bool all);

/// Whether this process is in a call above that ends when another rank does something. A signal
/// handler may ask.
bool is_waiting();

}  // namespace reduce_bench::mpi
