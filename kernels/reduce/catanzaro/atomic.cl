// catanzaro/atomic in OpenCL C. atomic.cu describes and launches it.

#if T_BYTES == 8
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define WORD ulong
#define COMPARE_EXCHANGE atom_cmpxchg
#define ADD atom_add
#else
#define WORD uint
#define COMPARE_EXCHANGE atomic_cmpxchg
#define ADD atomic_add
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define AS_WORD JOIN(as_, WORD)
#define AS_T JOIN(as_, T)

// *address = combine(*address, value), indivisibly: the instruction where OpenCL 1.2 has one, else a
// loop that ends without a swap where the update would change nothing.
void atomic_combine(volatile global T* address, T value) {
#if defined(OP_sum) && !T_IS_FLOAT
  ADD((volatile global WORD*)address, (WORD)value);
#elif defined(OP_min) && !T_IS_FLOAT && T_BYTES == 4
  atomic_min(address, value);
#elif defined(OP_max) && !T_IS_FLOAT && T_BYTES == 4
  atomic_max(address, value);
#else
  volatile global WORD* word = (volatile global WORD*)address;
  WORD seen = *word;
  for (;;) {
    const T combined = combine(AS_T(seen), value);
    if (combined == AS_T(seen)) return;
    const WORD before = COMPARE_EXCHANGE(word, seen, AS_WORD(combined));
    if (before == seen) return;
    seen = before;
  }
#endif
}

kernel void catanzaro_atomic(global const T* values, ulong values_begin, ulong n,
                             global T* results, ulong results_begin, local T* partial) {
  values += values_begin;
  results += results_begin;
  const ulong i = get_global_id(0);
  const uint t = get_local_id(0);

  partial[t] = i < n ? values[i] : IDENTITY;
  fold_halves(partial);

  if (t == 0) atomic_combine(results, partial[0]);
}
