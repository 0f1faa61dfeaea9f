#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/tensor.h"

namespace fusescope {

/// Returns the number of characters of an element of a .npy array of text ("<U12": 12), at least 1; nothing if `descr`
/// is another type.
std::optional<std::size_t> npyTextWidth(std::string_view descr);
/// Returns the bytes of one element.
std::size_t npyTextBytes(std::size_t width);

/// Converts text from numpy's form, UTF-32 in elements of equal width padded with zeros, to UTF-8. `bytes` must contain
/// all elements. Errors: an invalid character.
Result<Tensor> textFromNpy(std::span<const std::byte> bytes, std::size_t width, const Dims& dims);

/// Text in numpy's form: descr ("<U12") and bytes.
struct NpyText {
  std::string descr;
  std::string bytes;
};
Result<NpyText> textToNpy(const Tensor& tensor);

}  // namespace fusescope
