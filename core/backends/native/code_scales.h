#pragma once

#include <optional>

#include "backends/native/region_facts.h"

namespace fusescope::native {

/// How codes of 8 bits stand for numbers: number = (code - zero) · scale, by one scale that is a constant.
struct CodeScale {
  ValueId scale;
  float zero = 0;
  DataType type = DataType::Undefined;  ///< I8 or U8
  float least() const { return type == DataType::I8 ? -128.0f : 0.0f; }
  float most() const { return type == DataType::I8 ? 127.0f : 255.0f; }
};

/// Whether it is a QuantizeLinear or DequantizeLinear of bytes by constants of f32, without the rules of their own that
/// a block size or a precision bring.
bool isQuantizationOfBytes(const RegionFacts& region, const Node& node);
/// The scale of the codes of a QuantizeLinear or DequantizeLinear; nothing where there is more than one.
std::optional<CodeScale> codeScaleOf(const RegionFacts& region, const Node& node);

}  // namespace fusescope::native
