#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fusescope {

/// Element types of tensors. The order is part of no format; files hold names.
enum class DataType : std::uint8_t {
  Undefined,
  F64,
  F32,
  F16,
  BF16,
  F8E4M3,
  F8E5M2,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  I64,
  I32,
  I16,
  I8,
  I4,
  U64,
  U32,
  U16,
  U8,
  U4,
  Bool,
  String,
  C64,
  C128,
};

/// What a value holds: a tensor, or a container of tensors (ONNX's sequence and optional types).
enum class Container : std::uint8_t {
  None,
  Sequence,          ///< any number of tensors
  Optional,          ///< one tensor or nothing
  OptionalSequence,  ///< one sequence or nothing
};

/// The name used everywhere: "f32", "bf16", "int64", "bool" … ("undefined" for Undefined).
std::string_view name(DataType type);
/// The inverse of name(); also accepts the long spellings "float32", "float16", "bfloat16", "double".
std::optional<DataType> dataTypeFromName(std::string_view name);

/// Bytes of `count` elements in memory; 4-bit types pack two to a byte. String: 0.
std::size_t byteSize(DataType type, std::int64_t count);

bool isFloat(DataType type);    ///< F64 … F8E5M2FNUZ
bool isInteger(DataType type);  ///< signed and unsigned, not Bool

}  // namespace fusescope
