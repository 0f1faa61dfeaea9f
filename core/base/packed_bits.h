#pragma once

#include <cstddef>
#include <cstdint>

namespace fusescope {

// Elements of 1 to 8 bits are packed as one stream of bits, least significant bit first: bit b of element i is bit i *
// bits + b of the stream, and bit s of the stream is bit s % 8 of byte s / 8. An element may be in two bytes.

/// Returns element `index`; the bits above it are 0.
inline unsigned readPacked(const std::byte* bytes, std::int64_t index, int bits) {
  const std::int64_t at = index * bits;
  const auto shift = static_cast<unsigned>(at % 8);
  unsigned window = std::to_integer<unsigned>(bytes[at / 8]) >> shift;
  if (shift + static_cast<unsigned>(bits) > 8) window |= std::to_integer<unsigned>(bytes[at / 8 + 1]) << (8 - shift);
  return window & ((1U << bits) - 1);
}

/// Sets element `index` to the low bits of `value`; the other elements do not change.
inline void writePacked(std::byte* bytes, std::int64_t index, int bits, unsigned value) {
  const std::int64_t at = index * bits;
  const auto shift = static_cast<unsigned>(at % 8);
  const unsigned mask = ((1U << bits) - 1) << shift;
  const unsigned shifted = (value << shift) & mask;
  const auto replace = [](std::byte& byte, unsigned cleared, unsigned set) {
    byte = (byte & ~static_cast<std::byte>(cleared)) | static_cast<std::byte>(set);
  };
  replace(bytes[at / 8], mask, shifted);
  if (mask > 0xffU) replace(bytes[at / 8 + 1], mask >> 8, shifted >> 8);
}

}  // namespace fusescope
