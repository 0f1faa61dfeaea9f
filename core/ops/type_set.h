#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "base/data_type.h"

namespace fusescope {

/// A set of element types, such as the types that an input of an operator may have.
class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(std::initializer_list<DataType> types) {
    for (const DataType type : types) m_bits |= bit(type);
  }
  constexpr bool contains(DataType type) const { return (m_bits & bit(type)) != 0; }
  constexpr TypeSet operator|(TypeSet other) const {
    TypeSet both;
    both.m_bits = m_bits | other.m_bits;
    return both;
  }
  std::string text() const;  ///< "f64, f32, f16"

 private:
  static constexpr std::uint32_t bit(DataType type) { return std::uint32_t{1} << static_cast<unsigned>(type); }
  std::uint32_t m_bits = 0;
};

/// The floats of 16 bits and more.
inline constexpr TypeSet kWideFloatTypes{DataType::F64, DataType::F32, DataType::F16, DataType::BF16};
inline constexpr TypeSet kFloatTypes = kWideFloatTypes | TypeSet{DataType::F8E4M3, DataType::F8E5M2};
inline constexpr TypeSet kFnuzTypes{DataType::F8E4M3FNUZ, DataType::F8E5M2FNUZ};
inline constexpr TypeSet kSignedTypes{DataType::I64, DataType::I32, DataType::I16, DataType::I8};
inline constexpr TypeSet kUnsignedTypes{DataType::U64, DataType::U32, DataType::U16, DataType::U8};
inline constexpr TypeSet kIntegerTypes = kSignedTypes | kUnsignedTypes;
inline constexpr TypeSet kNibbleTypes{DataType::I4, DataType::U4};
inline constexpr TypeSet kPackedIntegerTypes{DataType::I4, DataType::U4, DataType::I2, DataType::U2};
inline constexpr TypeSet kPackedFloatTypes{DataType::F6E2M3, DataType::F6E3M2, DataType::F4E2M1};
/// Types in which values are only stored, and which are not in kNumberTypes.
inline constexpr TypeSet kStorageTypes =
    kFnuzTypes | kPackedIntegerTypes | kPackedFloatTypes | TypeSet{DataType::F8E8M0};
inline constexpr TypeSet kNumberTypes = kFloatTypes | kIntegerTypes;
inline constexpr TypeSet kBoolType{DataType::Bool};
inline constexpr TypeSet kIndexTypes{DataType::I64, DataType::I32};
inline constexpr TypeSet kInt64Type{DataType::I64};
inline constexpr TypeSet kAnyType =
    kNumberTypes | kStorageTypes | kBoolType | TypeSet{DataType::String, DataType::C64, DataType::C128};

}  // namespace fusescope
