#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/tensor.h"

namespace fusescope {

/// Characters of an element of a .npy array of text ("<U12": 12), at least 1, or nothing if `descr` is of another type.
std::optional<std::size_t> npyTextWidth(std::string_view descr);
/// Bytes of one element.
std::size_t npyTextBytes(std::size_t width);

/// Text as numpy holds it, UTF-32 in elements of equal width padded with zeros, as UTF-8. `bytes` must hold all
/// elements. Errors: what is no character.
Result<Tensor> textFromNpy(std::span<const std::byte> bytes, std::size_t width, const Dims& dims);

/// The inverse: descr ("<U12") and bytes. Errors: text that is not UTF-8.
struct NpyText {
  std::string descr;
  std::string bytes;
};
Result<NpyText> textToNpy(const Tensor& tensor);

}  // namespace fusescope
