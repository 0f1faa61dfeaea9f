#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fusescope {

/// The value of a literal of Python.
struct PythonValue {
  enum class Kind { Text, Word, List, Table };
  Kind kind = Kind::Word;
  std::string text{};                ///< Text: its characters. Word: an expression such as `trt.float32`, `True`,
                                     ///< `1e-3`
  std::vector<PythonValue> items{};  ///< List: also for a set or a tuple
  std::vector<std::pair<std::string, PythonValue>> entries{};  ///< Table: entries whose keys are texts

  /// Returns the texts of a list; other items are omitted.
  std::vector<std::string> texts() const;
};

/// Returns the literals that a Python program assigns to names or passes as named arguments: `NAME = [...]`,
/// `f(name=[...])`. Nothing is run. The last of several assignments is used, a name means the value that was assigned
/// to it, and other expressions are ignored.
std::map<std::string, PythonValue, std::less<>> pythonValues(std::string_view program);

}  // namespace fusescope
