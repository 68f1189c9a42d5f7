// What stands before every kernel in OpenCL C. The host defines (kernels/platform/opencl.hpp):
//   T           the type of the elements; T_BYTES its size, T_IS_FLOAT whether it is a float
//   WRAPPING    the unsigned type of its size, in which sums and products wrap; T itself for floats
//   OP_<name>   the operator; IDENTITY its neutral element

#if T_IS_FLOAT && T_BYTES == 8
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

T combine(T a, T b) {
#if defined(OP_sum)
  return (T)((WRAPPING)a + (WRAPPING)b);
#elif defined(OP_min)
  return b < a ? b : a;
#elif defined(OP_max)
  return a < b ? b : a;
#elif defined(OP_prod)
  return (T)((WRAPPING)a * (WRAPPING)b);
#elif defined(OP_and)
  return a & b;
#elif defined(OP_or)
  return a | b;
#elif defined(OP_xor)
  return a ^ b;
#elif defined(OP_right)
  return b == IDENTITY ? a : b;
#elif defined(OP_affine)
  // Maps x -> m * x + c modulo 2^32: m is the upper half of an element, c the lower.
  const uint am = (uint)((ulong)a >> 32), ac = (uint)a;
  const uint bm = (uint)((ulong)b >> 32), bc = (uint)b;
  return (T)((ulong)(am * bm) << 32 | (bm * ac + bc));
#endif
}

// Folds the upper half of the active elements onto the lower half until partial[0] holds the result.
// The size of the work-group is a power of two; the operator must commute.
void fold_halves(local T* partial) {
  const uint t = get_local_id(0);
  for (uint offset = get_local_size(0) / 2; offset > 0; offset /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < offset) partial[t] = combine(partial[t], partial[t + offset]);
  }
}
