#include "frontends/torch/element_types.h"

#include <algorithm>
#include <array>

namespace fusescope::torch {
namespace {

struct TypeRow {
  std::int64_t number;       ///< of ScalarType in the schema of exported programs
  std::string_view name;     ///< in PyTorch
  std::string_view storage;  ///< of torch.save(); empty: such tensors have untyped storages
  DataType type;             ///< Undefined: no type here is like it
};

constexpr std::array kTypes{TypeRow{1, "uint8", "ByteStorage", DataType::U8},
                            TypeRow{2, "int8", "CharStorage", DataType::I8},
                            TypeRow{3, "int16", "ShortStorage", DataType::I16},
                            TypeRow{4, "int32", "IntStorage", DataType::I32},
                            TypeRow{5, "int64", "LongStorage", DataType::I64},
                            TypeRow{6, "float16", "HalfStorage", DataType::F16},
                            TypeRow{7, "float32", "FloatStorage", DataType::F32},
                            TypeRow{8, "float64", "DoubleStorage", DataType::F64},
                            TypeRow{9, "complex32", "", DataType::Undefined},
                            TypeRow{10, "complex64", "ComplexFloatStorage", DataType::C64},
                            TypeRow{11, "complex128", "ComplexDoubleStorage", DataType::C128},
                            TypeRow{12, "bool", "BoolStorage", DataType::Bool},
                            TypeRow{13, "bfloat16", "BFloat16Storage", DataType::BF16},
                            TypeRow{28, "uint16", "", DataType::U16},
                            TypeRow{29, "float8_e4m3fn", "", DataType::F8E4M3},
                            TypeRow{30, "float8_e5m2", "", DataType::F8E5M2},
                            TypeRow{31, "float8_e4m3fnuz", "", DataType::F8E4M3FNUZ},
                            TypeRow{32, "float8_e5m2fnuz", "", DataType::F8E5M2FNUZ},
                            TypeRow{33, "float8_e8m0fnu", "", DataType::F8E8M0},
                            TypeRow{34, "uint32", "", DataType::U32},
                            TypeRow{35, "uint64", "", DataType::U64}};

template <class Field, class Wanted>
const TypeRow* rowOf(Field field, const Wanted& wanted) {
  const auto row = std::ranges::find(kTypes, wanted, field);
  return row == kTypes.end() ? nullptr : &*row;
}

}  // namespace

DataType typeOfNumber(std::int64_t number) {
  const TypeRow* row = rowOf(&TypeRow::number, number);
  return row == nullptr ? DataType::Undefined : row->type;
}

std::string_view nameOfNumber(std::int64_t number) {
  const TypeRow* row = rowOf(&TypeRow::number, number);
  return row == nullptr ? std::string_view() : row->name;
}

DataType typeOfName(std::string_view name) {
  const TypeRow* row = rowOf(&TypeRow::name, name);
  return row == nullptr ? DataType::Undefined : row->type;
}

DataType typeOfStorage(std::string_view name) {
  const TypeRow* row = name.empty() ? nullptr : rowOf(&TypeRow::storage, name);
  return row == nullptr ? DataType::Undefined : row->type;
}

}  // namespace fusescope::torch
