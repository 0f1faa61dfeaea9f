#include "engine/tactics/measured_data.h"

namespace fusescope {

Tensor differingFloats(Dims dims) {
  Tensor tensor = Tensor::zeros(DataType::F32, std::move(dims));
  std::uint32_t state = 0x9e3779b9U;
  for (float& value : tensor.mutableData<float>()) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8) / 8388608.0F - 1.0F;
  }
  return tensor;
}

}  // namespace fusescope
