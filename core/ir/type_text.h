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

/// A type as the text of a graph has it: as TensorType::text(), but names that are no words are quoted.
std::string typeText(const TensorType& type);
/// The inverse of typeText().
Result<TensorType> parseType(std::string_view text);

}  // namespace fusescope
