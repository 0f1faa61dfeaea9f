#pragma once
// What the printer and the parser of graphs share; the grammar is in FORMAT.md.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/data_type.h"

namespace fusescope::text_form {

inline constexpr std::int64_t kMostInline = 64;  ///< elements of a constant that stand in the text

bool isWordStart(char c);
bool isWordPart(char c);
bool isWord(std::string_view text);  ///< needs no quotes as a name
std::string quotedText(std::string_view text);
/// Whether elements of the type can be written as decimal numbers, words or strings.
inline bool hasNotation(DataType type) {
  return isFloat(type) || isInteger(type) || type == DataType::Bool || type == DataType::String;
}

}  // namespace fusescope::text_form
