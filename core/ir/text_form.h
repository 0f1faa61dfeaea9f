#pragma once
// Functions that both the printer and the parser of graphs use. The grammar is in FORMAT.md.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/data_type.h"

namespace fusescope::text_form {

/// A constant with at most this many elements is written into the text.
inline constexpr std::int64_t kMostInline = 64;

bool isWordStart(char c);
bool isWordPart(char c);
bool isWord(std::string_view text);  ///< `text` can be a name without quotes
std::string quotedText(std::string_view text);
/// Returns whether elements of the type can be written as decimal numbers, words or strings.
inline bool hasNotation(DataType type) {
  return isFloat(type) || isInteger(type) || type == DataType::Bool || type == DataType::String;
}

}  // namespace fusescope::text_form
