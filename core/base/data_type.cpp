#include "base/data_type.h"

#include <array>
#include <utility>

namespace fusescope {
namespace {

struct Entry {
  DataType type;
  std::string_view name;
  int bits;
};

constexpr std::array kEntries{
    Entry{DataType::Undefined, "undefined", 0},
    Entry{DataType::F64, "f64", 64},
    Entry{DataType::F32, "f32", 32},
    Entry{DataType::F16, "f16", 16},
    Entry{DataType::BF16, "bf16", 16},
    Entry{DataType::F8E4M3, "f8e4m3", 8},
    Entry{DataType::F8E5M2, "f8e5m2", 8},
    Entry{DataType::F8E4M3FNUZ, "f8e4m3fnuz", 8},
    Entry{DataType::F8E5M2FNUZ, "f8e5m2fnuz", 8},
    Entry{DataType::F8E8M0, "f8e8m0", 8},
    Entry{DataType::F6E2M3, "f6e2m3", 6},
    Entry{DataType::F6E3M2, "f6e3m2", 6},
    Entry{DataType::F4E2M1, "f4e2m1", 4},
    Entry{DataType::I64, "int64", 64},
    Entry{DataType::I32, "int32", 32},
    Entry{DataType::I16, "int16", 16},
    Entry{DataType::I8, "int8", 8},
    Entry{DataType::I4, "int4", 4},
    Entry{DataType::I2, "int2", 2},
    Entry{DataType::U64, "uint64", 64},
    Entry{DataType::U32, "uint32", 32},
    Entry{DataType::U16, "uint16", 16},
    Entry{DataType::U8, "uint8", 8},
    Entry{DataType::U4, "uint4", 4},
    Entry{DataType::U2, "uint2", 2},
    Entry{DataType::Bool, "bool", 8},
    Entry{DataType::String, "string", 0},
    Entry{DataType::C64, "complex64", 64},
    Entry{DataType::C128, "complex128", 128},
};

constexpr std::array kLongNames{
    std::pair{std::string_view("float64"), DataType::F64},   std::pair{std::string_view("double"), DataType::F64},
    std::pair{std::string_view("float32"), DataType::F32},   std::pair{std::string_view("float"), DataType::F32},
    std::pair{std::string_view("float16"), DataType::F16},   std::pair{std::string_view("half"), DataType::F16},
    std::pair{std::string_view("bfloat16"), DataType::BF16}, std::pair{std::string_view("fp32"), DataType::F32},
    std::pair{std::string_view("fp16"), DataType::F16},
};

const Entry& entry(DataType type) {
  return kEntries[static_cast<std::size_t>(type)];
}

}  // namespace

std::string_view name(DataType type) {
  return entry(type).name;
}

std::optional<DataType> dataTypeFromName(std::string_view name) {
  for (const Entry& e : kEntries)
    if (e.name == name && e.type != DataType::Undefined) return e.type;
  for (const auto& [alias, type] : kLongNames)
    if (alias == name) return type;
  return std::nullopt;
}

std::size_t byteSize(DataType type, std::int64_t count) {
  return (static_cast<std::size_t>(count) * static_cast<std::size_t>(entry(type).bits) + 7) / 8;
}

int bitWidth(DataType type) {
  return entry(type).bits;
}

bool isPacked(DataType type) {
  return entry(type).bits > 0 && entry(type).bits < 8;
}
bool isFloat(DataType type) {
  return type >= DataType::F64 && type <= DataType::F4E2M1;
}
bool isInteger(DataType type) {
  return type >= DataType::I64 && type <= DataType::U2;
}

}  // namespace fusescope
