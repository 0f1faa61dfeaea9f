#pragma once

#include <optional>

#include "backends/native/lowering/region_facts.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// The relation between 8-bit codes and numbers, number = (code - zero) · scale, with one constant scale.
struct CodeScale {
  ValueId scale;
  float zero = 0;
  DataType type = DataType::Undefined;  ///< I8 or U8
  float least() const { return type == DataType::I8 ? -128.0f : 0.0f; }
  float most() const { return type == DataType::I8 ? 127.0f : 255.0f; }
};

/// Returns whether the node is a QuantizeLinear or DequantizeLinear between bytes and f32 with constant parameters,
/// without a block size or precision, which have rules of their own.
bool isQuantizationOfBytes(const RegionFacts& region, const Node& node);
/// Returns the scale of the codes of a QuantizeLinear or DequantizeLinear; nothing if there are several scales.
std::optional<CodeScale> codeScaleOf(const RegionFacts& region, const Node& node);

}  // namespace fusescope::native
