#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/tensor_type.h"

namespace fusescope {

namespace text_form {
class Scanner;
Result<TensorType> parseType(Scanner& in);
}  // namespace text_form

/// Returns a type as it is written in the text of a graph: like TensorType::text(), but names that are not words are
/// quoted.
std::string typeText(const TensorType& type);
/// Returns the inverse of typeText().
Result<TensorType> parseType(std::string_view text);

}  // namespace fusescope
