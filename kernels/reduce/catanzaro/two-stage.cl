// catanzaro/two-stage in OpenCL C. two-stage.cu describes and launches it.
// The host also defines UNROLL, the factor of the pragma; 0 leaves the pragma out.

kernel void catanzaro_two_stage(global const T* values, ulong values_begin, ulong n,
                                global T* results, ulong results_begin, local T* partial) {
  values += values_begin;
  results += results_begin;
  const ulong global_size = get_global_size(0);
  const uint t = get_local_id(0);

  T accumulator = IDENTITY;
#if UNROLL
#pragma unroll UNROLL
#endif
  for (ulong i = get_global_id(0); i < n; i += global_size)
    accumulator = combine(accumulator, values[i]);

  partial[t] = accumulator;
  fold_halves(partial);

  if (t == 0) results[get_group_id(0)] = partial[0];
}
