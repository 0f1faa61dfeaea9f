#include "ir/odd_elements.h"

#include <algorithm>
#include <cstring>

namespace fusescope {
namespace {

/// The layout of elements stored as `Bits`.
template <class Bits>
struct FloatForm {
  Bits exponent, mantissa;  ///< masks
  bool countsDenormal;
};

template <class Bits>
Bits bitsAt(const std::byte* bytes, std::int64_t i) {
  Bits bits;
  std::memcpy(&bits, bytes + static_cast<std::size_t>(i) * sizeof(Bits), sizeof(Bits));
  return bits;
}

constexpr std::int64_t kBlock = 1024;

/// Returns whether a block has an element that is not finite or is denormal. The sign bit of `odd` is set if the
/// magnitude of an element overflows into it, which happens for elements that are not finite, or if a denormal element
/// that is not 0 wraps around after the subtraction. Compilers vectorise this code.
template <class Bits>
bool hasOdd(const std::byte* bytes, const FloatForm<Bits>& form) {
  const Bits size = form.exponent | form.mantissa, one = 1;
  const Bits counted = form.countsDenormal ? static_cast<Bits>(~Bits{0}) : Bits{0};
  Bits odd = 0;
  for (std::int64_t i = 0; i < kBlock; ++i) {
    const Bits element = bitsAt<Bits>(bytes, i) & size;
    const Bits before = static_cast<Bits>(element - one);
    odd |= static_cast<Bits>(element + form.mantissa + one);
    odd |= static_cast<Bits>(before - form.mantissa) & static_cast<Bits>(~before) & counted;
  }
  return (odd & static_cast<Bits>(~size)) != 0;
}

template <class Bits>
OddElements oddElements(std::span<const std::byte> elements, const FloatForm<Bits>& form) {
  OddElements odd;
  const auto count = static_cast<std::int64_t>(elements.size() / sizeof(Bits));
  for (std::int64_t from = 0; from < count; from += kBlock) {
    const std::byte* bytes = elements.data() + static_cast<std::size_t>(from) * sizeof(Bits);
    const std::int64_t here = std::min(kBlock, count - from);
    if (here == kBlock && !hasOdd(bytes, form)) continue;
    for (std::int64_t i = 0; i < here; ++i) {
      const Bits bits = bitsAt<Bits>(bytes, i);
      const bool fraction = (bits & form.mantissa) != 0, most = (bits & form.exponent) == form.exponent;
      odd.notNumbers += fraction && most ? 1 : 0;
      odd.infinite += !fraction && most ? 1 : 0;
      odd.denormal += form.countsDenormal && fraction && (bits & form.exponent) == 0 ? 1 : 0;
    }
  }
  return odd;
}

}  // namespace

OddElements oddElements(const Tensor& tensor) {
  return oddElements(tensor.type(), {tensor.bytes(), tensor.byteSize()});
}

OddElements oddElements(DataType type, std::span<const std::byte> elements) {
  switch (type) {
    case DataType::F32:
      return oddElements<std::uint32_t>(elements, {0x7f800000, 0x007fffff, true});
    case DataType::F64:
      return oddElements<std::uint64_t>(elements, {0x7ff0000000000000, 0x000fffffffffffff, true});
    case DataType::F16:
      return oddElements<std::uint16_t>(elements, {0x7c00, 0x03ff, false});
    case DataType::BF16:
      return oddElements<std::uint16_t>(elements, {0x7f80, 0x007f, false});
    default:
      return {};
  }
}

}  // namespace fusescope
