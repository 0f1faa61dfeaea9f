#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fusescope {

/// What a literal of Python holds.
struct PythonValue {
  enum class Kind { Text, Word, List, Table };
  Kind kind = Kind::Word;
  std::string text{};                ///< Text: its characters. Word: `trt.float32`, `True`, `1e-3`
  std::vector<PythonValue> items{};  ///< List: also of a set or a tuple
  std::vector<std::pair<std::string, PythonValue>> entries{};  ///< Table: by keys that are texts

  /// The texts of a list; what is no text is left out.
  std::vector<std::string> texts() const;
};

/// What a Python program assigns to names, and hands over under names, where that is a literal: `NAME = [...]`,
/// `f(name=[...])`. Nothing is run; of two assignments the later one counts, a name stands for what was
/// assigned to it, and an expression is passed over.
std::map<std::string, PythonValue, std::less<>> pythonValues(std::string_view program);

}  // namespace fusescope
