#include "target/target.h"

namespace fusescope {

Capabilities hostCapabilities() {
  Capabilities capabilities;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) capabilities.insert("avx2");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    capabilities.insert("avx512");
  }
  if (__builtin_cpu_supports("avx512vnni")) capabilities.insert("avx512_vnni");
  if (__builtin_cpu_supports("avx512bf16")) capabilities.insert("avx512_bf16");
#if !defined(__clang__) || __clang_major__ >= 19  // earlier ones do not know all of these names; such builds only fuzz
  if (__builtin_cpu_supports("f16c")) capabilities.insert("f16c");
  if (__builtin_cpu_supports("avx512fp16")) capabilities.insert("avx512_fp16");
  if (__builtin_cpu_supports("amx-int8")) capabilities.insert("amx_int8");
  if (__builtin_cpu_supports("amx-bf16")) capabilities.insert("amx_bf16");
#endif
#endif
  return capabilities;
}

}  // namespace fusescope
