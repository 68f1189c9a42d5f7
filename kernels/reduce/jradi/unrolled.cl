// jradi/unrolled in OpenCL C. unrolled.cu describes and launches it.
//
// The host also defines FACTOR, the elements of a step, and MULTIPLY, whether an element is multiplied
// by its predicate.

// The values of `Tree` in unrolled.cu.
#define TREE_BARRIERS 0
#define TREE_ALGEBRAIC 1

T neutral_unless(bool inside, T element) {
#if MULTIPLY
  return (T)inside * element;
#else
  return inside ? element : IDENTITY;
#endif
}

// As published an element beyond the input is read and multiplied by 0.
T element_if(bool inside, global const T* element) {
#if MULTIPLY
  return (T)inside * *element;
#else
  return inside ? *element : IDENTITY;
#endif
}

// A step of the tree without a branch: what the work-item's element becomes. A work-item beyond
// `offset` reads its own element in place of another.
T folded(volatile local const T* partial, uint offset) {
  const uint t = get_local_id(0);
  const bool active = t < offset;
  const T own = partial[t], other = partial[t + active * offset];
  return combine(own, neutral_unless(active, other));
}

void fold_without_branches(local T* partial) {
  for (uint offset = get_local_size(0) / 2; offset > 0; offset /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const T sum = folded(partial, offset);
    barrier(CLK_LOCAL_MEM_FENCE);
    partial[get_local_id(0)] = sum;
  }
}

// Relies on all work-items being in the same step, which OpenCL never promises.
void fold_without_barriers(volatile local T* partial) {
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint offset = get_local_size(0) / 2; offset > 0; offset /= 2)
    partial[get_local_id(0)] = folded(partial, offset);
}

kernel void jradi_unrolled(global const T* values, ulong values_begin, ulong n, uint tree,
                           global T* results, ulong results_begin, local T* partial) {
  values += values_begin;
  results += results_begin;
  const uint t = get_local_id(0);
  const ulong stride = get_global_size(0) * FACTOR;

  T accumulator = IDENTITY;
  for (ulong i = get_global_id(0) * FACTOR; i < n; i += stride) {
    T step = values[i];
#pragma unroll
    for (uint k = 1; k < FACTOR; ++k)
      step = combine(step, element_if(i + k < n, values + i + k));
    accumulator = combine(accumulator, step);
  }

  partial[t] = accumulator;
  if (tree == TREE_BARRIERS) fold_halves(partial);
  else if (tree == TREE_ALGEBRAIC) fold_without_branches(partial);
  else fold_without_barriers(partial);

  if (t == 0) results[get_group_id(0)] = partial[0];
}
