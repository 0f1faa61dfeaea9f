#include "backends/native/steps/convert_step.h"

#include <algorithm>

#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/kernels/parallel.h"
#include "base/float_bits.h"

namespace fusescope::native {
namespace {

constexpr std::int64_t kFewConversions = 32 * 1024;
constexpr std::int64_t kStretch = 4 * 1024;  ///< elements that a thread converts in one piece

struct Truth {
  std::uint8_t bits;
};

float load(Half value) {
  return fromFloat16Bits(value.bits);
}
float load(Brain value) {
  return fromBFloat16Bits(value.bits);
}
std::uint8_t load(Truth value) {
  return value.bits != 0 ? 1 : 0;
}
template <class T>
requires std::is_arithmetic_v<T> T load(T value) {
  return value;
}

/// C++ does not define the conversion of NaN or of a float beyond the range. As in other runtimes, the result is what
/// the processor's instruction returns.
template <class To, class From>
#if defined(__clang__)
__attribute__((no_sanitize("float-cast-overflow")))
#endif
To store(From value) {
  if constexpr (std::is_same_v<To, Half>) {
    return {toFloat16Bits(static_cast<float>(value))};
  } else if constexpr (std::is_same_v<To, Brain>) {
    return {toBFloat16Bits(static_cast<float>(value))};
  } else if constexpr (std::is_same_v<To, Truth>) {
    return {static_cast<std::uint8_t>(value != From{})};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 8) {
    return static_cast<To>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class From, class To>
void convertAll(const std::byte* from, std::byte* to, std::int64_t count, int threads) {
  const From* source = reinterpret_cast<const From*>(from);
  To* target = reinterpret_cast<To*>(to);
  forEach(count, count > kFewConversions ? threads : 1,
          [&](std::int64_t i) { target[i] = store<To>(load(source[i])); });
}

/// Calls `convert(begin, count)` for pieces of [0, count).
template <class Function>
void inStretches(std::int64_t count, int threads, const Function& convert) {
  const std::int64_t stretches = (count + kStretch - 1) / kStretch;
  forEach(stretches, count > kFewConversions ? threads : 1, [&](std::int64_t i) {
    convert(i * kStretch, static_cast<std::size_t>(std::min(kStretch, count - i * kStretch)));
  });
}

template <class T>
void widenAll(const std::byte* from, std::byte* to, std::int64_t count, int threads) {
  inStretches(count, threads, [&](std::int64_t begin, std::size_t some) {
    toFloats(reinterpret_cast<const T*>(from) + begin, reinterpret_cast<float*>(to) + begin, some);
  });
}

template <class T>
void narrowAll(const std::byte* from, std::byte* to, std::int64_t count, int threads) {
  inStretches(count, threads, [&](std::int64_t begin, std::size_t some) {
    fromFloats(reinterpret_cast<const float*>(from) + begin, reinterpret_cast<T*>(to) + begin, some);
  });
}

using Convert = void (*)(const std::byte*, std::byte*, std::int64_t, int);

template <class From>
Convert convertTo(DataType to) {
  switch (to) {
    case DataType::F64:
      return convertAll<From, double>;
    case DataType::F32:
      return convertAll<From, float>;
    case DataType::F16:
      return convertAll<From, Half>;
    case DataType::BF16:
      return convertAll<From, Brain>;
    case DataType::I64:
      return convertAll<From, std::int64_t>;
    case DataType::I32:
      return convertAll<From, std::int32_t>;
    case DataType::I16:
      return convertAll<From, std::int16_t>;
    case DataType::I8:
      return convertAll<From, std::int8_t>;
    case DataType::U64:
      return convertAll<From, std::uint64_t>;
    case DataType::U32:
      return convertAll<From, std::uint32_t>;
    case DataType::U16:
      return convertAll<From, std::uint16_t>;
    case DataType::U8:
      return convertAll<From, std::uint8_t>;
    case DataType::Bool:
      return convertAll<From, Truth>;
    default:
      return nullptr;
  }
}

Convert converter(DataType from, DataType to) {
  if (from == DataType::F32 && isNarrow(to)) return to == DataType::F16 ? narrowAll<Half> : narrowAll<Brain>;
  if (to == DataType::F32 && isNarrow(from)) return from == DataType::F16 ? widenAll<Half> : widenAll<Brain>;
  switch (from) {
    case DataType::F64:
      return convertTo<double>(to);
    case DataType::F32:
      return convertTo<float>(to);
    case DataType::F16:
      return convertTo<Half>(to);
    case DataType::BF16:
      return convertTo<Brain>(to);
    case DataType::I64:
      return convertTo<std::int64_t>(to);
    case DataType::I32:
      return convertTo<std::int32_t>(to);
    case DataType::I16:
      return convertTo<std::int16_t>(to);
    case DataType::I8:
      return convertTo<std::int8_t>(to);
    case DataType::U64:
      return convertTo<std::uint64_t>(to);
    case DataType::U32:
      return convertTo<std::uint32_t>(to);
    case DataType::U16:
      return convertTo<std::uint16_t>(to);
    case DataType::U8:
      return convertTo<std::uint8_t>(to);
    case DataType::Bool:
      return convertTo<Truth>(to);
    default:
      return nullptr;
  }
}

class ConvertStep final : public Step {
 public:
  ConvertStep(const Ref& from, const Ref& to, int threads)
      : m_from(from),
        m_to(to),
        m_count(static_cast<std::int64_t>(from.desc().bytes() / byteSize(from.dtype, 1))),
        m_threads(threads),
        m_convert(converter(from.dtype, to.dtype)) {}

  Status run(Memory memory, std::byte*) const override {
    m_convert(bytesAt(m_from, memory), bytesAt(m_to, memory), m_count, m_threads);
    return Done{};
  }

 private:
  Ref m_from, m_to;
  std::int64_t m_count;
  int m_threads;
  Convert m_convert;
};

/// Rounds elements to a narrower type and stores them as f32, in place or elsewhere.
class RoundStep final : public Step {
 public:
  RoundStep(const Ref& from, const Ref& to, DataType type, int threads)
      : m_from(from),
        m_to(to),
        m_type(type),
        m_count(static_cast<std::int64_t>(from.desc().bytes() / sizeof(float))),
        m_threads(threads) {}

  Status run(Memory memory, std::byte*) const override {
    const float* from = elementsAt<float>(m_from, memory);
    float* to = elementsAt<float>(m_to, memory);
    inStretches(m_count, m_threads,
                [&](std::int64_t begin, std::size_t some) { roundFloats(m_type, from + begin, to + begin, some); });
    return Done{};
  }

 private:
  Ref m_from, m_to;
  DataType m_type;
  std::int64_t m_count;
  int m_threads;
};

}  // namespace

bool canConvert(DataType from, DataType to) {
  return converter(from, to) != nullptr;
}

std::unique_ptr<Step> makeConvertStep(const Ref& from, const Ref& to, int threads) {
  return std::make_unique<ConvertStep>(from, to, threads);
}

std::unique_ptr<Step> makeRoundStep(const Ref& from, const Ref& to, DataType type, int threads) {
  return std::make_unique<RoundStep>(from, to, type, threads);
}

}  // namespace fusescope::native
