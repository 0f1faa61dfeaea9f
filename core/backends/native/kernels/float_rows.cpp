#include "backends/native/kernels/float_rows.h"

#include "base/aligned_memory.h"

namespace fusescope::native {

Floats floatsAt(const Ref& ref, Memory memory, std::int64_t begin) {
  return Floats{ref.dtype, bytesAt(ref, memory)}.from(begin);
}

const float* readFloats(const Ref& ref, Memory memory, std::int64_t begin, std::int64_t count, float* own) {
  if (!isNarrow(ref.dtype)) return elementsAt<const float>(ref, memory) + begin;
  toFloats(floatsAt(ref, memory, begin), own, static_cast<std::size_t>(count));
  return own;
}

float* placeFloats(const Ref& ref, Memory memory, std::int64_t begin, float* own) {
  return isNarrow(ref.dtype) ? own : elementsAt<float>(ref, memory) + begin;
}

void storeFloats(const Ref& ref, Memory memory, std::int64_t begin, std::int64_t count, const float* from) {
  if (isNarrow(ref.dtype)) fromFloats(from, floatsAt(ref, memory, begin), static_cast<std::size_t>(count));
}

std::size_t rowBytes(const Ref& from, const Ref& to, std::int64_t count) {
  const bool isNeeded = isNarrow(from.dtype) || isNarrow(to.dtype);
  return isNeeded ? wholeLines(static_cast<std::size_t>(count) * sizeof(float)) : 0;
}

}  // namespace fusescope::native
