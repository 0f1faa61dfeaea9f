#include "backends/native/float_rows.h"

#include "backends/native/narrow_floats.h"
#include "base/aligned_memory.h"

namespace fusescope::native {

const float* readFloats(const Ref& ref, Memory memory, std::int64_t begin, std::int64_t count, float* own) {
  const auto elements = static_cast<std::size_t>(count);
  switch (ref.dtype) {
    case DataType::F16:
      toFloats(elementsAt<const Half>(ref, memory) + begin, own, elements);
      return own;
    case DataType::BF16:
      toFloats(elementsAt<const Brain>(ref, memory) + begin, own, elements);
      return own;
    default:
      return elementsAt<const float>(ref, memory) + begin;
  }
}

float* placeFloats(const Ref& ref, Memory memory, std::int64_t begin, float* own) {
  return isNarrow(ref.dtype) ? own : elementsAt<float>(ref, memory) + begin;
}

void storeFloats(const Ref& ref, Memory memory, std::int64_t begin, std::int64_t count, const float* from) {
  const auto elements = static_cast<std::size_t>(count);
  if (ref.dtype == DataType::F16) fromFloats(from, elementsAt<Half>(ref, memory) + begin, elements);
  if (ref.dtype == DataType::BF16) fromFloats(from, elementsAt<Brain>(ref, memory) + begin, elements);
}

std::size_t rowBytes(const Ref& from, const Ref& to, std::int64_t count) {
  const bool isNeeded = isNarrow(from.dtype) || isNarrow(to.dtype);
  return isNeeded ? wholeLines(static_cast<std::size_t>(count) * sizeof(float)) : 0;
}

}  // namespace fusescope::native
