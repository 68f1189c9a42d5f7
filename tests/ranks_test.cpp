// What mpirun and the ranks print, and what is told of it. That these are their words is tested with
// mpirun itself (tests/python/test_ranks.py).
#include "worker/ranks.hpp"

#include <gtest/gtest.h>

namespace reduce_bench {
namespace {

constexpr const char* kKilled = R"(
--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
mpirun noticed that process rank 12 with PID 0 on node vm exited on signal 11 (Segmentation fault).
)";
constexpr const char* kExited = R"(
mpirun detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[19451,1],3]
  Exit code:    7
)";

TEST(Ranks, TheOneThatEndedIsNamed) {
  EXPECT_EQ(how_ranks_ended(kKilled, "exited with status 139"),
            "of rank 12 was killed by SIGSEGV (Segmentation fault)");
  EXPECT_EQ(how_ranks_ended(kExited, "exited with status 7"), "of rank 3 exited with status 7");
}

TEST(Ranks, HalfOfWhatMpirunSaysNamesNone) {
  for (const char* const half :
       {"process rank 12 with PID 0 on node vm\nexited on signal 11 (Segmentation fault).\n",
        "process rank x with PID 0 on node vm exited on signal 11 (Segmentation fault).\n",
        "process rank 12 with PID 0 on node vm exited on signal \n", "  Exit code:    7\n",
        "  Process name: [[19451,1],3]\n\n  Exit code:    \n", "  Process name: [[19451,1],3]\n"})
    EXPECT_EQ(how_ranks_ended(half, "exited with status 7"), "of mpirun exited with status 7")
        << half;
  // What came before is not of it.
  EXPECT_EQ(how_ranks_ended(std::string("I am process rank 5\n") + kKilled, ""),
            "of rank 12 was killed by SIGSEGV (Segmentation fault)");
}

TEST(Ranks, WhatItSaidIsToldToo) {
  const std::string said = "reduce-bench: out of order\nreduce-bench: rank 1 is at work\n";
  EXPECT_EQ(how_ranks_ended(said + kExited, "exited with status 7"),
            "of rank 3 exited with status 7; it said \"out of order\"");
}

TEST(Ranks, WhereMpirunNamesNoneItIsToldHowMpirunEnded) {
  EXPECT_EQ(how_ranks_ended("", "exited with status 1"), "of mpirun exited with status 1");
  EXPECT_EQ(how_ranks_ended("reduce-bench: mpirun cannot be started\n", "exited with status 2"),
            "of mpirun exited with status 2; it said \"mpirun cannot be started\"");
}

TEST(Ranks, ThoseThatDoNotWaitAreNamed) {
  const std::string two_wait =
      "reduce-bench: rank 0 waits for other ranks\nreduce-bench: rank 2 waits for other ranks\n";
  EXPECT_FALSE(all_ranks_told(two_wait, 3));
  EXPECT_FALSE(all_ranks_told(two_wait + "a library waits for other ranks\n", 3));
  EXPECT_EQ(ranks_at_work(two_wait, 3), "the others wait for rank 1");
  EXPECT_EQ(ranks_at_work(two_wait, 4), "the others wait for ranks 1, 3");
  EXPECT_TRUE(all_ranks_told(two_wait + "reduce-bench: rank 1 is at work\n", 3));
  EXPECT_EQ(ranks_at_work("reduce-bench: rank 12 waits for other ranks\n", 3),
            "no rank came to an end");
}

TEST(Ranks, AllMayWaitForEachOther) {
  EXPECT_EQ(ranks_at_work("reduce-bench: rank 0 waits for other ranks\n"
                          "reduce-bench: rank 1 waits for other ranks\n",
                          2),
            "all ranks wait for each other");
}

}  // namespace
}  // namespace reduce_bench
