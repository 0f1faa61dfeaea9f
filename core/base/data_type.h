#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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
  F8E8M0,  ///< a power of two from 2^-127 to 2^127, or NaN: the scale of microscaling formats
  F6E2M3,
  F6E3M2,
  F4E2M1,
  I64,
  I32,
  I16,
  I8,
  I4,
  I2,
  U64,
  U32,
  U16,
  U8,
  U4,
  U2,
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
inline std::string toText(DataType type) {
  return std::string(name(type));
}
/// The inverse of name(); also accepts the long spellings "float32", "float16", "bfloat16", "double".
std::optional<DataType> dataTypeFromName(std::string_view name);

/// Bytes of `count` elements in memory. Types narrower than a byte lie as one stream of bits, lowest first: 4-bit ones
/// pack two to a byte, 2-bit ones four, 6-bit ones four to three bytes. String: 0.
std::size_t byteSize(DataType type, std::int64_t count);
int bitWidth(DataType type);  ///< of one element; 0 for String and Undefined

bool isPacked(DataType type);   ///< narrower than a byte
bool isFloat(DataType type);    ///< F64 … F4E2M1
bool isInteger(DataType type);  ///< signed and unsigned, not Bool
/// I8 and U8: codes that kernels read and write as they are.
constexpr bool isByteInteger(DataType type) {
  return type == DataType::I8 || type == DataType::U8;
}
/// F16 and BF16: the floats of 16 bits, which kernels read and write and calculate wider.
constexpr bool isNarrow(DataType type) {
  return type == DataType::F16 || type == DataType::BF16;
}

}  // namespace fusescope
