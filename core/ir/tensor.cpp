#include "ir/tensor.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <mutex>

#include "base/aligned_memory.h"
#include "base/float_bits.h"
#include "base/packed_bits.h"

namespace fusescope {
namespace {

std::shared_ptr<const void> allocateZeroed(std::size_t bytes) {
  const auto memory = std::make_shared<const AlignedMemory>(bytes);
  std::memset(memory->data(), 0, bytes);
  return {memory, memory->data()};
}

AlignedMemory copied(const std::byte* data, std::size_t bytes) {
  AlignedMemory memory(bytes);
  std::memcpy(memory.data(), data, bytes);
  return memory;
}

std::int64_t signedBits(unsigned bits, int width) {
  const auto value = static_cast<std::int64_t>(bits);
  return bits >> (width - 1) != 0 ? value - (std::int64_t{1} << width) : value;
}

template <class T>
T load(const std::byte* data, std::int64_t i) {
  T value;
  std::memcpy(&value, data + i * static_cast<std::int64_t>(sizeof(T)), sizeof value);
  return value;
}

template <class T>
void store(std::byte* data, std::int64_t i, T value) {
  std::memcpy(data + i * static_cast<std::int64_t>(sizeof(T)), &value, sizeof value);
}

template <class T>
T truncatedTo(
    // Float to integer truncates towards zero; outside the range it wraps through int64, as numpy does on x86.
    double value) {
  if (!(value >= -9.2233720368547758e18 && value < 9.2233720368547758e18)) {
    if constexpr (std::is_same_v<T, std::uint64_t>)
      if (value >= 0 && value < 1.8446744073709552e19) return static_cast<T>(value);
    return static_cast<T>(INT64_MIN);
  }
  return static_cast<T>(static_cast<std::int64_t>(value));
}

void storeFloat(std::byte* data, DataType type, std::int64_t i, double value) {
  switch (type) {
    case DataType::F64:
      return store(data, i, value);
    case DataType::F32:
      return store(data, i, static_cast<float>(value));
    case DataType::F16:
      return store(data, i, toFloat16Bits(static_cast<float>(value)));
    case DataType::BF16:
      return store(data, i, toBFloat16Bits(static_cast<float>(value)));
    case DataType::F8E4M3:
    case DataType::F8E5M2:
    case DataType::F8E4M3FNUZ:
    case DataType::F8E5M2FNUZ:
      return store(data, i, toSmallFloatBits(type, static_cast<float>(value)));
    case DataType::F8E8M0:
      return store(data, i, toScaleBits(static_cast<float>(value)));
    case DataType::F6E2M3:
    case DataType::F6E3M2:
    case DataType::F4E2M1:
      return writePacked(data, i, bitWidth(type), toSmallFloatBits(type, static_cast<float>(value)));
    default:
      assert(false);
  }
}

void storeInteger(std::byte* data, DataType type, std::int64_t i, std::int64_t value) {
  switch (type) {
    case DataType::I64:
    case DataType::U64:
      return store(data, i, value);
    case DataType::I32:
    case DataType::U32:
      return store(data, i, static_cast<std::int32_t>(value));
    case DataType::I16:
    case DataType::U16:
      return store(data, i, static_cast<std::int16_t>(value));
    case DataType::I8:
    case DataType::U8:
      return store(data, i, static_cast<std::int8_t>(value));
    case DataType::Bool:
      return store(data, i, static_cast<std::uint8_t>(value != 0));
    case DataType::I4:
    case DataType::U4:
    case DataType::I2:
    case DataType::U2:
      return writePacked(data, i, bitWidth(type), static_cast<unsigned>(value & 0xf));
    default:
      assert(false);
  }
}

/// Returns the alignment of an element in memory; a complex number is a pair.
std::size_t alignmentOf(DataType type) {
  const std::size_t bytes = byteSize(type, 2) / 2;
  const bool isPair = type == DataType::C64 || type == DataType::C128;
  return std::max<std::size_t>(isPair ? bytes / 2 : bytes, 1);
}

bool isMultipleOf(std::size_t bytes, const std::byte* data) {
  return reinterpret_cast<std::uintptr_t>(data) % bytes == 0;
}

}  // namespace

class Tensor::AlignedCopy {
 public:
  const std::byte* of(const std::byte* data, std::size_t bytes) {
    std::call_once(m_once, [&] { m_memory = copied(data, bytes); });
    return m_memory.data();
  }

 private:
  std::once_flag m_once;
  AlignedMemory m_memory;
};

const std::byte* Tensor::alignedCopy() const {
  return m_alignedCopy->of(m_data, byteSize());
}

Tensor Tensor::aligned() const {
  return m_alignedCopy == nullptr ? *this : aligned(alignmentOf(m_type));
}

Tensor Tensor::aligned(std::size_t bytes) const {
  if (isMultipleOf(bytes, m_data)) return *this;
  const auto memory = std::make_shared<const AlignedMemory>(copied(m_data, byteSize()));
  return view(m_type, m_dims, memory, memory->data());
}

Tensor Tensor::zeros(DataType type, Dims dims) {
  Tensor tensor = withoutData(type, std::move(dims));
  if (type == DataType::String) {
    tensor.m_strings = std::make_shared<std::vector<std::string>>(static_cast<std::size_t>(tensor.m_count));
    return tensor;
  }
  tensor.m_owner = allocateZeroed(tensor.byteSize());
  tensor.m_data = static_cast<const std::byte*>(tensor.m_owner.get());
  return tensor;
}

Tensor Tensor::view(DataType type, Dims dims, std::shared_ptr<const void> owner, const std::byte* data) {
  Tensor tensor = withoutData(type, std::move(dims));
  tensor.m_owner = std::move(owner);
  tensor.m_data = data;
  if (!isMultipleOf(alignmentOf(type), data)) tensor.m_alignedCopy = std::make_shared<AlignedCopy>();
  return tensor;
}

Tensor Tensor::withoutData(DataType type, Dims dims) {
  Tensor tensor;
  tensor.m_type = type;
  tensor.m_count = elementCount(dims).value();
  tensor.m_dims = std::move(dims);
  return tensor;
}

Tensor Tensor::ofStrings(Dims dims, std::vector<std::string> strings) {
  Tensor tensor = withoutData(DataType::String, std::move(dims));
  assert(static_cast<std::size_t>(tensor.m_count) == strings.size());
  tensor.m_strings = std::make_shared<const std::vector<std::string>>(std::move(strings));
  return tensor;
}

Tensor Tensor::ofElements(Container container, DataType type, std::vector<Tensor> elements) {
  assert(container != Container::None);
  Tensor tensor;
  tensor.m_type = type;
  tensor.m_container = container;
  tensor.m_count = static_cast<std::int64_t>(elements.size());
  tensor.m_elements = std::make_shared<const std::vector<Tensor>>(std::move(elements));
  return tensor;
}

const std::vector<Tensor>& Tensor::elements() const {
  static const std::vector<Tensor> kNone;
  return m_elements ? *m_elements : kNone;
}

Tensor Tensor::scalar(float value) {
  return copyOf<float>(DataType::F32, {}, std::span(&value, 1));
}

Tensor Tensor::ofInt64(std::vector<std::int64_t> values) {
  return copyOf<std::int64_t>(DataType::I64, {static_cast<std::int64_t>(values.size())}, values);
}

const std::vector<std::string>& Tensor::strings() const {
  static const std::vector<std::string> kNone;
  return m_strings ? *m_strings : kNone;
}

Tensor Tensor::reshaped(Dims dims) const {
  assert(elementCount(dims) == m_count);
  Tensor tensor = *this;
  tensor.m_dims = std::move(dims);
  return tensor;
}

double Tensor::asDouble(std::int64_t i) const {
  switch (m_type) {
    case DataType::F64:
      return load<double>(m_data, i);
    case DataType::F32:
      return load<float>(m_data, i);
    case DataType::F16:
      return fromFloat16Bits(load<std::uint16_t>(m_data, i));
    case DataType::BF16:
      return fromBFloat16Bits(load<std::uint16_t>(m_data, i));
    case DataType::F8E4M3:
    case DataType::F8E5M2:
    case DataType::F8E4M3FNUZ:
    case DataType::F8E5M2FNUZ:
    case DataType::F8E8M0:
      return fromSmallFloatBits(m_type, load<std::uint8_t>(m_data, i));
    case DataType::F6E2M3:
    case DataType::F6E3M2:
    case DataType::F4E2M1:
      return fromSmallFloatBits(m_type, static_cast<std::uint8_t>(readPacked(m_data, i, bitWidth(m_type))));
    case DataType::U64:
      return static_cast<double>(load<std::uint64_t>(m_data, i));
    default:
      return static_cast<double>(asInt64(i));
  }
}

std::int64_t Tensor::asInt64(std::int64_t i) const {
  switch (m_type) {
    case DataType::I64:
    case DataType::U64:
      return load<std::int64_t>(m_data, i);
    case DataType::I32:
      return load<std::int32_t>(m_data, i);
    case DataType::U32:
      return load<std::uint32_t>(m_data, i);
    case DataType::I16:
      return load<std::int16_t>(m_data, i);
    case DataType::U16:
      return load<std::uint16_t>(m_data, i);
    case DataType::I8:
      return load<std::int8_t>(m_data, i);
    case DataType::U8:
    case DataType::Bool:
      return load<std::uint8_t>(m_data, i);
    case DataType::I4:
    case DataType::I2:
      return signedBits(readPacked(m_data, i, bitWidth(m_type)), bitWidth(m_type));
    case DataType::U4:
    case DataType::U2:
      return readPacked(m_data, i, bitWidth(m_type));
    default:
      return isFloat(m_type) ? truncatedTo<std::int64_t>(asDouble(i)) : 0;
  }
}

Tensor Tensor::converted(DataType to) const {
  if (to == m_type) return *this;
  assert(hasData() && m_type != DataType::String && to != DataType::String);
  Tensor result = zeros(to, m_dims);
  std::byte* out = result.mutableBytes();
  const bool fromFloat = isFloat(m_type);
  for (std::int64_t i = 0; i < m_count; ++i) {
    if (isFloat(to)) {
      storeFloat(out, to, i, asDouble(i));
    } else if (to == DataType::Bool) {
      storeInteger(out, to, i, fromFloat ? asDouble(i) != 0 : asInt64(i) != 0);
    } else if (to == DataType::U64 && fromFloat) {
      storeInteger(out, to, i, static_cast<std::int64_t>(truncatedTo<std::uint64_t>(asDouble(i))));
    } else {
      storeInteger(out, to, i, asInt64(i));
    }
  }
  return result;
}

bool Tensor::identical(const Tensor& other) const {
  if (m_type != other.m_type || m_dims != other.m_dims || hasData() != other.hasData()) return false;
  if (m_container != Container::None || other.m_container != Container::None)
    return m_container == other.m_container &&
           std::ranges::equal(elements(), other.elements(),
                              [](const Tensor& a, const Tensor& b) { return a.identical(b); });
  if (m_type == DataType::String) return strings() == other.strings();
  return m_data == other.m_data || !hasData() || m_count == 0 || std::memcmp(m_data, other.m_data, byteSize()) == 0;
}

TensorType typeOf(const Tensor& tensor) {
  if (tensor.container() != Container::None)
    return {.dtype = tensor.type(), .shape = Shape::unknown(), .container = tensor.container()};
  return {.dtype = tensor.type(), .shape = Shape::of(tensor.dims())};
}

std::int64_t notFiniteIn(const Tensor& tensor) {
  if (!isFloat(tensor.type()) || tensor.container() != Container::None) return 0;
  if (tensor.type() == DataType::F32)
    return std::ranges::count_if(tensor.data<float>(), [](float element) { return !std::isfinite(element); });
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < tensor.count(); ++i) count += std::isfinite(tensor.asDouble(i)) ? 0 : 1;
  return count;
}

std::vector<std::int64_t> int64Values(const Tensor& tensor) {
  std::vector<std::int64_t> values;
  if (!tensor.hasData() || tensor.type() == DataType::String) return values;
  values.reserve(static_cast<std::size_t>(tensor.count()));
  for (std::int64_t i = 0; i < tensor.count(); ++i) values.push_back(tensor.asInt64(i));
  return values;
}

}  // namespace fusescope
