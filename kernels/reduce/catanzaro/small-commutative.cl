// catanzaro/small-commutative in OpenCL C. small-commutative.cu describes and launches it.

kernel void catanzaro_small_commutative(global const T* values, ulong values_begin, uint n,
                                        global T* results, ulong results_begin,
                                        local T* partial) {
  values += values_begin;
  results += results_begin;
  const uint t = get_local_id(0);

  partial[t] = t < n ? values[t] : IDENTITY;
  fold_halves(partial);

  if (t == 0) *results = partial[0];
}
