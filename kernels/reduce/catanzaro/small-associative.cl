// catanzaro/small-associative in OpenCL C. small-associative.cu describes and launches it.

kernel void catanzaro_small_associative(global const T* values, ulong values_begin, uint n,
                                        global T* results, ulong results_begin,
                                        local T* partial) {
  values += values_begin;
  results += results_begin;
  const uint t = get_local_id(0);

  partial[t] = t < n ? values[t] : IDENTITY;
  barrier(CLK_LOCAL_MEM_FENCE);

  // Asked for before the loop: PoCL 3.1 leaves the loop out where its condition asks.
  const uint size = get_local_size(0);
  for (uint offset = 1; offset < size; offset *= 2) {
    const uint mask = 2 * offset - 1;
    if ((t & mask) == 0) partial[t] = combine(partial[t], partial[t + offset]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  if (t == 0) *results = partial[0];
}
