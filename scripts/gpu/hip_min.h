// Enough of HIP's device side to compile kernels with clang alone, without ROCm: to see that they compile, not to run them.
#pragma once
#define __HIPCC__ 1
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(threads) __attribute__((amdgpu_flat_work_group_size(threads, threads)))
#define HIP_DEVICE static __device__ __forceinline__
struct uint2 { unsigned x, y; } __attribute__((aligned(8)));
struct uint4 { unsigned x, y, z, w; } __attribute__((aligned(16)));
#define __shared__ __attribute__((shared))
struct Thread {
  struct X { __device__ operator unsigned() const { return __builtin_amdgcn_workitem_id_x(); } } x;
  struct Y { __device__ operator unsigned() const { return __builtin_amdgcn_workitem_id_y(); } } y;
  struct Z { __device__ operator unsigned() const { return __builtin_amdgcn_workitem_id_z(); } } z;
};
struct Block { struct X { __device__ operator unsigned() const { return __builtin_amdgcn_workgroup_id_x(); } } x; };
static __device__ Thread threadIdx;
static __device__ Block blockIdx;
HIP_DEVICE int own_lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
template<class T> HIP_DEVICE T of_lane(T v, int lane) {
  int words[(sizeof(T) + 3) / 4];
  __builtin_memcpy(words, &v, sizeof(T));
  for (int &word : words) word = __builtin_amdgcn_ds_bpermute(lane * 4, word);
  __builtin_memcpy(&v, words, sizeof(T));
  return v;
}
template<class T> HIP_DEVICE T __shfl_up(T v, int by, int width) {
  const int me = own_lane();
  return of_lane(v, (me & (width - 1)) - by < 0 ? me : me - by);
}
template<class T> HIP_DEVICE T __shfl_down(T v, int by, int width) {
  const int me = own_lane();
  return of_lane(v, (me & (width - 1)) + by >= width ? me : me + by);
}
template<class T> HIP_DEVICE T __shfl_xor(T v, int by, int) { return of_lane(v, own_lane() ^ by); }
HIP_DEVICE void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
template<class T> HIP_DEVICE T __ldg(const T *p) { return *p; }
#define HIP_FLOATS(T, f, d, suffix) \
  HIP_DEVICE T __##f##add_rn(T a, T b) { return a + b; } \
  HIP_DEVICE T __##f##sub_rn(T a, T b) { return a - b; } \
  HIP_DEVICE T __##f##mul_rn(T a, T b) { return a * b; } \
  HIP_DEVICE T __##f##div_rn(T a, T b) { return a / b; } \
  HIP_DEVICE T __##f##sqrt_rn(T a) { return __builtin_sqrt##suffix(a); } \
  HIP_DEVICE T __##d##_rn(T a, T b, T c) { return __builtin_fma##suffix(a, b, c); }
HIP_FLOATS(float, f, fmaf, f) HIP_FLOATS(double, d, fma, )
HIP_DEVICE float fabsf(float a) { return __builtin_fabsf(a); }
HIP_DEVICE double fabs(double a) { return __builtin_fabs(a); }
