#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fusescope {

/// The element types of tensors. No file depends on their order, because files contain their names.
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

/// Whether a value is a tensor or a container of tensors (ONNX's sequence and optional types).
enum class Container : std::uint8_t {
  None,
  Sequence,          ///< any number of tensors
  Optional,          ///< one tensor or nothing
  OptionalSequence,  ///< one sequence or nothing
};

/// Returns the name of a type in files, commands and messages: "f32", "bf16", "int64", "bool" …; "undefined" for
/// Undefined.
std::string_view name(DataType type);
inline std::string toText(DataType type) {
  return std::string(name(type));
}
/// Returns the inverse of name(). It also accepts the long spellings "float32", "float16", "bfloat16" and "double".
std::optional<DataType> dataTypeFromName(std::string_view name);

/// Returns the number of bytes that `count` elements take in memory. Elements narrower than a byte are packed as one
/// stream of bits, lowest bit first: two 4-bit elements or four 2-bit elements share a byte, and four 6-bit elements
/// share three bytes. For String it is 0.
std::size_t byteSize(DataType type, std::int64_t count);
int bitWidth(DataType type);  ///< bits of one element; 0 for String and Undefined

bool isPacked(DataType type);   ///< an element is narrower than a byte
bool isFloat(DataType type);    ///< one of F64 … F4E2M1
bool isInteger(DataType type);  ///< a signed or unsigned integer; Bool is none
/// Returns whether `type` is I8 or U8. Kernels read and write these quantised codes as they are.
constexpr bool isByteInteger(DataType type) {
  return type == DataType::I8 || type == DataType::U8;
}
/// Returns whether `type` is F16 or BF16. Kernels read and write these floats of 16 bits, and calculate in a wider
/// type.
constexpr bool isNarrow(DataType type) {
  return type == DataType::F16 || type == DataType::BF16;
}

}  // namespace fusescope
