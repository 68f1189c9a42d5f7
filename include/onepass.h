/* onepass as functions of C, in the shared library libonepass.so: for other languages, and for what is not
 * compiled by nvcc. The functions are those of onepass.hpp, with its types and operators as numbers;
 * docs/library.md tells what they do. All pointers but those to sizes lead to memory of `device`, and
 * `stream` is a cudaStream_t of it. Every function returns a cudaError_t: 0 where all went well. */
#ifndef ONEPASS_H
#define ONEPASS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Types of values; of a histogram's labels. */
enum { ONEPASS_I32 = 0, ONEPASS_I64 = 1, ONEPASS_F32 = 2, ONEPASS_F64 = 3 };
enum { ONEPASS_U8 = 4, ONEPASS_U32 = 5, ONEPASS_U16 = 8 };
/* Operators. */
enum { ONEPASS_SUM = 0, ONEPASS_MIN = 1, ONEPASS_MAX = 2 };

/* Without a workspace (a null pointer), each of these stores the bytes that it needs at
 * `workspace_bytes`. */
int onepass_reduce(int device, int type, int op, void* workspace, size_t* workspace_bytes,
                   const void* values, void* result, size_t n, void* stream);
int onepass_reduce_exact(int device, int type, void* workspace, size_t* workspace_bytes,
                         const void* values, void* result, size_t n, void* stream);
int onepass_multireduce(int device, int type, int op, void* workspace, size_t* workspace_bytes,
                        const void* values, const uint32_t* labels, void* results, size_t n,
                        size_t buckets, void* stream);
int onepass_histogram(int device, int label_type, void* workspace, size_t* workspace_bytes,
                      const void* labels, uint32_t* counts, size_t n, size_t buckets, void* stream);
int onepass_multiscan(int device, int type, int op, int inclusive, void* workspace,
                      size_t* workspace_bytes, const void* values, const uint32_t* labels,
                      void* results, size_t n, size_t buckets, void* stream);

/* A workspace, with the bytes at its beginning zeroed that must be zero before its first call; and its
 * end, which waits until the device is done with it. */
int onepass_create_workspace(int device, size_t bytes, void** workspace);
int onepass_destroy_workspace(int device, void* workspace);

/* The device in whose memory a pointer leads: -1 where it is memory of the host, -2 where CUDA does not
 * know. */
int onepass_device_of(const void* pointer);
/* The name and meaning of a code. The text stays. */
const char* onepass_error_text(int code);

#ifdef __cplusplus
}
#endif

#endif
