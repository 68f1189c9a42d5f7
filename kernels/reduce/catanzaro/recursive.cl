// catanzaro/recursive in OpenCL C. recursive.cu describes and launches it.

kernel void catanzaro_recursive(global const T* values, ulong values_begin, ulong n,
                                global T* results, ulong results_begin, local T* partial) {
  values += values_begin;
  results += results_begin;
  const ulong i = get_global_id(0);
  const uint t = get_local_id(0);

  partial[t] = i < n ? values[i] : IDENTITY;
  fold_halves(partial);

  if (t == 0) results[get_group_id(0)] = partial[0];
}
